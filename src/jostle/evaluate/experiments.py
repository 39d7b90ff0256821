"""The experiments by name. Each takes a `Request` and gives a `Report`; its room is opened when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from jostle.errors import CommandError, FileError, unknown_name
from jostle.evaluate.report import Report

# name -> where it lives, and what it measures
EXPERIMENTS = {
    "walk": ("jostle.evaluate.walk.experiment", "how people walk in simulation: Wang 2010, chapter 3"),
    "robustness": (
        "jostle.evaluate.robustness.experiment",
        "what walkers bear that are made to: Wang 2010, chapter 4",
    ),
    "prediction": (
        "jostle.evaluate.prediction.experiment",
        "how models continue the clips of strangers: Wang 2010, chapter 6",
    ),
    "response": (
        "jostle.evaluate.response.experiment",
        "what characters do that learnt to answer pushes from a few clips: Ye & Liu 2010",
    ),
    "compliance": (
        "jostle.evaluate.compliance.experiment",
        "how any clip gives way to small pushes and comes back: Ye & Liu 2008",
    ),
    "control": (
        "jostle.evaluate.control.experiment",
        "how characters are steered after a few seconds of motion, beside other methods: Levine et al. 2012",
    ),
    "reconstruction": (
        "jostle.evaluate.reconstruction.experiment",
        "how poses that were not seen go through a latent space, and where it leads: Ye & Liu 2010",
    ),
}


def _silent(done: float, total: float) -> None:
    """Progress nobody asked for."""


@dataclass(frozen=True)
class Request:
    """What is asked of an experiment."""

    data: Path | None = None  # a folder of motion capture
    seed: int = 0
    quick: bool = False  # fewer trials: under a minute on two cores
    plots: Path | None = None  # a folder for pictures
    subjects: tuple[str, ...] = ()  # what to measure, by name or file; empty: all that is shipped
    checkpoint: Path | None = None  # finished parts are kept here, and not measured again
    workers: int = 0  # processes; 0: as many as there are processors
    progress: Callable[[float, float], None] = _silent

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise CommandError(f"A seed is a whole number from 0, not {self.seed}.")
        for folder in (self.data, self.plots):
            if folder is not None and not folder.is_dir():
                raise FileError(folder, "there is no such folder; make it first, or name another.")


def evaluate(name: str, request: Request) -> Report:
    """Run the experiment of this name."""
    if name not in EXPERIMENTS:
        raise CommandError(unknown_name("experiment", name, EXPERIMENTS))
    return import_module(EXPERIMENTS[name][0]).run(request)
