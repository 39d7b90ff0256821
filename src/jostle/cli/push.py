"""`jostle push`: what a character does when it is pushed, as a clip or a film."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from jostle.cli.common import find, is_character, print_json, progress, run_under, say
from jostle.cli.show import LONGEST_RUN, draw
from jostle.errors import CommandError

if TYPE_CHECKING:
    from jostle.runtime import Recording

FILMS = (".mp4", ".gif", ".png")
_AFTER = 4.0  # seconds that are shown after the last push


def push(
    character: Annotated[str, tyro.conf.Positional],
    /,
    *,
    push: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = (),
    output: Annotated[str, tyro.conf.arg(aliases=["-o"])],
    controller: str | None = None,
    keep: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = (),
    obstacle: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = (),
    seconds: float | None = None,
    fps: float = 60.0,
    json: bool = False,
) -> None:
    """Push a character and keep what it does: jostle push me.jostle --push "torso 300N back-left at 2s" -o out.glb

    Args:
        character: a character (.jostle), a shipped walker (walker:stocky), or a clip under a controller
        push: part, newtons, direction, moment and, if not 0.2 s, duration: "left_arm 120N forward-left at 1.5s for
            0.3s"; several times for several pushes
        output: a clip in any writable format, with a .json of the pushes beside a .bvh; or .mp4, .gif, .png
        controller: compliant, for a clip (or a character) whose upper body is to give way to small pushes, without any
            training
        keep: for compliant, what else it should do: "right_hand upright", "left_hand at 1 0.3 1.2" or
            "head towards 3 1 1.6"
        obstacle: for compliant, what it should keep clear of: "post 1.5 0.3 0.05 1.7" (place, radius, height) or
            "block 1.5 0.4 1.2 0.2 0.2 0.4" (middle, size); metres ahead, to the left, up
        seconds: how long it runs; four seconds after the last push unless said
        fps: frames a second
        json: print one JSON object: how far it was moved, and how sure the model was
    """
    from jostle.controllers import Command
    from jostle.runtime import Character, load_controller, record
    from jostle.runtime.recording import due
    from jostle.runtime.wording import read_push

    if not is_character(character) and controller is None:
        raise CommandError(
            f"'{character}' is a clip; add --controller compliant, or make a character of it with `jostle fit`."
        )
    if not 1.0 <= fps <= 240.0:
        raise CommandError(f"A clip can have 1 to 240 frames a second, not {fps:g}.")
    pushes = [read_push(text) for text in push]
    last = max((timed.time + timed.push.duration for timed in pushes), default=0.0)
    length = last + _AFTER if seconds is None else seconds
    if not last < length <= LONGEST_RUN:
        raise CommandError(
            f"The run ends at {length:g} s; the last push ends at {last:g} s, and {LONGEST_RUN:g} s are the most."
        )
    if controller is None and (keep or obstacle):
        raise CommandError("--keep and --obstacle need --controller compliant.")
    moved = (
        load_controller(find(character))
        if controller is None
        else run_under(character, controller, keep=keep, obstacle=obstacle)
    )
    runner = Character(moved, fps)
    with progress(f"pushing {Path(character).stem}") as report:

        def command(time: float) -> Command:
            report(int(10 * time), int(10 * length))
            return Command(pushes=due(pushes, time, fps))

        done = record(runner, length, command, name=Path(output).stem)
    _keep(done, output)
    if json:
        print_json(_told(done, output))


def _keep(done: Recording, output: str) -> None:
    ending = Path(output).suffix.lower()
    if ending in FILMS:
        draw([done], output)
    elif ending == ".bvh":
        from jostle.runtime import save_recording

        save_recording(done, output)
    else:
        from jostle.clips import save_clip

        save_clip(done, output)
    say(f"{output}: {done.duration:.1f} s, {len(done.pushes)} pushes.")


def _told(done: Recording, output: str) -> dict:
    quality = {
        name: {"least": float(channel.min()), "most": float(channel.max())} for name, channel in done.quality.items()
    }
    end = (done.root[-1] - done.root[0]).round(4).tolist()
    return {"file": output, "seconds": done.duration, "pushes": len(done.pushes), "moved": end, "quality": quality}
