"""ASF skeletons (Acclaim's format, in which CMU publishes its motion capture).

A bone has a `direction` and a `length` in the world of the rest pose, and an `axis`: the turn C of its own frame in
that world. A bone begins where its parent ends, so the offset of a joint is its *parent's* direction times length, and
the outermost bones end in tips. With all angles at zero the figure is in its rest pose, and because asf.py
tells rotations in the world's axes, every joint is then aligned with the world: jostle's invariant holds as it is.

Lengths are inches divided by the file's `length` unit: CMU's 0.45 makes one unit 0.0254 / 0.45 = 0.056444 m. Where that
makes no person of a person's skeleton, the unit is guessed from the stature instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.clips.formats.hierarchy import MAX_JOINTS
from jostle.clips.formats.text import MAX_NUMBER, decode, lines_of, read_text, shown, to_float
from jostle.clips.formats.units import checked_unit, guess_unit, stature
from jostle.errors import FormatError, JostleWarning
from jostle.maths import quat
from jostle.skeleton import Skeleton, build_skeleton, is_humanoid
from jostle.types import Array, Float, PathLike

INCH = 0.0254
_OURS = {"x": "Y", "y": "Z", "z": "X"}  # our names for the file's axes
_DOF = ("tx", "ty", "tz", "rx", "ry", "rz", "l")


@dataclass(frozen=True)
class Bone:
    """What AMC needs to know of a joint: its frame in the rest pose, and which channels it has."""

    name: str
    frame: Float[Array, "4"]  # C: the bone's own axes in the world
    dof: tuple[str, ...]


@dataclass(frozen=True)
class Figure:
    """A skeleton from an ASF file, in metres; `bones` and the skeleton's joints go side by side."""

    skeleton: Skeleton
    bones: tuple[Bone, ...]
    unit: float  # metres
    degrees: bool


def read_asf(path: PathLike, unit: float | None = None) -> Figure:
    """Read the skeleton of an ASF file; `unit` is metres per unit of length, told by the file unless given."""
    sections = _sections(path)
    units = {words[0].lower(): words[1] for _, words in sections.get("units", []) if len(words) > 1}
    degrees = not units.get("angle", "deg").lower().startswith("rad")
    root, place = _read_root(path, sections, degrees)
    bones = {"root": (root, np.zeros(3)), **_read_bones(path, sections, degrees)}
    order, parents = _read_tree(path, sections, bones)
    vectors = [bones[name][1] for name in order]
    offsets = [place if parent < 0 else vectors[parent] for parent in parents]
    leaves = set(range(1, len(order))) - set(parents)
    ends = [(j, vectors[j].tolist()) for j in sorted(leaves) if vectors[j].any()]
    skeleton = build_skeleton(order, parents, np.array(offsets), ends)
    unit = _unit(path, skeleton, units.get("length", "1")) if unit is None else checked_unit(unit)
    return Figure(skeleton.scaled(unit), tuple(bones[name][0] for name in order), unit, degrees)


def _sections(path: PathLike) -> dict[str, list[tuple[int, list[str]]]]:
    """Section name to its lines: number and words. Comments and blank lines are left out."""
    found: dict[str, list[tuple[int, list[str]]]] = {}
    current: list[tuple[int, list[str]]] = []
    for number, raw in lines_of(path, read_text(path, limit=16 * 2**20)):
        words = [decode(word) for word in raw]
        if words[0].startswith("#"):
            continue
        if words[0].startswith(":"):
            current = found.setdefault(words[0][1:].lower(), [])
            words = words[1:]
        if words:
            current.append((number, words))
    for needed in ("root", "bonedata", "hierarchy"):
        if needed not in found:
            raise FormatError(path, f"there is no ':{needed}' section, so this is no ASF skeleton or it is cut short.")
        if needed != "root" and (not found[needed] or found[needed][-1][1][0].lower() != "end"):
            raise FormatError(
                path, f"section ':{needed}' lacks its last 'end'; the file is cut short, export it again."
            )
    return found


def _numbers(path: PathLike, words: Sequence[str], count: int, line: int, what: str) -> Float[Array, "n"]:
    found = [to_float(word.encode()) for word in words[:count]]
    if len(found) < count or any(n is None or not abs(n) <= MAX_NUMBER for n in found):
        raise FormatError(path, f"{what} needs {count} finite number{'s' * (count > 1)}.", line=line)
    return np.array(found, dtype=float)


def turn(angles: Float[Array, "*t n"], axes: str, degrees: bool) -> Float[Array, "*t 4"]:
    """Angles about axes that stay, the first one first: R_z R_y R_x for 'xyz', told in our axes."""
    radians = np.radians(angles) if degrees else angles
    return quat.from_euler(radians[..., ::-1], "".join(_OURS[a] for a in reversed(axes)))


def _axes(path: PathLike, word: str, line: int) -> str:
    if sorted(word.lower()) != ["x", "y", "z"]:
        raise FormatError(
            path, f"the order of axes is '{shown(word.encode())}'; it must be XYZ in some order.", line=line
        )
    return word.lower()


