"""BVH, read and written.

The format has no standard, only habits. This reader follows the most common reading of each:

- A joint's position channels *replace* its OFFSET, for the root and for any other joint; a component without a
  channel keeps the OFFSET's. A bone that moves by less than a hundred-thousandth of the longest one is a constant
  of the skeleton; only bones that really move make `Clip.offsets`.
- Rotation channels turn in the order in which they are listed, each about its axis as the ones before it left it:
  `Zrotation Xrotation Yrotation` is R_z R_x R_y. Positions are applied first wherever they are listed.
- A root whose only child travels by itself (`joint_Root` over `Hips`) is a mark on the floor, not a part of the body:
  its motion is handed to the child and it is left out. So are end sites of no length.
- The rate is the whole number of frames a second that the frame time abbreviates: .0083333 is 120, not 120.0005.
- Y is up, unless a person's skeleton and motion both stand along Z.
- The identity pose is the rest pose; `jostle.clips.formats.rest` mends those that do not stand.

jostle's X, Y, Z are the file's Z, X, Y. The exchange is cyclic, so an angle about the file's Y is one about our Z.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.formats.euler import ORDERS, best_order, continuous_euler
from jostle.clips.formats.hierarchy import Joint, Tree, parse_hierarchy
from jostle.clips.formats.rest import stand_up, standing_axes
from jostle.clips.formats.text import line_at, read_table, read_text, shown, to_float
from jostle.clips.formats.units import checked_unit, guess_unit
from jostle.errors import FormatError, JostleWarning, MotionError
from jostle.files import write_text
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, build_skeleton, find_roles, forward, is_humanoid
from jostle.types import Array, Float, PathLike

MAX_HEADER = 4 * 2**20  # bytes: two thousand joints fit, deeply indented
_BLOCK = 1024  # frames turned into quaternions at a time: less memory, and quicker, for it stays in the cache
_AXES = {"y": (1, 2, 0), "z": (0, 1, 2)}  # which of our axes the file's X, Y and Z are
_MOTION = re.compile(rb"(?:^|(?<=\}))[ \t]*(MOTION)(?=\s)", re.IGNORECASE | re.MULTILINE)  # no joint's name
_FRAMES = re.compile(rb"\s*Frames[ \t]*:?[ \t]*(\S+)", re.IGNORECASE)
_FRAME_TIME = re.compile(rb"\s*Frame[ \t]*Time[ \t]*:?[ \t]*(\S+)", re.IGNORECASE)


def read_bvh(path: PathLike, unit: float | None = None, up: str | None = None, allow_nan: bool = False) -> Clip:
    """Read a BVH file.

    `unit` is how many metres one unit is (None guesses it from the figure's height); `up` is 'y' or 'z' (None looks
    which way the figure stands). With `allow_nan`, gaps written as NaN come through as NaN instead of being refused.
    """
    if up not in (None, *_AXES):
        raise MotionError(f"A BVH file is up along 'y' or 'z', not '{up}'.")
    data = read_text(path)
    tree, frames, fps, start = _parse_header(path, data)
    values = read_table(path, data, start, frames, _width(tree), allow_nan)
    skeleton, pose = _assemble(tree, values, _AXES[up or "y"])
    if up is None and _stands_along_z(skeleton, pose):
        skeleton, pose = _assemble(tree, values, _AXES["z"])
    skeleton, pose = stand_up(*_without_carrier(skeleton, pose))
    _warn_of_scales(path, tree, values)
    unit = guess_unit(skeleton) if unit is None else checked_unit(unit)
    offsets = None if pose.offsets is None else pose.offsets * unit
    return Clip(skeleton.scaled(unit), fps, pose.root * unit, pose.wxyz, offsets, Path(path).stem, unit)


def _parse_header(path: PathLike, data: bytes) -> tuple[Tree, int, float, int]:
    """The tree, the number of frames, frames a second, and the byte where the values begin."""
    if not data[:4096].lstrip().upper().startswith(b"HIERARCHY"):
        raise FormatError(path, "this is not a BVH file: it does not begin with 'HIERARCHY'.", line=1)
    motion = _MOTION.search(data, 0, MAX_HEADER)
    if motion is None:
        raise FormatError(path, "there is no MOTION section; the file is cut short, export it again.")
    tree = parse_hierarchy(path, data[: motion.start(1)])
    if not _width(tree):
        raise FormatError(
            path, "no joint has CHANNELS, so there is no motion in it.", line=line_at(data, motion.start(1))
        )
    frames = _FRAMES.match(data, motion.end(), motion.end() + 1000)
    line = line_at(data, motion.end())
    count = int(frames[1][:18]) if frames is not None and frames[1].isdigit() else 0
    if frames is None or count == 0:
        raise FormatError(
            path, "MOTION must be followed by 'Frames:' and how many there are, at least 1.", line=line + 1
        )
    time = _FRAME_TIME.match(data, frames.end(), frames.end() + 1000)
    line = line_at(data, frames.end()) + 1
    if time is None:
        raise FormatError(path, "'Frames:' must be followed by 'Frame Time:' and seconds.", line=line)
    return tree, count, _rate(path, time[1], line), time.end()


def _width(tree: Tree) -> int:
    return sum(len(joint.channels or ()) for joint in tree.joints)


def _rate(path: PathLike, word: bytes, line: int) -> float:
    """Frames a second: the whole number whose frame time agrees in the digits written, else 1 / frame time."""
    seconds = to_float(word)
    if seconds is None or not 1e-6 < seconds < 1e6:
        raise FormatError(
            path, f"the frame time is '{shown(word)}'; it must be a positive number of seconds.", line=line
        )
    whole = max(1, round(1.0 / seconds))
    mantissa, _, exponent = word.lower().partition(b"e")
    last_digit = 10.0 ** (int(exponent or b"0") - len(mantissa.partition(b".")[2]))
    return float(whole) if abs(1.0 / whole - seconds) <= min(last_digit, 0.02 * seconds) else 1.0 / seconds


def _assemble(tree: Tree, values: Float[Array, "T C"], axes: tuple[int, int, int]) -> tuple[Skeleton, Pose]:
    """Skeleton and poses in file units and our axes."""
    joints, back = tree.joints, np.argsort(axes)
    skeleton = build_skeleton(
        [joint.name for joint in joints],
        [joint.parent for joint in joints],
        np.array([joint.offset for joint in joints])[:, back],
        [(owner, [offset[i] for i in back]) for owner, offset in tree.ends if any(offset)],
    )
    first = np.cumsum([0, *(len(joint.channels or ()) for joint in joints)]).tolist()
    tracks = _positions(joints, first, values, skeleton, axes)
    root = tracks.pop(0, None)
    root = np.tile(skeleton.offsets[0], (len(values), 1)) if root is None else root
    skeleton, offsets = _settle_bones(skeleton, tracks, len(values))
    return skeleton, Pose(root, _rotations(joints, first, values, axes), offsets)


def _rotations(
    joints: list[Joint], first: list[int], values: Array, axes: tuple[int, int, int]
) -> Float[Array, "T J 4"]:
    """Euler angles to quaternions, all joints with the same order of channels at once."""
    groups: dict[str, tuple[list[int], list[list[int]]]] = {}
    for index, joint in enumerate(joints):
        turns = [(first[index] + i, c[1]) for i, c in enumerate(joint.channels or ()) if c[0] == "r"]
        order = "".join("XYZ"[axes["xyz".index(axis)]] for _, axis in turns)
        members, columns = groups.setdefault(order, ([], []))
        members.append(index)
        columns.append([column for column, _ in turns])
    wxyz = quat.identity((len(values), len(joints)))
    for order, (members, columns) in groups.items():
        for t in range(0, len(values) if order else 0, _BLOCK):
            angles = np.radians(values[t : t + _BLOCK, columns])  # (t, n, 3)
            wxyz[t : t + _BLOCK, members] = quat.from_euler(angles, order)
    return wxyz


def _positions(
    joints: list[Joint], first: list[int], values: Array, skeleton: Skeleton, axes: tuple[int, int, int]
) -> dict[int, Float[Array, "T 3"]]:
    """Joint to where its channels put it, for joints with position channels."""
    found = {}
    for index, joint in enumerate(joints):
        moves = [(first[index] + i, axes["xyz".index(c[1])]) for i, c in enumerate(joint.channels or ()) if c[0] == "p"]
        if moves:
            found[index] = np.tile(skeleton.offsets[index], (len(values), 1))
            for column, axis in moves:
                found[index][:, axis] = values[:, column]
    return found


def _settle_bones(skeleton: Skeleton, tracks: dict[int, Array], frames: int) -> tuple[Skeleton, Array | None]:
    """Bones that stay put become offsets of the skeleton; the others make the clip's offsets."""
    offsets = skeleton.offsets.copy()
    tolerance = 1e-5 * np.linalg.norm(offsets[1:], axis=-1).max(initial=0.0)
    moving = {}
    for joint, track in tracks.items():
        if not np.ptp(track, axis=0).max() <= tolerance:  # a gap (NaN) counts as moving
            moving[joint] = track
        elif np.abs(track[0] - offsets[joint]).max() > tolerance:
            offsets[joint] = track[0]
    settled = Skeleton(skeleton.names, skeleton.parents, offsets, skeleton.end_parents, skeleton.end_offsets)
    if not moving:
        return settled, None
    told = np.tile(offsets, (frames, 1, 1))
    for joint, track in moving.items():
        told[:, joint] = track
    return settled, told


