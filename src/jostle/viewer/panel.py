"""The panel of the clip page: play, scrub, step, speed, and what to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jostle.viewer.look import dress_panel
from jostle.viewer.tracks import travels

if TYPE_CHECKING:
    from jostle.viewer.playing import Player
else:
    Player = Any  # it imports this file

RATES = ("0.1x", "0.25x", "0.5x", "1x", "2x")
BACK, FORWARD = "◀ back", "forward ▶"


class ClipPanel:
    """Reads as plain values: `loop.value`, `follow.value`, `rate`."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.gui = player.stage.server.gui
        dress_panel(player.stage.server, "jostle")
        self._transport()
        self._show()
        self.gui.add_markdown(self._facts())
        self._add_hotkeys()

    @property
    def rate(self) -> float:
        """Seconds of the clips in a second of ours."""
        return float(self._rate.value.rstrip("x"))

    def _transport(self) -> None:
        player, gui = self.player, self.gui
        self.play = gui.add_button("Pause", hint="Space")
        last = max(player.end, player.step_size)
        self.time = gui.add_slider("Time (s)", min=0.0, max=round(last, 3), step=0.001, initial_value=0.0)
        stepping = gui.add_button_group("Frame", (BACK, FORWARD), hint="Left and right arrow keys")
        self._rate = gui.add_dropdown("Speed", RATES, initial_value="1x")
        self.loop = gui.add_checkbox("Loop", True)

        @self.play.on_click
        async def _(event: Any) -> None:
            player.toggle()

        @self.time.on_update
        async def _(event: Any) -> None:
            if event.client is not None:  # viser also reports the values that we set ourselves
                player.seek(self.time.value)
                player.set_playing(False)

        @stepping.on_click
        async def _(event: Any) -> None:
            player.step(-1 if stepping.value == BACK else 1)

    def _show(self) -> None:
        player, gui = self.player, self.gui
        with gui.add_folder("Show"):
            self.follow = gui.add_checkbox("Follow", travels(player.tracks), hint="Keep the characters in the middle")
            trails = gui.add_checkbox("Trails", True, hint="The ways of hips, hands and feet")
            contacts = gui.add_checkbox("Contacts", True, hint="A ring under every planted foot")

        @trails.on_update
        async def _(event: Any) -> None:
            player.scene.show_ways(trails.value)

        @contacts.on_update
        async def _(event: Any) -> None:
            player.scene.mark_contacts(contacts.value)
            player.refresh()

    def _facts(self) -> str:
        """A line about each clip."""
        lines = []
        for puppet, track in zip(self.player.scene.puppets, self.player.tracks, strict=True):
            clip = track.clip
            lines.append(
                f"**{puppet.figure.name}** · {clip.frame_count} frames · {clip.fps:.4g} fps · {clip.duration:.2f} s"
            )
        return "\n\n".join(lines)

    def _add_hotkeys(self) -> None:
        player = self.player

        @self.gui.add_command("Play or pause", hotkey="space").on_trigger
        async def _(event: Any) -> None:
            player.toggle()

        @self.gui.add_command("Next frame", hotkey="arrowright").on_trigger
        async def _(event: Any) -> None:
            player.step(1)

        @self.gui.add_command("Previous frame", hotkey="arrowleft").on_trigger
        async def _(event: Any) -> None:
            player.step(-1)
