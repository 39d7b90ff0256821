"""What each term of the objective does: walkers optimised without it beside the same with it (Wang 2010, section 3.4).

They lie in the folder of shipped walkers under `ablations`: NAME.jostle without the term, and all_terms.jostle, which
began at the same walker and went on for as long, with every term. A term that a good walk already meets changes nothing
when it is left out; so `no_ang` begins with arms that hang still, and `arms` is what becomes of those with every term;
`no_head` and `head` begin with a loose neck.
"""

from __future__ import annotations

from typing import Any

from jostle import assets
from jostle.evaluate.walk.subjects import Subject, read_subject

# name -> the figures that show the thesis's effect
EFFECTS = {
    "no_ratio": ("knee_share",),
    "no_ang": ("arm_leg", "turning_torque"),
    "no_head": ("head_acceleration", "head_speed_sd"),
    "no_land": ("E_land",),
    "no_power": ("e_power",),
    "fastest": ("speed",),
}
_BESIDE = {"no_ang": "arms", "no_head": "head"}  # whom each is compared with, where it is not all_terms


def find_pairs() -> dict[str, tuple[Subject, Subject]]:
    """Name to (without, with), for those that are shipped."""
    folder = assets.walker_folder() / "ablations"
    found = {}
    for name in EFFECTS:
        pair = [folder / f"{one}.jostle" for one in (name, _BESIDE.get(name, "all_terms"))]
        if all(path.is_file() for path in pair):
            found[name] = (read_subject(str(pair[0])), read_subject(str(pair[1])))
    return found


def effect(name: str, without: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """The figures that should change, with the term and without it; and how long each walked."""
    shown = (*EFFECTS[name], "seconds_walked")
    return {figure: {"with": _figure(usual, figure), "without": _figure(without, figure)} for figure in shown}


def _figure(row: dict[str, Any], figure: str) -> float | None:
    return row["power_share"][1] if figure == "knee_share" else row.get(figure)