def _stands_along_z(skeleton: Skeleton, pose: Pose) -> bool:
    """Whether a file read as Y up is Z up: file Z is then our X, and figure and motion stand along it."""
    axes = standing_axes(skeleton) if is_humanoid(skeleton) else None
    if axes is None or axes[2, 0] != 1.0:
        return False
    step = max(1, len(pose.root) // 50)
    roles, at = find_roles(skeleton), forward(skeleton, pose.rows(slice(None, None, step))).positions
    along = np.nanmean(at[:, roles["head"]] - at[:, roles["left_foot"]], axis=0)
    return bool(np.argmax(np.abs(along)) == 0)


def _without_carrier(skeleton: Skeleton, pose: Pose) -> tuple[Skeleton, Pose]:
    """Make the root's only child the root where it travels by itself: the root is then a mark on the floor."""
    moving = pose.offsets
    if moving is None or len(skeleton.children[0]) != 1 or len(skeleton.ends_of(0)):
        return skeleton, pose
    if not np.ptp(moving[:, 1], axis=0).any():
        return skeleton, pose
    offsets = skeleton.offsets[1:].copy()
    offsets[0] = skeleton.rest_positions[1]
    inner = Skeleton(
        skeleton.names[1:], skeleton.parents[1:] - 1, offsets, skeleton.end_parents - 1, skeleton.end_offsets
    )
    wxyz = pose.wxyz[:, 1:].copy()
    wxyz[:, 0] = quat.mul(pose.wxyz[:, 0], wxyz[:, 0])
    root = pose.root + quat.apply(pose.wxyz[:, 0], moving[:, 1])
    still = bool(np.all(np.ptp(moving[:, 2:], axis=0) == 0.0))
    return inner, Pose(root, wxyz, None if still else moving[:, 1:])


def _warn_of_scales(path: PathLike, tree: Tree, values: Array) -> None:
    channels = [c for joint in tree.joints for c in joint.channels or ()]
    scales = [i for i, c in enumerate(channels) if c[0] == "s"]
    if scales and not np.allclose(values[:, scales], 1.0, equal_nan=True):
        warnings.warn(f"{path}: bones change their scale, which is not kept.", JostleWarning, stacklevel=3)


def write_bvh(clip: Clip, path: PathLike, unit: float = 0.01, digits: int = 6) -> None:
    """Write a clip as BVH, Y up, in units of `unit` metres (centimetres unless told otherwise).

    `digits` are those behind the point of every number of the motion, from 1 to 12.
    """
    checked_unit(unit)
    if not 1 <= digits <= 12:
        raise MotionError(f"The numbers of a BVH file have 1 to 12 digits behind the point, not {digits}.")
    tracks = _moving_bones(clip)
    if not all(np.isfinite(a).all() for a in (clip.wxyz, *tracks.values())):
        raise MotionError(f"Clip '{clip.name}' has gaps (values that are no finite numbers); fill them before writing.")
    ours = best_order(clip.wxyz, tuple(_to_our_axes(order) for order in ORDERS))
    angles = np.degrees(continuous_euler(clip.wxyz, ours))  # (T, J, 3)
    order = ORDERS[[_to_our_axes(o) for o in ORDERS].index(ours)]
    text, joints = _write_hierarchy(clip.skeleton, set(tracks), order, unit)
    columns = []
    for joint in joints:
        columns += [_to_file(tracks[joint]) / unit] if joint in tracks else []
        columns.append(angles[:, joint])
    rows = np.concatenate(columns, axis=1)
    line = " ".join([f"%.{digits}f"] * rows.shape[1])
    text += ["MOTION", f"Frames: {clip.frame_count}", f"Frame Time: {1.0 / clip.fps:.10g}"]
    text += [line % tuple(row) for row in rows.tolist()]
    write_text(path, "\n".join(text) + "\n")


def _to_our_axes(order: str) -> str:
    return "".join("XYZ"[_AXES["y"]["XYZ".index(axis)]] for axis in order)


def _to_file(vectors: Float[Array, "*n 3"]) -> Float[Array, "*n 3"]:
    """The file's X, Y, Z are our Y, Z, X."""
    return vectors[..., [1, 2, 0]]


def _moving_bones(clip: Clip) -> dict[int, Float[Array, "T 3"]]:
    """Joint to its positions in its parent's frame: the root's, and those of bones that leave the skeleton's offset."""
    tracks = {0: clip.root}
    if clip.offsets is not None:
        apart = np.abs(clip.offsets - clip.skeleton.offsets).max(axis=(0, 2))
        tracks |= {int(j): clip.offsets[:, j] for j in np.flatnonzero(~(apart < 1e-7)) if j > 0}
    return tracks


def _write_hierarchy(skeleton: Skeleton, moving: set[int], order: str, unit: float) -> tuple[list[str], list[int]]:
    """The lines of the hierarchy, and the joints in the order in which they are written: depth first."""
    turns = " ".join(f"{axis}rotation" for axis in order)
    text, written = ["HIERARCHY"], []
    todo = [(0, 0, True)]  # joint, depth, whether it is to be opened or closed
    while todo:
        joint, depth, opens = todo.pop()
        tab = "\t" * depth
        if not opens:
            text.append(tab + "}")
            continue
        written.append(joint)
        text += [f"{tab}{'JOINT' if joint else 'ROOT'} {_plain(skeleton.names[joint])}", tab + "{"]
        text.append(f"{tab}\t{_offset(skeleton.offsets[joint], unit)}")
        text.append(f"{tab}\tCHANNELS {'6 Xposition Yposition Zposition' if joint in moving else 3} {turns}")
        tips = skeleton.ends_of(joint)
        for tip in tips if len(tips) or skeleton.children[joint] else np.zeros((1, 3)):  # a leaf must have one
            text += [f"{tab}\tEnd Site", tab + "\t{", f"{tab}\t\t{_offset(tip, unit)}", tab + "\t}"]
        todo.append((joint, depth, False))
        todo += [(child, depth + 1, True) for child in reversed(skeleton.children[joint])]
    return text, written


def _offset(vector: Float[Array, "3"], unit: float) -> str:
    return "OFFSET {:.6f} {:.6f} {:.6f}".format(*(_to_file(vector) / unit))


def _plain(name: str) -> str:
    """A name that a line can hold: braces and line ends would end it early."""
    return re.sub(r"[{}\s]+", " ", name).strip() or "joint"
