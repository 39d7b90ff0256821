"""`jostle clips`: info and check, and the edits travel and turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import tyro

from jostle.cli.common import GLTF, find, load, load_all, print_json, print_table, say
from jostle.clips import Clip, save_clip
from jostle.errors import FileError, JostleError

if TYPE_CHECKING:
    from jostle.clips.checks import Finding
    from jostle.clips.info import Info

Files = Annotated[list[str], tyro.conf.Positional]


def info(files: Files, /, animation: str | None = None, json: bool = False) -> None:
    """What is in these clips: frames, rate, joints, height, speed, turning, contacts, foot skate.

    Args:
        files: clips in any readable format, or shipped clips by name
        animation: which animation of a glTF file, by name
        json: print one JSON object instead of a table
    """
    from jostle.clips.info import describe

    described = [(name, describe(clip)) for name, clip in zip(files, load_all(files, animation), strict=True)]
    if json:
        print_json({"clips": [{"file": n} | facts.to_dict() | _animations(n) for n, facts in described]})
        return
    columns = [_facts(facts) for _, facts in described]
    print_table([(label, *(column[label] for column in columns)) for label in columns[0]], head=["", *files])
    for name in files:
        for title, listed in _animations(name).items():
            print(f"{name}: {title} {', '.join(listed)}")


def _animations(name: str) -> dict[str, list[str]]:
    """What else a glTF file holds."""
    if find(name).suffix.lower() not in GLTF:
        return {}
    from jostle.clips.formats.gltf import animations

    return {"animations": [title for title, _ in animations(find(name))]}


def _facts(facts: Info) -> dict[str, str]:
    """A clip's facts as a person reads them."""
    shares = ", ".join(f"{foot} {share:.0%}" for foot, share in zip(facts.feet, facts.contact_share, strict=True))
    in_place = f", {facts.in_place_speed:.2f} m/s in place" if facts.in_place_speed else ""
    return {
        "frames": f"{facts.frames} at {facts.fps:g} a second, {facts.duration:.2f} s",
        "joints": f"{facts.joints}{'' if facts.humanoid else ', not a person'}",
        "moving bones": ", ".join(facts.moving_bones) or "none",
        "height": f"{facts.height:.2f} m (1 unit of the file = {facts.unit:.6g} m)",
        "speed": f"{facts.speed:.2f} m/s, forward {facts.forward_speed:+.2f} m/s{in_place}",
        "turning": f"{facts.turning:+.0f} degrees, {facts.travel:.2f} m from start to end",
        "on the ground": f"{shares}; none {facts.flight_share:.0%}",
        "steps": f"{facts.steps}, {facts.cadence:.0f} a minute",
        "floor": f"{facts.ground:+.3f} m",
        "foot skate": f"{facts.foot_skate:.3f}, planted feet slide {facts.slide_cm:.1f} cm a step",
    }


def travel(
    source: Annotated[str, tyro.conf.Positional],
    /,
    *,
    output: Annotated[str, tyro.conf.arg(aliases=["-o"])],
    cycles: int = 1,
    animation: str | None = None,
) -> None:
    """Send a gait made in place on its way: jostle clips travel horse.glb --animation Walk -o walk.bvh

    Its speed is that of the feet that stand. A rig becomes a plain body: feet that hang from control bones hang from
    their legs, handles are left out. `jostle convert walk.bvh out.glb --retarget horse.glb` puts it back on its rig.

    Args:
        source: a gait in place in any readable format
        output: the clip to write
        cycles: how often the gait goes round
        animation: which animation of a glTF file, by name
    """
    from jostle.clips.travel import travel as send

    moved = send(load(source, animation=animation), cycles)
    save_clip(moved, output)
    speed = float(np.linalg.norm((moved.root[-1] - moved.root[0])[:2])) / moved.duration
    say(f"{output}: {moved.duration:.2f} s at {speed:.2f} m/s.")


