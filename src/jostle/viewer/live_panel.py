"""The panel of the live page: time, a model's latent space, pushes, the ground, steering, recording.

What no controller here honours is greyed out, and a sentence says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jostle.errors import JostleError
from jostle.viewer.downloads import FORMATS, pack
from jostle.viewer.gusts import RATE as GUSTS
from jostle.viewer.gusts import SECONDS
from jostle.viewer.latents import LatentPanel
from jostle.viewer.look import dress_panel
from jostle.viewer.stage import RATE
from jostle.viewer.wishes import Wishes

if TYPE_CHECKING:
    from jostle.viewer.live import Live
else:
    Live = Any  # it imports this file

RATES = ("0.1x", "0.25x", "0.5x", "1x")


class LivePanel:
    """Reads as plain values: `strength.value`, `rate`, `paused`."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.gui = live.stage.server.gui
        self.paused = False
        dress_panel(live.stage.server, "jostle")
        self._time()
        controllers = [character.controller for character in live.characters]
        self.latents = LatentPanel(self.gui, controllers, [figure.name for figure in live.figures])
        self.wishes = Wishes(self.gui, controllers)
        self._push()
        self.wishes.add_settings()
        self._steer()
        self._show()
        self._record()

    @property
    def rate(self) -> float:
        """Seconds of the characters' time in a second of ours."""
        return float(self._rate.value.rstrip("x"))

    def _unsupported(self, field: str) -> list[str]:
        pairs = zip(self.live.figures, self.live.characters, strict=True)
        return [figure.name for figure, character in pairs if field not in character.controller.supports]

    def _excuse(self, deaf: list[str], what: str) -> str:
        """The sentence for those who do not answer; nothing where everybody does."""
        if not deaf:
            return ""
        return f"*{', '.join(deaf)} {'ignores' if len(deaf) == 1 else 'ignore'} {what}.*"

    def _time(self) -> None:
        from viser import Icon

        pause = self.gui.add_button("Pause", icon=Icon.PLAYER_PAUSE, hint="Space")
        reset = self.gui.add_button("Reset", icon=Icon.REFRESH, hint="R: back to the start", color="gray")
        self._rate = self.gui.add_dropdown("Time", RATES, initial_value="1x", hint="Slow motion")

        def toggle() -> None:
            self.paused = not self.paused
            pause.label = "Go on" if self.paused else "Pause"

        @pause.on_click
        async def _(event: Any) -> None:
            toggle()

        @reset.on_click
        async def _(event: Any) -> None:
            self.live.reset()

        @self.gui.add_command("Pause or go on", hotkey="space").on_trigger
        async def _(event: Any) -> None:
            toggle()

        @self.gui.add_command("Back to the start", hotkey="R").on_trigger
        async def _(event: Any) -> None:
            self.live.reset()

    def _push(self) -> None:
        deaf = self._unsupported("pushes")
        off = len(deaf) == len(self.live.characters)
        with self.gui.add_folder("Push"):
            if not off:
                self.gui.add_markdown("Drag on the body and let go.")
            if deaf:
                self.gui.add_markdown(self._excuse(deaf, "pushes"))
            self.strength = self.gui.add_slider(
                "Strength (N/m)", 50.0, 1500.0, 10.0, 400.0, disabled=off, hint="Newtons for each metre of drag"
            )
            self.duration = self.gui.add_slider(
                "Duration (s)", 0.05, 1.0, 0.05, 0.2, disabled=off, hint="How long the force acts"
            )
            self.wind = self.gui.add_slider(
                "Wind (N)",
                0.0,
                400.0,
                10.0,
                0.0,
                disabled=off,
                hint=f"Gusts of {SECONDS:g} s from anywhere, {GUSTS:g} a second",
            )
            self._note = self.gui.add_markdown("", visible=False)

    def _steer(self) -> None:
        deaf = [n for n in self._unsupported("heading") if n in self._unsupported("speed")]
        pointed = len(self._unsupported("target")) < len(self.live.characters)
        off = len(deaf) == len(self.live.characters)
        with self.gui.add_folder("Steer"):
            if not off:
                self.gui.add_markdown("WASD or arrow keys, a gamepad, or the pad on the page.")
            if pointed:
                self.gui.add_markdown("Click the ground: that is the target.")
            if deaf and not (off and pointed):
                self.gui.add_markdown(self._excuse(deaf, "steering"))
            paced = len(self._unsupported("speed")) < len(self.live.characters)
            self.pace = self.gui.add_slider("Speed (m/s)", 0.1, 4.0, 0.1, 1.3, disabled=not paced)

    def _show(self) -> None:
        with self.gui.add_folder("Show", expand_by_default=False):
            self.follow = self.gui.add_checkbox("Follow", True, hint="Keep the characters in the middle")
            self.trails = self.gui.add_checkbox("Trails", False, hint="The last moments of hips, hands and feet")
            contacts = self.gui.add_checkbox("Contacts", True, hint="A ring under every planted foot")

        @contacts.on_update
        async def _(event: Any) -> None:
            self.live.scene.mark_contacts(contacts.value)

    def _record(self) -> None:
        from viser import Icon

        with self.gui.add_folder("Record"):
            self._recording = self.gui.add_button("Record", icon=Icon.PLAYER_RECORD, color="red")
            self._form = self.gui.add_dropdown("Format", FORMATS, initial_value="BVH", disabled=True)
            self._download = self.gui.add_button("Download", icon=Icon.DOWNLOAD, disabled=True)

        @self._recording.on_click
        async def _(event: Any) -> None:
            if self.live.recorders is None:
                self.start_recording()
            else:
                self.stop_recording()

        @self._download.on_click
        def _(event: Any) -> None:  # on a worker thread: even a GLB takes a moment
            self._send(event.client)

    def start_recording(self) -> None:
        from jostle.runtime import Recorder

        self._recording.label = "Stop"
        self.live.recorders = [Recorder(c.skeleton, RATE) for c in self.live.characters]

    def stop_recording(self) -> None:
        recorders, self.live.recorders = self.live.recorders, None
        self._recording.label = "Record"
        if not recorders or not len(recorders[0]):
            return
        pairs = zip(recorders, self.live.figures, strict=True)
        self.live.recordings = [recorder.finish(figure.name) for recorder, figure in pairs]
        self._download.label = f"Download {self.live.recordings[0].duration:.1f} s"
        self._form.disabled = self._download.disabled = False

    def _send(self, client: Any) -> None:
        if client is None or not self.live.recordings:
            return
        label, self._download.disabled = self._download.label, True
        if self._form.value == "MP4":
            self._download.label = "Rendering 0 %"

        def report(done: int, total: int) -> None:
            self._download.label = f"Rendering {100 * done // max(total, 1)} %"

        try:
            for name, content in pack(self.live.recordings, self._form.value, report, self.live.stop):
                client.send_file_download(name, content, save_immediately=True)
        except (JostleError, OSError) as error:
            self.say(str(error))
        finally:
            self._download.label, self._download.disabled = label, False

    def say(self, sentence: str) -> None:
        """To every open page, for a few seconds."""
        for client in self.live.stage.server.get_clients().values():
            client.add_notification("jostle", sentence, auto_close_seconds=5.0)

    def note(self, text: str) -> None:
        """The last push, below the sliders."""
        self._note.content = f"Last: {text}"
        self._note.visible = True
