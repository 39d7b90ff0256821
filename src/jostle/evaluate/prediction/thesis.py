"""What tables 6.1 and 6.2 of Wang 2010 report, and of which clips."""

from __future__ import annotations

TRAINING = {"02_02": "walk", "02_03": "run", "35_01": "walk", "35_18": "run", "08_01": "walk", "08_07": "stride"}
RUNS = ("16_35", "09_07")
SHORT_CLIPS = ("07_04", "07_12", "37_01")

MODELS = ("gpdm", "stylistic_gpdm", "bgpdm", "stylistic_bgpdm", "cdm")
LONG = {  # table 6.1, in the order of MODELS
    "07_02": (1.56, 0.91, 1.75, 0.76, 0.38),
    "08_04": (1.18, 0.48, 1.30, 0.97, 0.47),
    "08_05": (1.91, 0.56, 1.29, 0.57, 1.77),
    "08_11": (2.42, 1.06, 1.52, 1.36, 0.80),
    "07_04": (1.10, 1.10, 1.17, 1.32, 0.72),
    "07_12": (1.45, 1.06, 1.39, 0.78, 0.57),
    "37_01": (1.04, 0.75, 0.98, 0.91, 0.35),
    "16_35": (1.41, 0.53, 0.55, 0.40, 0.39),
    "09_07": (1.34, 0.49, 0.87, 0.67, 0.57),
}
SHORT_MODELS = ("bgpdm", "stylistic_bgpdm", "cdm")
SHORT = {"07_04": (1.21, 0.92, 1.12), "07_12": (1.48, 0.88, 1.14), "37_01": (1.00, 0.70, 0.85)}  # table 6.2
AVERAGE = dict(zip(MODELS, (1.49, 0.77, 1.20, 0.86, 0.67), strict=True))

PAPER = {
    **AVERAGE,
    "ratio_cdm": AVERAGE["cdm"] / AVERAGE["gpdm"],
    "ratio_gpdm": AVERAGE["stylistic_gpdm"] / AVERAGE["gpdm"],
    "ratio_bgpdm": AVERAGE["stylistic_bgpdm"] / AVERAGE["bgpdm"],
    "norm": {clip: dict(zip(MODELS, row, strict=True)) for clip, row in LONG.items()},
    "short": {clip: dict(zip(SHORT_MODELS, row, strict=True)) for clip, row in SHORT.items()},
}