def turn(
    source: Annotated[str, tyro.conf.Positional],
    /,
    *,
    output: Annotated[str, tyro.conf.arg(aliases=["-o"])],
    degrees: float,
    start: float | None = None,
    end: float | None = None,
    animation: str | None = None,
) -> None:
    """Bend a straight gait into a turn: jostle clips turn walk.bvh --degrees 60 -o left.bvh

    Feet that stand stay where they stand; the body turns along the arc and leans into it.

    Args:
        source: a straight gait in any readable format, or a shipped clip by name
        output: the clip to write
        degrees: to the left; negative ones to the right
        start: turn from this time on, in seconds, and straight before; from the beginning and evenly unless given
        end: turn up to this time
        animation: which animation of a glTF file, by name
    """
    from jostle.clips.turn import turn_gait

    save_clip(turn_gait(load(source, animation=animation), degrees, start, end), output)
    say(
        f"{output}: {degrees:g} degrees to the left."
        if degrees >= 0
        else f"{output}: {-degrees:g} degrees to the right."
    )


def check(files: Files, /, fix: bool = False, out: Path | None = None, json: bool = False) -> None:
    """What is wrong with these clips, before it costs an afternoon. Exit code 1 where an error was found.

    Clips that are checked together and show the same actor share what one of them proves about the frame rate.

    Args:
        files: clips in any readable format (all animations of a glTF file), or shipped clips by name
        fix: write a mended copy of each clip that needs one, NAME.fixed.bvh beside it
        out: folder for the mended copies
        json: print one JSON object instead of sentences
    """
    from jostle.clips.checks import check_together

    takes, unread = _read_all(files)
    findings = check_together([take.clip for take in takes])
    fixed = [_mend(take, found, out) if fix else None for take, found in zip(takes, findings, strict=True)]
    rows = list(zip(takes, findings, fixed, strict=True))
    if json:
        print_json({"clips": [_to_json(*row) for row in rows], "unread": unread})
    else:
        for take, found, done in rows:
            _print_findings(take.label, found, done)
    if unread or any(finding.severity == "error" for found in findings for finding in found):
        raise SystemExit(1)


@dataclass(frozen=True, eq=False)
class Take:
    """A clip that was named on the command line; glTF files may hold several."""

    file: str
    animation: str | None
    clip: Clip

    @property
    def label(self) -> str:
        return self.file if self.animation is None else f"{self.file} {self.animation}"


def _read_all(files: Sequence[str]) -> tuple[list[Take], dict[str, str]]:
    """The clips that can be read; a file that cannot be must not keep the others from being checked."""
    takes, unread = [], {}
    for name in files:
        try:
            lenient = {"allow_nan": True} if find(name).suffix.lower() in (".bvh", ".amc") else {}
            for animation in _animations(name).get("animations") or [None]:
                takes.append(Take(name, animation, load(name, animation=animation, **lenient)))
        except JostleError as error:
            unread[name] = str(error)
            say(f"jostle: {error}")
    return takes, unread


def _mend(take: Take, findings: Sequence[Finding], out: Path | None) -> dict | None:
    """Write the mended copy; None where there was nothing to mend."""
    from jostle.clips.fix import fix as mend

    mended, done = mend(take.clip, findings)
    if mended is take.clip:
        return None
    source = find(take.file)
    if out is not None and not out.is_dir():
        raise FileError(out, "this folder does not exist; make it first.")
    target = (out or source.parent) / f"{take.clip.name}.fixed.bvh"
    save_clip(mended, target)
    return {"file": str(target), "done": done}


def _to_json(take: Take, findings: Sequence[Finding], fixed: dict | None) -> dict:
    found = [finding.to_dict() for finding in findings]
    return {"file": take.file, "animation": take.animation, "findings": found, "fixed": fixed}


def _print_findings(name: str, findings: Sequence[Finding], fixed: dict | None) -> None:
    print(f"{name}: {'nothing wrong' if not findings else ''}".rstrip())
    for finding in findings:
        print(f"  {finding.severity:8}{finding.sentence} {finding.remedy}".rstrip())
    if fixed is not None:
        print(f"  fixed   {fixed['file']}: {' '.join(fixed['done'])}")
