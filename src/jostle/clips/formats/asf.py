"""ASF/AMC: motion in Acclaim's pair of formats, as CMU publishes it. Read only.

AMC lists each bone's angles about the axes of the bone's own frame C (see acclaim.py): M = R_z R_y R_x for
`dof rx ry rz`, the first listed turns first, about axes that stay. Told in the world's axes the joint's rotation is
C M C^-1. Angles about the file's X, Y, Z are angles about our Y, Z, X.

Every frame must list every bone that has channels ("fully specified"); one that does not is refused by its number.
Angles are degrees unless the AMC says `:RADIANS` or its ASF `angle rad`. The rate is not told unless there is a
`:SAMPLES-PER-SECOND` line; CMU's is 120 frames a second.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.formats.acclaim import Figure, read_asf, turn
from jostle.clips.formats.rest import stand_up
from jostle.clips.formats.text import (
    MAX_VALUES,
    decode,
    is_usable,
    lines_of,
    parse_numbers,
    read_text,
    shown,
    to_float,
    unusable,
)
from jostle.errors import FileError, FormatError, JostleWarning
from jostle.maths import quat
from jostle.skeleton import Pose
from jostle.types import Array, Float, PathLike

__all__ = ["Figure", "find_asf", "read_amc", "read_asf"]

CMU_FPS = 120.0


def read_amc(
    path: PathLike,
    asf: PathLike | None = None,
    unit: float | None = None,
    fps: float | None = None,
    allow_nan: bool = False,
) -> Clip:
    """Read AMC motion; its skeleton `asf` is looked for beside it (`35.asf` for `35_01.amc`) unless given.

    `fps` is 120 unless the file says otherwise. With `allow_nan`, gaps come through as NaN instead of being refused.
    """
    figure = read_asf(find_asf(path) if asf is None else asf, unit)
    values, degrees, rate = _parse_amc(path, figure, allow_nan)
    skeleton, pose = stand_up(figure.skeleton, _pose(path, figure, values, degrees))
    return Clip(skeleton, fps or rate or CMU_FPS, pose.root, pose.wxyz, pose.offsets, Path(path).stem, figure.unit)


def find_asf(path: PathLike) -> Path:
    """The skeleton beside an AMC file: `35.asf` for `35_01.amc`, `35_01.asf`, or the only one in the folder."""
    amc = Path(path)
    if not amc.is_file():
        raise FileError(path, "this is a folder; name a file in it." if amc.is_dir() else "there is no such file.")
    beside = sorted(p for p in amc.parent.iterdir() if p.suffix.lower() == ".asf")
    stems = {p.stem.lower(): p for p in beside}
    subject = amc.stem.lower().rpartition("_")[0]
    for stem in (amc.stem.lower(), subject, subject.partition("_")[0]):
        if stem in stems:
            return stems[stem]
    if len(beside) == 1:
        return beside[0]
    wanted = f"{subject or amc.stem}.asf"
    raise FileError(path, f"its skeleton '{wanted}' is not in the same folder; put it there or name it (--asf, asf=…).")


def _parse_amc(path: PathLike, figure: Figure, allow_nan: bool) -> tuple[Float[Array, "T C"], bool, float | None]:
    """The channels of every frame in the skeleton's order, whether angles are degrees, and the rate if it is told."""
    needed = {bone.name: len(bone.dof) for bone in figure.bones if bone.dof}
    rows: list[Array] = []
    degrees, rate = figure.degrees, None
    frame, frame_line, found = 0, 0, {}
    for line, words in lines_of(path, read_text(path)):
        if words[0].startswith(b"#"):
            continue
        if words[0].startswith(b":"):
            degrees = {b":DEGREES": True, b":RADIANS": False}.get(words[0].upper(), degrees)
            if words[0].upper() == b":SAMPLES-PER-SECOND" and len(words) > 1:
                rate = to_float(words[1]) or None
        elif len(words) == 1 and words[0].isdigit():
            if frame_line:
                rows.append(_row(path, needed, found, frame, frame_line, allow_nan))
                if int(words[0][:12]) != frame + 1:
                    raise FormatError(
                        path, f"frame {shown(words[0])} follows frame {frame}; frames are missing.", line=line
                    )
            frame, frame_line, found = int(words[0][:12]), line, {}
            if len(rows) * sum(needed.values()) > MAX_VALUES:
                raise FormatError(
                    path, f"it holds more than {MAX_VALUES:,} values; cut it into shorter takes.", line=line
                )
        else:
            _keep(path, needed, found, words, frame if frame_line else None, line)
    if not frame_line:
        raise FormatError(path, "there are no frames in it, so this is no AMC motion or it is cut short.")
    rows.append(_row(path, needed, found, frame, frame_line, allow_nan))
    return np.array(rows), degrees, rate


def _keep(path: PathLike, needed: dict, found: dict, words: list[bytes], frame: int | None, line: int) -> None:
    """Note one bone's values after checking that they belong here."""
    name, count = decode(words[0]), len(words) - 1
    if frame is None:
        raise FormatError(path, f"'{shown(words[0])}' comes before the number of the first frame.", line=line)
    if name not in needed:
        raise FormatError(
            path, f"frame {frame} names '{shown(words[0])}', which has no channels in the skeleton.", line=line
        )
    if name in found:
        raise FormatError(path, f"frame {frame} names '{shown(words[0])}' twice.", line=line)
    if count != needed[name]:
        what = f"{count} value{'s' * (count != 1)} for '{shown(words[0])}'"
        raise FormatError(path, f"frame {frame} has {what}, which has {needed[name]} channels.", line=line)
    found[name] = words[1:]


def _row(path: PathLike, needed: dict, found: dict, frame: int, line: int, allow_nan: bool) -> Float[Array, "C"]:
    """One frame's numbers in the skeleton's order."""
    if len(found) < len(needed):
        missing = [name for name in needed if name not in found]
        listed = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
        raise FormatError(path, f"frame {frame} has no values for: {listed}.", line=line)
    words = [word for name in needed for word in found[name]]
    values = parse_numbers(b" ".join(words))
    if values is None or len(values) != len(words):
        values = np.array([np.inf if (n := to_float(word)) is None else n for word in words])
    wrong = np.flatnonzero(~is_usable(values, allow_nan))
    if len(wrong):
        raise FormatError(path, f"in frame {frame} {unusable(words[wrong[0]])}.", line=line)
    return values


def _pose(path: PathLike, figure: Figure, values: Float[Array, "T C"], degrees: bool) -> Pose:
    wxyz = quat.identity((len(values), len(figure.bones)))
    root = np.zeros((len(values), 3))
    place = figure.skeleton.offsets[0]  # translations are from there
    column = 0
    for joint, bone in enumerate(figure.bones):
        channels = values[:, column : column + len(bone.dof)]
        column += len(bone.dof)
        turns = [i for i, c in enumerate(bone.dof) if c[0] == "r"]
        if turns:
            axes = "".join(bone.dof[i][1] for i in turns)
            turned = turn(channels[:, turns], axes, degrees)  # M
            wxyz[:, joint] = quat.mul(quat.mul(bone.frame, turned), quat.inv(bone.frame))
        for i, channel in enumerate(bone.dof):
            if joint == 0 and channel[0] == "t":
                root[:, "zxy".index(channel[1])] = channels[:, i]
            elif channel[0] in "tl" and np.any(channels[:, i] != 0.0):
                warnings.warn(
                    f"{path}: bone '{bone.name}' changes its length, which is not kept.", JostleWarning, stacklevel=3
                )
    return Pose(place + root * figure.unit, wxyz)
