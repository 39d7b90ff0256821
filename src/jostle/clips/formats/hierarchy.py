"""The HIERARCHY section of a BVH file, word by word.

Words, not lines: exporters put braces wherever they like. Only a name may hold blanks, so it runs to the end of its
line or to the brace. A stack takes the place of recursion: two thousand nested joints are odd, not fatal.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from jostle.clips.formats.text import MAX_NUMBER, decode, shown, to_float
from jostle.errors import FormatError, JostleWarning
from jostle.types import PathLike

MAX_JOINTS = 2_000
_WORD = re.compile(rb"[{}]|[^\s{}]+")
_CHANNEL = re.compile(rb"([XYZ])(position|rotation|scale)$", re.IGNORECASE)


@dataclass
class Joint:
    """One ROOT or JOINT. A channel is a kind and an axis: 'px' is Xposition, 'rz' Zrotation, 'sy' Yscale."""

    name: str
    parent: int
    offset: tuple[float, ...] = ()
    channels: tuple[str, ...] | None = None


@dataclass
class Tree:
    """The joints in the file's order, and the end sites with the joints that carry them."""

    joints: list[Joint] = field(default_factory=list)
    ends: list[tuple[int, tuple[float, ...]]] = field(default_factory=list)


def parse_hierarchy(path: PathLike, header: bytes) -> Tree:
    """The tree that everything before MOTION describes."""
    parser = _Parser(path, header)
    parser.run()
    _make_unique(path, parser.tree.joints)
    return parser.tree


class _Parser:
    def __init__(self, path: PathLike, header: bytes) -> None:
        self.path = path
        self.lines = enumerate(header.split(b"\n"), start=1)
        self.line, self.words = 0, iter([b""][:0])
        self.tree = Tree()
        self.open: list[int | None] = []  # joints whose braces are open; None is an end site
        self.handlers: dict[bytes, Callable[[], None]] = {
            b"ROOT": self.root,
            b"JOINT": self.joint,
            b"END": self.end_site,
            b"ENDSITE": self.end_site,
            b"OFFSET": self.offset,
            b"CHANNELS": self.channels,
            b"}": self.close,
        }

    def run(self) -> None:
        self.take("HIERARCHY")
        for word in self.rest():
            handler = self.handlers.get(word.upper())
            if handler is None:
                raise self.error(f"'{shown(word)}' was not expected; ROOT, JOINT, End Site, OFFSET or CHANNELS was.")
            handler()
        if self.open:
            raise self.error("a '}' is missing before MOTION; export the file again.")
        if not self.tree.joints:
            raise self.error("there is no ROOT; export the file again.")

    def rest(self) -> Iterator[bytes]:
        """The words from here to the end of the header."""
        while True:
            yield from self.words
            try:
                self.line, text = next(self.lines)
            except StopIteration:
                return
            self.words = iter(_WORD.findall(text))

    def take(self, what: str) -> bytes:
        word = next(self.rest(), None)
        if word is None:
            raise self.error(f"the hierarchy ends where {what} was expected; export the file again.")
        return word

    def error(self, problem: str) -> FormatError:
        return FormatError(self.path, problem, line=self.line)

    def here(self, what: str) -> int:
        """The joint whose braces we are in."""
        if not self.open or self.open[-1] is None:
            raise self.error(f"this {what} belongs to no joint; a brace is missing or misplaced.")
        return self.open[-1]

    def name(self) -> str:
        """The rest of the line up to '{', which is taken too, on this line or the next."""
        words = []
        for word in self.words:
            if word == b"{":
                break
            words.append(word)
        else:
            if self.take("'{'") != b"{":
                raise self.error("'{' was expected after the joint's name.")
        return decode(b" ".join(words))

    def root(self) -> None:
        if self.tree.joints:
            raise self.error("a second ROOT begins here; split the file so that each figure has its own.")
        self.add(-1)

    def joint(self) -> None:
        self.add(self.here("JOINT"))

    def add(self, parent: int) -> None:
        index = len(self.tree.joints)
        if index >= MAX_JOINTS:
            raise self.error(f"it has more than {MAX_JOINTS:,} joints; remove those that you do not need.")
        self.tree.joints.append(Joint(self.name() or f"joint{index}", parent))
        self.open.append(index)

    def end_site(self) -> None:
        self.here("End Site")
        self.name()
        self.open.append(None)

    def offset(self) -> None:
        found = tuple(to_float(self.take("a number")) for _ in range(3))
        numbers = tuple(n for n in found if n is not None and abs(n) <= MAX_NUMBER)
        if len(numbers) < 3:
            raise self.error(f"OFFSET needs three finite numbers, none beyond {MAX_NUMBER:g}.")
        if self.open and self.open[-1] is None:
            self.tree.ends.append((self.open[-2] or 0, numbers))
        else:
            self.tree.joints[self.here("OFFSET")].offset = numbers

    def channels(self) -> None:
        joint = self.tree.joints[self.here("CHANNELS list")]
        if joint.channels is not None:
            raise self.error(f"joint '{joint.name}' has two CHANNELS lists; remove one.")
        count = self.take("the number of channels")
        if not re.fullmatch(rb"0*\d", count):
            raise self.error(f"a joint has 0 to 9 channels, not '{shown(count)}'.")
        joint.channels = tuple(self.channel(int(count)) for _ in range(int(count)))
        if len({c for c in joint.channels if c[0] != "r"}) < sum(c[0] != "r" for c in joint.channels):
            raise self.error(f"joint '{joint.name}' lists a position channel twice.")

    def channel(self, count: int) -> str:
        word = self.take("a channel")
        match = _CHANNEL.match(word)
        if match is None:
            raise self.error(f"'{shown(word)}' is no channel; {count} like Xposition or Zrotation were expected.")
        return (match[2][:1] + match[1]).decode().lower()

    def close(self) -> None:
        if not self.open:
            raise self.error("there is a '}' too many.")
        joint = self.open.pop()
        if joint is not None and not self.tree.joints[joint].offset:
            raise self.error(f"joint '{shown(self.tree.joints[joint].name.encode())}' has no OFFSET.")


def _make_unique(path: PathLike, joints: list[Joint]) -> None:
    """Hand, Hand becomes Hand, Hand_2, with a warning."""
    names = [joint.name for joint in joints]
    taken, number = set(names), dict.fromkeys(names, 1)
    seen: set[str] = set()
    renamed = []
    for joint, name in zip(joints, names, strict=True):
        if name in seen:
            while joint.name in taken:
                number[name] += 1
                joint.name = f"{name}_{number[name]}"
            taken.add(joint.name)
            renamed.append(joint.name)
        seen.add(name)
    if renamed:
        listed = ", ".join(renamed[:5]) + (", …" if len(renamed) > 5 else "")
        warnings.warn(f"{path}: joints share a name; the later are now {listed}.", JostleWarning, stacklevel=4)
