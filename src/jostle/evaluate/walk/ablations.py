"""What each term of the objective does: walkers optimised without it beside the same with it (Wang 2010, section 3.4).

They lie in the folder of shipped walkers under `ablations`: NAME.jostle without the term, and all_terms.jostle, which
began at the same walker and went on for as long, with every term.
"""

from __future__ import annotations

from typing import Any

from jostle import assets
from jostle.evaluate.walk.subjects import Subject, read_subject

# name -> the figure that shows the thesis's effect
EFFECTS = {
    "no_ratio": "knee_share",
    "no_ang": "arm_leg",
    "no_head": "head_acceleration",
    "no_land": "E_land",
    "no_power": "e_power",
    "fastest": "speed",
}


def find_pairs() -> dict[str, tuple[Subject, Subject]]:
    """Name to (without, with), for those that are shipped."""
    folder = assets.walker_folder() / "ablations"
    if not (folder / "all_terms.jostle").is_file():
        return {}
    usual = read_subject(str(folder / "all_terms.jostle"))
    shipped = {name: folder / f"{name}.jostle" for name in EFFECTS}
    return {name: (read_subject(str(path)), usual) for name, path in shipped.items() if path.is_file()}


def effect(name: str, without: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """The figure that should change, with the term and without it; and how long each walked."""
    figure = EFFECTS[name]
    return {
        figure: {"with": _figure(usual, figure), "without": _figure(without, figure)},
        "seconds_walked": {"with": usual["seconds_walked"], "without": without["seconds_walked"]},
    }


def _figure(row: dict[str, Any], figure: str) -> float | None:
    return row["power_share"][1] if figure == "knee_share" else row.get(figure)
