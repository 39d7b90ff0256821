"""`jostle view`, `jostle render`, `jostle demo`: looking at motion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from jostle import assets
from jostle.cli.common import (
    WALKER,
    find,
    find_skin,
    is_character,
    load,
    load_all,
    load_walker,
    progress,
    run_under,
    say,
)
from jostle.clips import Clip, save_clip
from jostle.errors import CommandError, FileError

if TYPE_CHECKING:
    from jostle.controllers import Controller

LONGEST_RUN = 600.0  # seconds
View = Literal["three-quarter", "side", "front", "left", "right", "back", "top"]


def view(
    files: Annotated[list[str], tyro.conf.Positional],
    /,
    controller: str | None = None,
    keep: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = (),
    obstacle: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = (),
    animation: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    browser: bool = True,
    together: bool = False,
) -> None:
    """Look at clips side by side in the browser, or run characters live.

    Args:
        files: clips (.bvh .amc .glb …), shipped clips by name (walk, run, …), characters (.jostle), or shipped
            ones (walker:stocky, policy:walk, …)
        controller: run each clip live under this controller: playback, or compliant, which gives way to pushes; a
            character under compliant gives way as well
        keep: under compliant, what else clips should do, as for `jostle push`
        obstacle: under compliant, what they should keep clear of
        animation: which animation of a glTF file to show, by name
        host: address to listen on; anything but this machine's own needs the token that is printed
        port: port to listen on; where it is taken, another one is used and printed
        browser: open the page in a browser
        together: walkers of one body are one character, which changes between them while it walks; shipped ones always
            can change into the others of their body
    """
    if controller is None and not any(is_character(name) for name in files):
        from jostle.viewer import view_clips

        clips, skins = load_all(files, animation), [find_skin(name) for name in files]
        view_clips(clips, host=host, port=port, open_browser=browser, skins=skins, announce=_announce)
        return
    from jostle.viewer import view_controllers

    if controller is None and (keep or obstacle):
        raise CommandError("--keep and --obstacle need --controller compliant.")
    ways = (keep, obstacle)
    live = [_together(files)] if together else [_controller(name, controller, animation, *ways) for name in files]
    skins = [None if is_character(name) else find_skin(name) for name in files[: len(live)]]
    view_controllers(live, host=host, port=port, open_browser=browser, skins=skins, announce=_announce)


def _announce(address: str) -> None:
    print(f"jostle is at {address}  (ctrl-C ends it)", flush=True)


def _controller(
    name: str, kind: str | None, animation: str | None, keep: Sequence[str], obstacle: Sequence[str]
) -> Controller:
    from jostle.runtime import load_controller

    if kind is None and name.startswith(WALKER):
        return _with_shipped(name)
    if kind is None and is_character(name):
        return load_controller(find(name))
    return run_under(name, kind or "playback", animation, keep, obstacle)


def _with_shipped(name: str) -> Controller:
    """A shipped walker, which can change into every other that has its body."""
    from jostle.controllers.walker.troupe import with_others

    return with_others(load_walker(name), [load_walker(WALKER + other) for other in assets.walker_names()])


def _together(names: Sequence[str]) -> Controller:
    from jostle.controllers.walker.troupe import Troupe

    return Troupe(tuple(load_walker(name) for name in names))


def render(
    files: Annotated[list[str], tyro.conf.Positional],
    /,
    fps: float = 30.0,
    size: tuple[int, int] = (960, 540),
    camera: View | None = None,
    poses: int = 8,
    contacts: bool = False,
    follow: bool = True,
    animation: str | None = None,
    seconds: float = 10.0,
) -> None:
    """Render clips to a film or a picture, without a screen: jostle render walk.bvh run.bvh out.mp4

    Args:
        files: clips and characters (walker:stocky) to show side by side, and last the file to write: .mp4, .gif, or
            .png for a sheet of key poses
        fps: frames a second of the film
        size: width and height in pixels
        camera: from where to look; three-quarter for films and side for sheets where it is not said
        poses: how many poses of each clip a sheet shows
        contacts: ring the feet that are on the ground
        follow: let the camera travel with the body
        animation: which animation of a glTF file to show, by name
        seconds: how long a character runs
    """
    if len(files) < 2:
        raise CommandError("jostle render needs a clip and a file to write: jostle render walk.bvh walk.mp4")
    *sources, target = files
    clips = _motions(sources, animation, seconds)
    draw(clips, target, fps=fps, size=size, camera=camera, poses=poses, contacts=contacts, follow=follow)


def _motions(names: Sequence[str], animation: str | None, seconds: float) -> list[Clip]:
    """Clips as they are, characters after they have run."""
    if not 0 < seconds <= LONGEST_RUN:
        raise CommandError(f"A character can run for at most {LONGEST_RUN:g} s, and not for {seconds:g} s.")
    read = iter(load_all([name for name in names if not is_character(name)], animation))
    return [_run(name, seconds) if is_character(name) else next(read) for name in names]


def _run(name: str, seconds: float) -> Clip:
    """A character, left alone for a while."""
    from jostle.controllers import NEUTRAL, Command
    from jostle.runtime import Character, load_controller, record

    with progress(f"running {name}") as report:

        def command(time: float) -> Command:
            report(int(10 * time), int(10 * seconds))
            return NEUTRAL

        return record(Character(load_controller(find(name))), seconds, command, name=Path(name).stem)


def draw(clips: Sequence[Clip], target: str, **options: Any) -> None:
    from jostle.export import render

    with progress(f"rendering {target}") as report:
        render(clips, target, progress=report, **options)
    say(f"{target} is written.")


def demo(out: str | None = None, port: int = 8080, host: str = "127.0.0.1", browser: bool = True) -> None:
    """The shipped clips, live in the browser; with --out a file instead.

    Args:
        out: write .html (plays offline), .mp4, .gif, .png or .bvh, and exit
        port: port to listen on; where it is taken, another one is used and printed
        host: address to listen on
        browser: open the page in a browser
    """
    clips = [load(name) for name in assets.clip_names()]
    if out is None:
        from jostle.viewer import view_clips

        view_clips(clips, host=host, port=port, open_browser=browser, announce=_announce)
        return
    ending = Path(out).suffix.lower()
    if ending == ".html":
        from jostle.viewer import write_page

        write_page(clips, out)
        say(f"{out} is written; open it in any browser.")
    elif ending in (".mp4", ".gif", ".png"):
        draw(clips, out)
    elif ending == ".bvh":
        save_clip(_twenty_seconds(), out)
        say(f"{out} is written.")
    else:
        raise FileError(out, "a demo can be written as .html, .mp4, .gif, .png or .bvh.")


def _twenty_seconds() -> Clip:
    """The shipped walk as a character for twenty seconds."""
    from jostle.clips.loop import loop
    from jostle.controllers import Playback
    from jostle.runtime import Character, record

    return record(Character(Playback(loop(load("walk"))), rate=30.0), seconds=20.0, name="demo")
