"""`jostle.fit`: any model by its name, and where it came from.

A model knows what it learnt, not from which files. That is remembered beside it for as long as it lives, so that a
bundle can say it: `origin(model)`.
"""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from jostle.clips import Clip
from jostle.clips.checks.frames import check_dropped_root, check_t_pose
from jostle.clips.pack import clip_hash
from jostle.errors import JostleWarning, MotionError, unknown_name
from jostle.models.checks import check_clips

if TYPE_CHECKING:
    from jostle.models.learn import Watch
    from jostle.models.model import MotionModel


@dataclass(frozen=True)
class Known:
    """A model of this room: where it is made, and what must hold of its clips."""

    module: str
    cls: str
    about: str
    same_bones: bool = False
    least: int = 4  # frames of each clip


KNOWN: dict[str, Known] = {
    "responsive": Known(
        "jostle.models.responsive",
        "Responsive",
        "scaled GPLVM with back constraints and second-order dynamics (Ye & Liu 2010)",
        True,
    ),
    "gpdm": Known("jostle.models.gpdm", "Gpdm", "Gaussian process dynamical model (Wang 2010, chapter 5)"),
    "bgpdm": Known("jostle.models.gpdm", "Gpdm", "the same, its dynamics weighted for smooth paths"),
    "multifactor": Known(
        "jostle.models.multifactor", "Multifactor", "subject, gait and state as factors (Wang 2010, chapter 6)"
    ),
    "circle": Known("jostle.models.circle", "Circle", "multifactor with its state on a circle: continues a clip best"),
    "connected": Known(
        "jostle.models.connected",
        "Connected",
        "connected GPLVM: pose and velocity, one well-knit graph (Levine et al. 2012)",
        True,
    ),
}


@dataclass(frozen=True)
class Origin:
    """What a model was learnt from, and how."""

    clips: tuple[tuple[str, str], ...] = ()  # name and hash
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)


_origins: WeakKeyDictionary[Any, Origin] = WeakKeyDictionary()


def fit(
    clips: Iterable[Clip], model: str = "responsive", *, seed: int = 0, watch: Watch | None = None, **options: Any
) -> MotionModel:
    """Learn a model of motion from clips: "responsive", "gpdm", "bgpdm", "multifactor", "circle" or "connected".

    `options` are those of the model's own function (`options_of` lists them); none is needed. `watch` sees how far
    learning is, and keeps a journal from which it can be taken up again.
    """
    known = _known(model)
    given = check_clips(clips, least=known.least, same_bones=known.same_bones)
    _warn_of_frames(given)
    learn = _function(model)
    _check_options(model, options, seed)
    learnt = learn(given, **options, seed=seed, watch=watch)
    said = json.loads(json.dumps(options, default=str))  # as a bundle can say it
    remember(learnt, Origin(tuple((clip.name, clip_hash(clip)) for clip in given), seed, said))
    return learnt


def _check_options(model: str, options: Mapping[str, Any], seed: int) -> None:
    """What a model does not have, or not of this kind."""
    parameters = inspect.signature(_function(model)).parameters
    for name, value in options.items():
        if name not in (allowed := options_of(model)):
            raise MotionError(unknown_name(f"{model} option", name, allowed))
        kind, default = str(parameters[name].annotation).removesuffix(" | None"), allowed[name]
        fits, words = _KINDS.get(kind, (lambda value: True, ""))
        if not (fits(value) or (value is None and default is None)):
            such = f" such as {default}" if default is not None and kind != "bool" else ""
            raise MotionError(f"The {model} option '{name}' is {words}{such}, not {value!r}.")
    if options.get("iterations", 1) < 1:
        raise MotionError(f"Learning takes at least one iteration, not {options['iterations']}.")
    if seed < 0:
        raise MotionError(f"A seed is a whole number from 0, not {seed}.")


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return (_whole(value) or isinstance(value, (float, np.floating))) and bool(np.isfinite(value))


# annotation -> what a value must be, and in words
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "int": (_whole, "a whole number"),
    "float": (_number, "a number"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
}


def _warn_of_frames(clips: Iterable[Clip]) -> None:
    """Frames that are no motion would be learnt as if they were: they are told, not dropped."""
    for clip in clips:
        for finding in check_t_pose(clip) + check_dropped_root(clip):
            told = f"Clip '{clip.name}': {finding.sentence} `jostle clips check --fix` mends a copy."
            warnings.warn(told, JostleWarning, stacklevel=3)


def options_of(model: str) -> dict[str, Any]:
    """What may be chosen for a model, with its defaults."""
    parameters = list(inspect.signature(_function(model)).parameters.values())[1:]
    return {p.name: p.default for p in parameters if p.name not in ("seed", "watch")}


def origin(model: object) -> Origin:
    """What a model was learnt from; nothing for one that was made by hand."""
    return _origins.get(model, Origin())


def remember(model: object, where_from: Origin) -> None:
    _origins[model] = where_from


def unpack(kind: str, data: dict[str, Any], arrays: dict[str, Any]) -> MotionModel:
    """The inverse of a model's own `pack`."""
    known = _known(kind)
    return getattr(import_module(known.module), known.cls).unpack(data, arrays)


def _known(model: str) -> Known:
    if model not in KNOWN:
        raise MotionError(unknown_name("model", model, KNOWN))
    return KNOWN[model]


def _function(model: str) -> Callable[..., Any]:
    return getattr(import_module(_known(model).module), f"fit_{model}")