def _dof(path: PathLike, words: Sequence[str], line: int) -> tuple[str, ...]:
    found = tuple(word.lower() for word in words)
    strange = [word for word in found if word not in _DOF]
    if strange or len(set(found)) < len(found):
        wrong = shown((strange or list(found))[0].encode())
        raise FormatError(path, f"'{wrong}' is no channel or listed twice; channels are {', '.join(_DOF)}.", line=line)
    return found


def _read_root(path: PathLike, sections: dict, degrees: bool) -> tuple[Bone, Array]:
    """The root's bone and its place in the rest pose."""
    dof, axes, angles, place = _DOF[:6], "xyz", np.zeros(3), np.zeros(3)
    for line, words in sections["root"]:
        key = words[0].lower()
        if key == "order":
            dof = _dof(path, words[1:], line)
        elif key == "axis" and len(words) > 1:
            axes = _axes(path, words[1], line)
        elif key == "orientation":
            angles = _numbers(path, words[1:], 3, line, "the root's orientation")
        elif key == "position":
            place = _numbers(path, words[1:], 3, line, "the root's position")
    return Bone("root", turn(angles, axes, degrees), dof), place[[2, 0, 1]]


def _read_bones(path: PathLike, sections: dict, degrees: bool) -> dict[str, tuple[Bone, Array]]:
    """Name to the bone and its vector, from its beginning to its end, in our axes and the file's unit."""
    found: dict[str, tuple[Bone, Array]] = {}
    entry: dict[str, tuple[int, list[str]]] = {}
    for line, words in sections["bonedata"]:
        key = words[0].lower()
        if key == "begin":
            entry = {}
        elif key == "end":
            bone, vector = _read_bone(path, entry, line, degrees)
            if bone.name in found or bone.name == "root":
                raise FormatError(path, f"two bones are called '{bone.name}'; names must differ.", line=line)
            if len(found) >= MAX_JOINTS:
                raise FormatError(path, f"it has more than {MAX_JOINTS:,} bones.", line=line)
            found[bone.name] = bone, vector
        else:
            entry[key] = line, words[1:]
    return found


def _read_bone(path: PathLike, entry: dict, line: int, degrees: bool) -> tuple[Bone, Array]:
    missing = [key for key in ("name", "direction", "length", "axis") if not entry.get(key, (0, []))[1]]
    if missing:
        raise FormatError(path, f"this bone has no {' and no '.join(missing)}.", line=line)
    at, words = entry["axis"]
    angles = _numbers(path, words, 3, at, "axis")
    frame = turn(angles, _axes(path, words[3] if len(words) > 3 else "xyz", at), degrees)
    direction = _numbers(path, entry["direction"][1], 3, entry["direction"][0], "direction")
    length = _numbers(path, entry["length"][1], 1, entry["length"][0], "length")[0]
    dof = _dof(path, entry["dof"][1], entry["dof"][0]) if "dof" in entry else ()
    return Bone(entry["name"][1][0], frame, dof), direction[[2, 0, 1]] * length


def _read_tree(path: PathLike, sections: dict, bones: dict) -> tuple[list[str], list[int]]:
    """Names from the root outwards, depth first, and the place of each one's parent."""
    children: dict[str, list[str]] = {}
    owned: set[str] = {"root"}
    for line, words in sections["hierarchy"]:
        if words[0].lower() in ("begin", "end") and len(words) == 1:
            continue
        for name in words:
            if name not in bones:
                raise FormatError(path, f"the hierarchy names '{shown(name.encode())}', which is no bone.", line=line)
        twice = [name for name in words[1:] if name in owned]
        if twice or len(set(words)) < len(words):
            raise FormatError(path, f"'{(twice or words)[0]}' is placed twice in the hierarchy.", line=line)
        owned.update(words[1:])
        children.setdefault(words[0], []).extend(words[1:])
    order, parents, todo = [], [], [("root", -1)]
    while todo:
        name, parent = todo.pop()
        todo += [(child, len(order)) for child in reversed(children.get(name, []))]
        order.append(name)
        parents.append(parent)
    loose = sorted(set(bones) - set(order))
    if loose:
        warnings.warn(
            f"{path}: bones outside the hierarchy are not kept: {', '.join(loose[:5])}.", JostleWarning, stacklevel=4
        )
    return order, parents


def _unit(path: PathLike, skeleton: Skeleton, length: str) -> float:
    """Inches divided by the file's own unit of length, unless that makes no person of a person's skeleton."""
    scale = to_float(length.encode())
    if scale is None or not 1e-6 < scale < 1e6:
        raise FormatError(path, f"the unit of length is '{shown(length.encode())}'; it must be a positive number.")
    unit = INCH / scale
    if is_humanoid(skeleton) and not 0.9 < stature(skeleton) * unit < 2.5:
        return guess_unit(skeleton)
    return unit
