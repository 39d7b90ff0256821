"""Everything in one folder: normal walks, `pushed` and `held_out` with a JSON beside each clip, and a summary."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from jostle.assets.walked.normal import normal_walks
from jostle.assets.walked.plan import Aim, Plan, aims, held_out_aims
from jostle.assets.walked.recovery import Habit, learn_habit
from jostle.assets.walked.stroll import FPS, Stroll, film, take_stroll
from jostle.assets.walked.trial import Trial, bear
from jostle.clips import save_clip
from jostle.controllers.walker.walker import Walker
from jostle.files import write_text
from jostle.runtime import save_recording
from jostle.types import PathLike

PUSHED, HELD_OUT, SUMMARY = "pushed", "held_out", "summary.json"
_DIGITS = 3  # of a degree and of a centimetre: hundredths of a millimetre


def write_walked(
    walker: Walker, folder: PathLike, plan: Plan | None = None, tell: Callable[[str], None] = lambda line: None
) -> dict[str, Any]:
    """Make the clips of a plan; returns the summary that is written beside them. `tell` hears of every clip."""
    plan, folder = plan or Plan(), Path(folder)
    stroll = take_stroll(walker, plan.settling, plan.known + plan.apart)
    habit = learn_habit(film(stroll.character, stroll.states, "stroll"), round(plan.known * FPS), plan.finest)
    summary = _about(walker, plan, stroll, habit)
    folder.mkdir(parents=True, exist_ok=True)
    for name, walk in normal_walks(stroll, plan).items():
        save_clip(walk, folder / f"{name}.bvh", digits=_DIGITS)
        summary["normal"][name] = walk.duration
        tell(f"{name}: {walk.duration:.1f} s")
    for name, wanted in ((PUSHED, aims(plan)), (HELD_OUT, held_out_aims(plan))):
        summary[name] = _write_pushed(folder / name, wanted, stroll, habit, plan, tell)
    write_text(folder / SUMMARY, json.dumps(summary, indent=1) + "\n")
    return summary


def _about(walker: Walker, plan: Plan, stroll: Stroll, habit: Habit) -> dict[str, Any]:
    return {
        "format": "jostle-walked",
        "version": 1,
        "walker": {"title": walker.title, "machine": walker.machine, "person": asdict(walker.person)},
        "plan": asdict(plan),
        "fps": FPS,
        "cycle": stroll.cycle / FPS,
        "usual": habit.usual,
        "normal": {},
    }


def _write_pushed(
    folder: Path, wanted: list[Aim], stroll: Stroll, habit: Habit, plan: Plan, tell: Callable[[str], None]
) -> dict[str, Any]:
    """One clip an aim; the summary counts what was tried, and lists what was not kept."""
    folder.mkdir(parents=True, exist_ok=True)
    tried, seconds = [], 0.0
    for index, aim in enumerate(wanted):
        trials = bear(stroll, habit, aim, plan)
        tried += trials
        seconds += save_trial(trials[-1], folder / f"{index:02}.bvh")
        tell(f"{folder.name}/{index:02}: {_sentence(trials)}")
    counts = Counter(trial.about["outcome"] for trial in tried)
    rejected = [trial.about for trial in tried if trial.recording is None]
    return {"kept": len(wanted), "tried": len(tried), "outcomes": counts, "seconds": seconds, "rejected": rejected}


def save_trial(trial: Trial, path: Path) -> float:
    """Write a push that was borne; returns the seconds that the clip lasts."""
    assert trial.recording is not None
    save_recording(replace(trial.recording, quality={}), path, trial.about, digits=_DIGITS)
    return trial.recording.duration


def _sentence(trials: list[Trial]) -> str:
    about = trials[-1].about
    push = f"{about['newtons']:.0f} N for {about['duration']:g} s on the {about['part']}"
    end = f"recovered after {about['recovered_after']:.1f} s"
    return f"{push} to {about['direction']:.0f} degrees, {end}; {len(trials)} tried"
