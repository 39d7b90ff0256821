"""What a check says: one sentence, how bad, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
KINDS = ("nan", "t-pose", "dropped-root", "gap", "flip", "frozen", "unit", "rate", "ground", "skate", "in-place")


@dataclass(frozen=True)
class Finding:
    """An error spoils everything done with the clip, a warning spoils some of it, a note is good to know."""

    kind: str  # one of KINDS
    severity: Severity
    sentence: str
    remedy: str = ""
    frames: tuple[tuple[int, int], ...] = ()  # stretches: the first frame and the one after the last
    joints: tuple[str, ...] = ()
    value: float | None = None  # the number that `fix` works with: frames a second, a factor of length, a height
    repairs: tuple[tuple[int, int, int], ...] = ()  # for flips: joint, first frame, frame after the last

    def to_dict(self) -> dict[str, object]:
        """Plain values, for JSON."""
        return asdict(self)


def spell_frames(stretches: Iterable[tuple[int, int]], most: int = 4) -> str:
    """`frames 0-1 and 17`, `frame 5`, `frames 3, 9, 12, 20 and 31 more`."""
    listed = list(stretches)
    words = [str(a) if b == a + 1 else f"{a}-{b - 1}" for a, b in listed[:most]]
    if len(listed) > most:
        words.append(f"{len(listed) - most} more")
    joined = words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}"
    single = len(listed) == 1 and listed[0][1] == listed[0][0] + 1
    return f"frame {joined}" if single else f"frames {joined}"


def spell_names(names: Iterable[str], most: int = 4) -> str:
    listed = list(names)
    shown = listed[:most] + ([f"{len(listed) - most} more"] if len(listed) > most else [])
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" and {shown[-1]}"
