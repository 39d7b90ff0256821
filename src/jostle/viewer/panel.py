"""The panel beside the scene: controls of the clip page and of the live page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jostle.viewer.playing import Player


def from_user(event: Any) -> bool:
    """viser also reports values that we set ourselves; those have no client."""
    return event.client is not None


def build_clip_panel(player: Player) -> None:
    """Sets the player's `slider`, `play_button`, `speed`, `loop` and `follow`."""
    from jostle.viewer.playing import SPEEDS

    gui = player.stage.server.gui
    player.play_button = gui.add_button("Pause", icon="player-play", hint="Space")
    player.slider = gui.add_slider(
        "Time (s)", min=0.0, max=max(player.end, player.step_size), step=player.step_size, initial_value=0.0
    )
    stepping = gui.add_button_group("Step", ("◀ back", "forward ▶"))
    player.speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1x")
    player.loop = gui.add_checkbox("Loop", True)
    with gui.add_folder("Show"):
        player.follow = gui.add_checkbox("Follow", player.travels, hint="Keep the characters in the middle")
        trails = gui.add_checkbox("Trails", True, hint="The ways of hips, hands and feet")
        contacts = gui.add_checkbox("Contacts", True, hint="A ring under every planted foot")
    gui.add_markdown(facts(player))
    _connect(player, stepping, trails, contacts)
    _add_hotkeys(player)


def facts(player: Player) -> str:
    """A line about each clip."""
    lines = [
        f"**{puppet.figure.name}** · {track.clip.frame_count} frames · {track.clip.fps:g} fps · {track.clip.duration:.2f} s"
        for puppet, track in zip(player.scene.puppets, player.tracks, strict=True)
    ]
    return "\n\n".join(lines)


def _connect(player: Player, stepping: Any, trails: Any, contacts: Any) -> None:
    @player.play_button.on_click
    async def _(event: Any) -> None:
        player.toggle()

    @player.slider.on_update
    async def _(event: Any) -> None:
        if from_user(event):
            player.set_playing(False)
            player.seek(player.slider.value)

    @stepping.on_click
    async def _(event: Any) -> None:
        player.step(-1 if "back" in stepping.value else 1)

    @trails.on_update
    async def _(event: Any) -> None:
        player.scene.show_ways(trails.value)

    @contacts.on_update
    async def _(event: Any) -> None:
        player.scene.mark_contacts(contacts.value)
        player.refresh()


def _add_hotkeys(player: Player) -> None:
    gui = player.stage.server.gui
    for label, key, action in (
        ("Play or pause", "space", player.toggle),
        ("Next frame", "arrowright", lambda: player.step(1)),
        ("Previous frame", "arrowleft", lambda: player.step(-1)),
    ):
        command = gui.add_command(label, hotkey=key)

        @command.on_trigger
        async def _(event: Any, action: Any = action) -> None:
            action()
