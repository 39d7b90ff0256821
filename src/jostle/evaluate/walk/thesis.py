"""What Wang 2010, chapter 3, reports: the figures that ours stand beside. Section 3.4 unless said otherwise."""

from __future__ import annotations

# Table 3.2: newtons of each component of the push, so 75 at (1, 1) is a force of (75, 75)
DIRECTIONS = {
    "forward": (1, 0),
    "forward_left": (1, 1),
    "left": (0, 1),
    "back_left": (-1, 1),
    "back": (-1, 0),
    "back_right": (-1, -1),
    "right": (0, -1),
    "forward_right": (1, -1),
}
_TABLE = {  # in the order of DIRECTIONS
    "short": (75, 75, 100, 50, 60, 40, 100, 75),
    "overweight": (1, 1, 25, 50, 75, 40, 20, 1),
    "tall": (20, 20, 200, 70, 120, 70, 200, 20),
    "stocky": (50, 65, 125, 75, 50, 50, 125, 50),
    "simbicon": (225, 150, 250, 100, 120, 100, 275, 125),
}
TOLERANCE = {name: dict(zip(DIRECTIONS, map(float, row), strict=True)) for name, row in _TABLE.items()}

PAPER = {
    "seconds_walked": {"stocky": 100.0},  # with E_ang, at 1.8 m/s
    "speed": {"stocky": 1.48, "tall": 1.79, "simbicon": 1.36},
    "power_share": {"stocky": [0.43, 0.05, 0.52]},  # of "short" at 1.0 m/s
    "e_power": {"stocky": 12059.0, "simbicon": 33392.0},
    "tolerance": TOLERANCE,
    "throughput": 1.0,  # "approximately real-time", on each of 19 processors (section 3.3.3)
    "ablations": {"no_ratio": {"knee_share": {"with": 0.05, "without": 0.21}}},
}
