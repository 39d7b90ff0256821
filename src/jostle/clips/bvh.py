"""BVH, read and written.

The format has no standard, only habits, and the reader follows the most common reading of each:

- A joint's position channels *replace* its OFFSET; channels that it lacks keep the OFFSET's component. A bone that
  does not move by more than a hundred-thousandth of the longest bone is a constant of the skeleton; only bones that
  really move make `Clip.offsets`.
- Rotation channels turn in the order in which they are listed, each about the axis as the ones before it left it:
  `Zrotation Xrotation Yrotation` is R_z R_x R_y. Positions come first wherever they are listed.
- A root that never moves and only carries the joint that does (`joint_Root` over `Hips`) is left out.
- The rate is the whole number of frames a second that the written frame time abbreviates: .0083333 is 120, not 120.0005.
- Files are Y up, unless both the skeleton and the motion stand along Z.

jostle's X, Y, Z are the file's Z, X, Y: a cyclic exchange, so that an angle about the file's Y is one about our Z.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.text import decode, line_at, read_table, read_text, shown, to_float
from jostle.clips.units import guess_unit
from jostle.errors import FormatError, JostleWarning, MotionError
from jostle.files import write_text
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, build_skeleton
from jostle.types import Array, Float, PathLike

MAX_JOINTS = 10_000
MAX_HEADER = 4 * 2**20  # bytes; ten thousand joints fit
_AXES = {"y": (1, 2, 0), "z": (0, 1, 2)}  # where the file's X, Y and Z go
_WORD = re.compile(rb"[{}]|[^\s{}]+")
_CHANNEL = re.compile(rb"([XYZ])(position|rotation|scale)$", re.IGNORECASE)
_MOTION = re.compile(rb"(?<![^\s}])MOTION(?=\s)", re.IGNORECASE)
_FRAMES = re.compile(rb"\s*Frames[ \t]*:?[ \t]*(\S+)", re.IGNORECASE)
_FRAME_TIME = re.compile(rb"\s*Frame[ \t]*Time[ \t]*:?[ \t]*(\S+)[^\n]*", re.IGNORECASE)


@dataclass
class _Joint:
    name: str
    parent: int
    line: int
    offset: list[float] | None = None
    channels: list[str] = field(default_factory=list)  # 'px' 'ry' 'sz': kind and axis


@dataclass
class _Tree:
    joints: list[_Joint] = field(default_factory=list)
    ends: list[tuple[int, list[float]]] = field(default_factory=list)


def read_bvh(path: PathLike, unit: float | None = None, up: str | None = None, allow_nan: bool = False) -> Clip:
    """Read a BVH file. `unit` is metres per unit (guessed from the figure's height), `up` is 'y' or 'z' (found out).

    With `allow_nan`, gaps written as NaN come through as NaN instead of being refused.
    """
    data = read_text(path)
    tree, frames, fps, start = _parse_header(path, data)
    columns = sum(len(joint.channels) for joint in tree.joints)
    values = read_table(path, data, start, frames, columns, allow_nan)
    skeleton, pose = _assemble(path, tree, values, _AXES[up or "y"])
    unit = guess_unit(skeleton) if unit is None else unit
    offsets = None if pose.offsets is None else pose.offsets * unit
    return Clip(skeleton.scaled(unit), fps, pose.root * unit, pose.wxyz, offsets, Path(path).stem, unit)


def _parse_header(path: PathLike, data: bytes) -> tuple[_Tree, int, float, int]:
    """The tree, the number of frames, frames a second, and the byte where the values begin."""
    if not data[:4096].lstrip().upper().startswith(b"HIERARCHY"):
        raise FormatError(path, "this is not a BVH file: it does not begin with 'HIERARCHY'.", line=1)
    motion = _MOTION.search(data, 0, MAX_HEADER)
    if motion is None:
        raise FormatError(path, "there is no 'MOTION' section; the file is cut short, export it again.")
    tree = _Parser(path, data[: motion.start()]).parse()
    frames = _FRAMES.match(data, motion.end(), motion.end() + 1000)
    if frames is None or not frames[1].isdigit():
        raise FormatError(path, "'MOTION' must be followed by 'Frames: N'.", line=line_at(data, motion.end()))
    time = _FRAME_TIME.match(data, frames.end(), frames.end() + 1000)
    line = line_at(data, frames.end()) + 1
    if time is None:
        raise FormatError(path, "'Frames:' must be followed by 'Frame Time: SECONDS'.", line=line)
    if int(frames[1][:12]) == 0:
        raise FormatError(path, "it has no frames.", line=line - 1)
    return tree, int(frames[1][:12]), _rate(path, time[1], line), time.end()


def _rate(path: PathLike, word: bytes, line: int) -> float:
    """Frames a second: the whole number whose frame time agrees in every digit written, else 1 / frame time."""
    seconds = to_float(word)
    if seconds is None or not np.isfinite(seconds) or not 1e-6 < seconds < 1e6:
        raise FormatError(
            path, f"the frame time is '{shown(word)}'; it must be a positive number of seconds.", line=line
        )
    whole = round(1.0 / seconds)
    mantissa, _, exponent = word.lower().partition(b"e")
    decimals = len(mantissa.partition(b".")[2]) - int(exponent or 0)
    near = whole > 0 and abs(1.0 / whole - seconds) <= min(10.0**-decimals, 0.02 * seconds)
    return float(whole) if near else 1.0 / seconds


class _Parser:
    """The hierarchy, word by word with its line; a stack instead of recursion, so depth is no danger."""

    def __init__(self, path: PathLike, header: bytes) -> None:
        self.path = path
        self.lines = enumerate(header.split(b"\n"), start=1)
        self.line, self.words = 0, iter(())
        self.tree = _Tree()
        self.open: list[int | None] = []  # joints whose braces are open; None for an end site

    def parse(self) -> _Tree:
        for word in self.rest():
            handle = {
                b"HIERARCHY": lambda: None,
                b"ROOT": self.root,
                b"JOINT": self.joint,
                b"END": self.end_site,
                b"ENDSITE": self.end_site,
                b"OFFSET": self.offset,
                b"CHANNELS": self.channels,
                b"}": self.close,
            }.get(word.upper())
            if handle is None:
                raise self.error(
                    f"'{shown(word)}' has no meaning here; ROOT, JOINT, End Site, OFFSET or CHANNELS was expected."
                )
            handle()
        self.finish()
        return self.tree

    def rest(self) -> Iterator[bytes]:
        """The words from here to the end of the header."""
        while True:
            yield from self.words
            try:
                self.line, text = next(self.lines)
            except StopIteration:
                return
            self.words = iter(_WORD.findall(text))

    def error(self, problem: str) -> FormatError:
        return FormatError(self.path, problem, line=self.line)

    def take(self, what: str) -> bytes:
        word = next(self.rest(), None)
        if word is None:
            raise self.error(f"the file ends where {what} was expected; export it again.")
        return word

    def name(self) -> str:
        """The rest of the line up to a brace; the brace itself is opened here."""
        words = []
        for word in self.words:
            if word == b"{":
                break
            words.append(word)
        else:
            if self.take("'{'") != b"{":
                raise self.error("'{' was expected after the joint's name.")
        return decode(b" ".join(words)).strip()

    def root(self) -> None:
        if self.tree.joints:
            raise self.error(
                "a second ROOT begins here, and only files with one are read; put each figure in a file of its own."
            )
        self.add(-1)

    def joint(self) -> None:
        if not self.open or self.open[-1] is None:
            raise self.error("this JOINT hangs from no joint.")
        self.add(self.open[-1])

    def add(self, parent: int) -> None:
        line = self.line
        if len(self.tree.joints) >= MAX_JOINTS:
            raise self.error(f"it has more than {MAX_JOINTS:,} joints.")
        self.tree.joints.append(_Joint(self.name() or f"joint{len(self.tree.joints)}", parent, line))
        self.open.append(len(self.tree.joints) - 1)

    def end_site(self) -> None:
        if not self.open or self.open[-1] is None:
            raise self.error("this End Site belongs to no joint.")
        self.name()
        self.open.append(None)

    def offset(self) -> None:
        numbers = [to_float(self.take("an offset")) for _ in range(3)]
        finite = [n for n in numbers if n is not None and np.isfinite(n)]
        if len(finite) < 3:
            raise self.error("OFFSET must be followed by three numbers.")
        if not self.open:
            raise self.error("this OFFSET belongs to no joint.")
        if self.open[-1] is not None:
            self.tree.joints[self.open[-1]].offset = finite
        else:
            owner = next(j for j in reversed(self.open) if j is not None)
            self.tree.ends.append((owner, finite))

    def channels(self) -> None:
        if not self.open or self.open[-1] is None:
            raise self.error("these CHANNELS belong to no joint.")
        count = self.take("the number of channels")
        if not count.isdigit() or int(count[:6]) > 9:
            raise self.error(f"a joint has 0 to 9 channels, not '{shown(count)}'.")
        found = []
        for _ in range(int(count)):
            word = self.take("a channel")
            match = _CHANNEL.match(word)
            if match is None:
                raise self.error(
                    f"'{shown(word)}' is no channel; channels are Xposition, Yrotation and the like, {int(count)} of them."
                )
            found.append(match[2][:1].lower().decode() + match[1].lower().decode())
        self.tree.joints[self.open[-1]].channels = found

    def close(self) -> None:
        if not self.open:
            raise self.error("a '}' too many.")
        joint = self.open.pop()
        if joint is not None and self.tree.joints[joint].offset is None:
            raise self.error(f"joint '{self.tree.joints[joint].name}' has no OFFSET.")

    def finish(self) -> None:
        if self.open:
            raise self.error("a '}' is missing before MOTION.")
        if not self.tree.joints:
            raise self.error("there is no ROOT.")
        if not any(joint.channels for joint in self.tree.joints):
            raise self.error("no joint has channels, so there is no motion.")
        _make_unique(self.path, self.tree.joints)


def _make_unique(path: PathLike, joints: list[_Joint]) -> None:
    """Hand, Hand -> Hand, Hand_2, with a warning."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    renamed = []
    for joint in joints:
        name = joint.name
        while joint.name in taken:
            counts[name] = counts.get(name, 1) + 1
            joint.name = f"{name}_{counts[name]}"
        if joint.name != name:
            renamed.append(joint.name)
        taken.add(joint.name)
    if renamed:
        listed = ", ".join(renamed[:5]) + (", …" if len(renamed) > 5 else "")
        warnings.warn(
            f"{path}: several joints share a name; the later ones are now called {listed}.", JostleWarning, stacklevel=6
        )


def _assemble(path: PathLike, tree: _Tree, values: Array, axes: tuple[int, int, int]) -> tuple[Skeleton, Pose]:
    """Skeleton and poses in file units, in jostle's axes."""
    joints = tree.joints
    skeleton = build_skeleton(
        [joint.name for joint in joints],
        [joint.parent for joint in joints],
        np.array([joint.offset for joint in joints])[:, np.argsort(axes)],
        [(owner, np.array(offset)[np.argsort(axes)]) for owner, offset in tree.ends],
    )
    first = np.cumsum([0, *(len(joint.channels) for joint in joints)])
    wxyz = _rotations(joints, first, values, axes)
    at = _positions(joints, first, values, skeleton, axes)
    root = at.pop(0) if 0 in at else np.broadcast_to(skeleton.offsets[0], (len(values), 3)).copy()
    offsets = skeleton.offsets.copy()
    moving = {}
    tolerance = 1e-5 * np.linalg.norm(offsets[1:], axis=-1).max(initial=0.0)
    for joint, track in at.items():
        if np.ptp(track, axis=0).max() > tolerance:
            moving[joint] = track
        elif np.abs(track[0] - offsets[joint]).max() > tolerance:
            offsets[joint] = track[0]
    skeleton = Skeleton(skeleton.names, skeleton.parents, offsets, skeleton.end_parents, skeleton.end_offsets)
    if not moving:
        return skeleton, Pose(root, wxyz)
    tracks = np.tile(offsets, (len(values), 1, 1))
    for joint, track in moving.items():
        tracks[:, joint] = track
    return skeleton, Pose(root, wxyz, tracks)


def _rotations(joints: list[_Joint], first: Array, values: Array, axes: tuple[int, int, int]) -> Float[Array, "T J 4"]:
    """Euler angles to quaternions, all joints with the same order of channels at once."""
    groups: dict[str, list[int]] = {}
    columns: dict[int, list[int]] = {}
    for index, joint in enumerate(joints):
        turns = [(i, c[1]) for i, c in enumerate(joint.channels) if c[0] == "r"]
        columns[index] = [int(first[index]) + i for i, _ in turns]
        groups.setdefault("".join("XYZ"[axes["xyz".index(c)]] for _, c in turns), []).append(index)
    wxyz = quat.identity((len(values), len(joints)))
    for order, members in groups.items():
        if order:
            angles = values[:, [columns[j] for j in members]]  # (T, n, 3)
            wxyz[:, members] = quat.from_euler(np.radians(angles), order)
    return wxyz


def _positions(
    joints: list[_Joint], first: Array, values: Array, skeleton: Skeleton, axes: tuple[int, int, int]
) -> dict[int, Array]:
    """Joint to its positions (T, 3), for joints with position channels."""
    found = {}
    for index, joint in enumerate(joints):
        moves = [(i, axes["xyz".index(c[1])]) for i, c in enumerate(joint.channels) if c[0] == "p"]
        if moves:
            track = np.tile(skeleton.offsets[index], (len(values), 1))
            for i, axis in moves:
                track[:, axis] = values[:, first[index] + i]
            found[index] = track
    return found


def write_bvh(clip: Clip, path: PathLike, unit: float = 0.01) -> None:
    """Write a clip as BVH, Y up, in units of `unit` metres (centimetres unless told otherwise)."""
    if not (np.isfinite(unit) and unit > 0.0):
        raise MotionError(f"A BVH unit of {unit} metres makes no sense; use 0.01 for centimetres.")
    if not (np.isfinite(clip.root).all() and np.isfinite(clip.wxyz).all()):
        raise MotionError(f"Clip '{clip.name}' holds values that are not finite numbers; fill its gaps first.")
    order = _best_order(clip.wxyz)
    tracks = _moving_offsets(clip)
    text, joints = _write_hierarchy(clip, tracks, order, unit)
    columns = []
    angles = np.degrees(_continuous_euler(clip.wxyz, order))  # (T, J, 3)
    for joint in joints:
        if joint in tracks:
            columns.append(_to_file(tracks[joint]) / unit)
        columns.append(angles[:, joint])
    rows = np.concatenate(columns, axis=1)
    line = " ".join(["%.6f"] * rows.shape[1])
    text += ["MOTION", f"Frames: {clip.frame_count}", f"Frame Time: {1.0 / clip.fps:.10g}"]
    text += [line % tuple(row) for row in rows.tolist()]
    write_text(path, "\n".join(text) + "\n")


def _to_file(vectors: Array) -> Array:
    """The file's X, Y, Z are our Y, Z, X."""
    return vectors[..., [1, 2, 0]]


def _moving_offsets(clip: Clip) -> dict[int, Array]:
    """Joint to its positions (T, 3) in its parent's frame: the root's, and those of bones that move."""
    tracks = {0: clip.root}
    if clip.offsets is not None:
        apart = np.abs(clip.offsets - clip.skeleton.offsets).max(axis=(0, 2)) > 1e-6
        tracks |= {int(j): clip.offsets[:, j] for j in np.flatnonzero(apart) if j > 0}
    return tracks


def _write_hierarchy(clip: Clip, tracks: dict[int, Array], order: str, unit: float) -> tuple[list[str], list[int]]:
    """The lines of the hierarchy, and the joints in the order in which they are written."""
    skeleton = clip.skeleton
    turns = " ".join(f"{axis}rotation" for axis in order)
    text, written = ["HIERARCHY"], []
    todo: list[tuple[int, int, bool]] = [(0, 0, False)]  # joint, depth, whether only its brace is left to close
    while todo:
        joint, depth, done = todo.pop()
        tab = "\t" * depth
        if done:
            text.append(tab + "}")
            continue
        written.append(joint)
        offset = _to_file(skeleton.offsets[joint]) / unit
        text += [f"{tab}{'JOINT' if joint else 'ROOT'} {skeleton.names[joint]}", tab + "{"]
        text.append(f"{tab}\tOFFSET {offset[0]:.6f} {offset[1]:.6f} {offset[2]:.6f}")
        moves = "6 Xposition Yposition Zposition" if joint in tracks else "3"
        text.append(f"{tab}\tCHANNELS {moves} {turns}")
        tips = skeleton.ends_of(joint)
        if not len(tips) and not skeleton.children[joint]:
            tips = np.zeros((1, 3))
        for tip in _to_file(tips) / unit:
            text += [
                f"{tab}\tEnd Site",
                tab + "\t{",
                f"{tab}\t\tOFFSET {tip[0]:.6f} {tip[1]:.6f} {tip[2]:.6f}",
                tab + "\t}",
            ]
        todo.append((joint, depth, True))
        todo += [(child, depth + 1, False) for child in reversed(skeleton.children[joint])]
    return text, written


def _best_order(wxyz: Array) -> str:
    return "ZXY"


def _continuous_euler(wxyz: Array, order: str) -> Array:
    return quat.to_euler(wxyz, "".join("XYZ"[_AXES["y"]["XYZ".index(axis)]] for axis in order))
