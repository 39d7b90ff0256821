"""What Wang 2010, chapter 4, reports: the figures that ours stand beside."""

from __future__ import annotations

# The directions of tables 4.1 and 4.2: left and right count as one
ROWS = {
    "forward": ("forward",),
    "forward_diagonal": ("forward_left", "forward_right"),
    "side": ("left", "right"),
    "back_diagonal": ("back_left", "back_right"),
    "back": ("back",),
}
_TABLES = {  # newtons of each component, in the order of ROWS
    "push_0": (125, 75, 75, 25, 75),  # table 4.1
    "push_100": (175, 125, 125, 100, 200),
    "push_200": (275, 225, 325, 175, 350),
    "push_300": (375, 275, 375, 225, 325),
    "push_400": (425, 325, 475, 275, 375),
    "relaxed": (50, 50, 150, 25, 75),  # table 4.2
    "recovery_100": (125, 75, 175, 50, 125),
    "recovery_150": (200, 175, 175, 125, 125),
}
TOLERANCE = {name: dict(zip(ROWS, map(float, row), strict=True)) for name, row in _TABLES.items()}
APPLIED = ("heading", "beam", "ice_50", "ice_75", "ice_100", "mug_0", "mug_50", "mug_100")
PACES = {"stroll": 0.8, "relaxed": 1.6, "brisk": 2.4}  # m/s
TRANSITIONS = {  # shares that fail, of 500
    "brisk_to_relaxed": {"with": 0.014, "direct": 0.406},
    "brisk_to_stroll": {"with": 0.032, "direct": 0.476},
    "stroll_to_brisk": {"with": 0.022, "direct": 0.054},
    "relaxed_to_brisk": {"with": 0.058, "direct": 0.062},
}
UNTABLED = frozenset((*APPLIED, *PACES, *TRANSITIONS)) - frozenset(TOLERANCE)  # whose pushes the thesis does not tell
PAPER = {
    "transitions": TRANSITIONS,
    "tolerance": TOLERANCE,
    "com_height": {"push_0": 1.02, "push_400": 0.96},
    "e_power": {"push_0": 34671.0, "push_400": 194847.0},
}
