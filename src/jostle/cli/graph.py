"""`jostle graph`: characters that answer pushes with what somebody did who was pushed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from jostle.cli.common import find, load_all, print_json, progress, say, told_warnings
from jostle.errors import CommandError, MotionError

if TYPE_CHECKING:
    from jostle.body import Body
    from jostle.controllers.graph.responses import Response


def build(
    files: Annotated[list[str], tyro.conf.Positional],
    /,
    *,
    responses: list[str],
    output: Annotated[str, tyro.conf.arg(aliases=["-o"])],
    events: str | None = None,
    threshold: float = 0.08,
    choice: str = "filtered",
    mirror: bool = True,
    json: bool = False,
) -> None:
    """Make a character of clips and pushed takes: jostle graph build walk*.bvh --responses push*.bvh -o people.jostle

    Args:
        files: clips of normal motion of one skeleton, such as standing and walking
        responses: takes of the same person pushed; with forces where a .json beside them tells them, else pushes are
            looked for
        output: the character to write (.jostle); `jostle push` and `jostle view` push it
        events: a CSV that tells when pushes came: file, fps, onset_frame, settle_frame
        threshold: how alike normal motion must be where it changes from clip to clip, in metres
        choice: filtered, the nearest response that goes about the asked way; or nearest, whatever way it goes
        mirror: responses count for the other side as well
        json: print one JSON object
    """
    from jostle.body import build_body
    from jostle.controllers.graph.build import build_people
    from jostle.runtime import save_controller

    if Path(output).suffix.lower() != ".jostle":
        raise CommandError(f"A character is written as a bundle, such as people.jostle, not as '{output}'.")
    if not 0.0 < threshold <= 1.0:
        raise CommandError(f"The threshold is more than 0 and up to 1 m, not {threshold:g}.")
    begun, clips = time.monotonic(), load_all(files, None)
    found = _responses(responses, build_body(clips[0].skeleton), events)
    people = build_people(clips, found, threshold=threshold, both_sides=mirror, choice=choice)
    save_controller(people, output, recipe={"threshold": threshold, "choice": choice, "mirror": mirror})
    seconds, share = time.monotonic() - begun, people.normal.share
    if json:
        told = {"file": output, "pushes": len(found), "responses": len(people.responses), "seconds": seconds}
        print_json(told | {"jumps": len(people.normal.jumps), "kept": share})
        return
    say(
        f"{output}: {len(people.responses)} responses of {len(found)} pushes; {len(people.normal.jumps)} transitions "
        f"in normal motion, {share:.0%} of which is kept; {seconds:.1f} s."
    )
    say(f'Push it with: jostle push {output} --push "torso 200N forward at 1s" -o out.png')


def _responses(names: list[str], body: Body, events: str | None) -> list[Response]:
    from jostle.controllers.graph.responses import Told, read_events, read_responses
    from jostle.runtime import load_example

    known, out = {} if events is None else read_events(find(events)), []
    with told_warnings(), progress("looking for pushes") as report:
        for i, name in enumerate(names):
            report(i, len(names))
            example = load_example(find(name))
            told = [Told(at, None, push) for at, push in example.pushes] or known.get(Path(name).name)
            own = read_responses(example.clip, body, told)
            if not own:
                say(f"note: no push that somebody recovers from was found in {name}.")
            out += own
    if not out:
        raise MotionError("In none of these takes a push was found; say when they came with --events.")
    return out
