"""A recipe: what to optimise, as a small TOML file (docs/walking/optimising.md lists the keys).

    name = "uphill"
    body = "stocky"                # or a table: body = {height = 1.8, mass = 75}
    start = "walker:stocky"

    [[stage]]                      # a condition; each stage starts from the best of the one before
    slope_deg = 3
    step = 0.65
    generations = 60

    [[stage]]                      # what a stage does not say stays as in the stage before
    slope_deg = 6

Inside a stage the walks grow longer, `seconds = [4, 6, 10]`: as soon as the share `advance` of the population walks the
whole time, the next duration begins. At the last one the stage goes on for `generations`, or until nothing better has
been found for a long time (the stop rules of Wang 2010, section 3.3.3, are in `run.py`).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from jostle.body import Ground
from jostle.controllers.walker.parameters import GUIDED, SPACES, Space
from jostle.controllers.walker.people import PEOPLE, Person
from jostle.errors import BodyError, unknown_name
from jostle.files import read_bytes
from jostle.tuning.chance import Chance
from jostle.tuning.goal import TERMS, WEIGHTS, Goal
from jostle.tuning.schema import FLAG, Field, Where, each, either, number, read_table, some, table, text, whole, word
from jostle.types import PathLike

ABLATIONS = ("ratio", "ang", "head", "land", "power")  # section 3.4


@dataclass(frozen=True)
class Pushes:
    """Shoves on the torso from all sides while it walks; the cost of a walker is its mean over its walks."""

    force: float | tuple[float, float]  # newtons; two: the most that comes ahead or from there, and from the sides
    every: float = 4.0  # seconds from one push to the next
    duration: float = 0.4  # seconds
    trials: int = 4  # pushed walks of every candidate, each from other sides at other moments
    fresh: bool = False  # draw the sides anew in every generation? Otherwise once a stage
    calm: bool = False  # walk once more unpushed, and judge the gait by that walk alone?

    @property
    def walks(self) -> int:
        """Of every candidate at one time step."""
        return self.trials + self.calm


@dataclass(frozen=True)
class Stage:
    """One condition, and when it has been met."""

    seconds: tuple[float, ...] = (4.0, 6.0, 10.0)
    advance: float = 0.5  # of the population must walk the whole time
    generations: int | None = None  # at the last duration; None: until nothing better is found
    sigma: float | None = None  # at its start; None: the recipe's
    population: int | None = None  # None: the recipe's
    timestep_ms: tuple[float, ...] = (2.0,)  # several: walked at each, and the mean counts
    slope_deg: float = 0.0
    friction: float = 1.0
    beam: float | None = None  # metres that the ground is wide; None: as wide as one likes
    speed: float | None = None  # m/s; None: the cost of transport decides
    step: float | None = None  # m
    fastest: bool = False
    weights: Mapping[str, float] = field(default_factory=dict)  # of the objective, where they differ
    without: tuple[str, ...] = ()  # terms that are left out
    pushes: Pushes | None = None
    chance: Chance | None = None
    objective: str = "energy"  # of chapter 3; or "return", of chapter 4
    hold: Mapping[str, float] = field(default_factory=dict)  # parameters that keep this value and are not searched

    @property
    def fresh(self) -> bool:
        """Is what disturbs a walk drawn anew in every generation, so that a low cost may be luck?"""
        drawn = self.pushes or self.chance
        return drawn is not None and drawn.fresh

    @property
    def ground(self) -> Ground:
        return Ground(math.radians(self.slope_deg), self.friction, self.beam or 0.0)

    @property
    def goal(self) -> Goal:
        weights = {**self.weights, **dict.fromkeys(self.without, 0.0)}
        return Goal(self.speed, self.step, weights, self.fastest, self.objective)


@dataclass(frozen=True)
class Recipe:
    name: str = "walker"
    body: str | Person = "stocky"
    machine: str = "walker"
    seed: int = 0
    sigma: float = 0.4  # in the units of `Space.encode`
    population: int = 24
    covariance: str = "full"  # or "diagonal", which learns faster and less
    start: str | Mapping[str, float] = "initial"  # or "walker:NAME", or a .jostle file; or shares of several of these
    parameters: Mapping[str, float] = field(default_factory=dict)  # those of the start that are set by hand
    stages: tuple[Stage, ...] = (Stage(),)

    @property
    def person(self) -> Person:
        return PEOPLE[self.body] if isinstance(self.body, str) else self.body

    @property
    def space(self) -> Space:
        return SPACES[self.machine]

    def walkers(self, stage: int) -> int:
        """How many make a generation of this stage."""
        return self.stages[stage].population or self.population

    def to_dict(self) -> dict[str, Any]:
        """What `recipe_from` reads; plain data, without what is as by default."""
        kept = {key: value for key, value in asdict(self).items() if key != "stages"}
        return {**kept, "stage": [_plain(asdict(stage)) for stage in self.stages]}


def _plain(stage: dict[str, Any]) -> dict[str, Any]:
    return {**_as_json(stage), **_lifted(stage)}


def _as_json(table: dict[str, Any]) -> dict[str, Any]:
    """Lists for tuples, and nothing for None."""
    kinds = {tuple: list, dict: _as_json}
    return {key: kinds.get(type(value), lambda same: same)(value) for key, value in table.items() if value is not None}


def _lifted(stage: dict[str, Any]) -> dict[str, str]:
    return {key: word for key, word in _LIFTED.items() if stage[key] is None}


_PUSHES: dict[str, Field] = {
    "force": either(number(0.0, 2000.0), some(number(0.0, 2000.0), least=2, most=2)),
    "every": number(0.2, 60.0),
    "duration": number(0.01, 10.0),
    "trials": whole(1, 64),
    "fresh": FLAG,
    "calm": FLAG,
}
_CHANCE: dict[str, Field] = {
    "trials": whole(1, 100),
    "force": number(0.0, 2000.0),
    "gusts": number(0.0, 10.0),
    "duration": number(0.01, 10.0),
    "turn": number(0.0, 3.0),
    "turns": number(0.0, 10.0),
    "middle": number(0.2, 20.0),
    "noise": number(0.0, 1000.0),
    "friction": some(number(0.05, 2.0), least=2, most=2),
    "slope_deg": some(number(-30.0, 30.0), least=2, most=2),
    "after": either(
        text('"walker:NAME" or the path of a .jostle file', lambda value: _is_start(value) and value != "initial"),
        table("a table of parameters of a guided walker"),
    ),
    "switch": some(number(0.0, 20.0), least=2, most=2),
    "fresh": FLAG,
}
_STAGE: dict[str, Field] = {
    "seconds": either(number(0.1, 100.0), some(number(0.1, 100.0), least=1)),
    "advance": number(0.0, 1.0),
    "generations": whole(1, 100_000),
    "sigma": number(1e-6, 10.0),
    "population": whole(4, 4096),
    "timestep_ms": either(number(0.2, 3.0), some(number(0.2, 3.0), least=1)),
    "slope_deg": number(-30.0, 30.0),
    "friction": number(0.05, 2.0),
    "beam": either(number(0.2, 5.0), word(("none",))),
    "speed": either(number(0.1, 5.0), word(("any",))),
    "step": either(number(0.05, 2.0), word(("any",))),
    "fastest": FLAG,
    "weights": each(TERMS, number(0.0, 1e9)),
    "without": some(word(ABLATIONS)),
    "pushes": either(table("a table of force, every, duration, trials, fresh and calm"), word(("none",))),
    "chance": either(table("a table of what may happen, as docs/walking/optimising.md lists it"), word(("none",))),
    "objective": word(WEIGHTS),
    "hold": table("a table of parameters, as `jostle walk parameters` names them"),
}
# how a stage says that it no longer asks what others did
_LIFTED = {"speed": "any", "step": "any", "beam": "none", "pushes": "none", "chance": "none"}
_BODY: dict[str, Field] = {key.name: number(0.05, 1000.0) for key in fields(Person)}
_RECIPE: dict[str, Field] = {
    "name": text("a name without / and control characters", lambda name: 0 < len(name) <= 80 and _printable(name)),
    "body": either(word(PEOPLE), table("a table of height, mass, arms and legs")),
    "machine": word(SPACES),
    "seed": whole(0, 2**32 - 1),
    "sigma": number(1e-6, 10.0),
    "population": whole(4, 4096),
    "covariance": word(("full", "diagonal")),
    "start": either(
        text('"initial", "walker:NAME" or the path of a .jostle file', lambda value: _is_start(value)),
        table("a table of such walkers, each with its share"),
    ),
    "parameters": table("a table of parameters of the start, as `jostle walk parameters` names them"),
    "stage": some(table("a table headed [[stage]]")),
}


def _printable(name: str) -> bool:
    return name.isprintable() and "/" not in name and "\\" not in name


def _is_start(value: str) -> bool:
    return value == "initial" or value.removeprefix("walker:") != value != "walker:" or value.endswith(".jostle")


def read_recipe(path: PathLike) -> Recipe:
    """Read a recipe file; an error names the line, what stands there and what is allowed."""
    raw = read_bytes(path, limit=2**20)
    where = Where(path)
    try:
        source = raw.decode("utf-8")
        given = tomllib.loads(source)
    except UnicodeDecodeError:
        where.fail("a recipe is a text file in UTF-8; this is something else.")
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        where.fail(f"this is no TOML: {error}.")
    return recipe_from(given, Where(path, source))


def recipe_from(given: object, where: Where) -> Recipe:
    """A recipe from plain tables, checked."""
    values = read_table(given, _RECIPE, where)
    space = SPACES[values.get("machine", "walker")]
    stages: list[Stage] = []
    for index, own in enumerate(values.pop("stage", ()) or ({},)):
        stages.append(_stage(own, stages[-1] if stages else Stage(), space, where.within(index, f"stage {index + 1}")))
    if isinstance(values.get("body"), dict):
        values["body"] = _person(values["body"], where)
    if isinstance(values.get("start"), dict):
        values["start"] = _shares(values["start"], where)
    values["parameters"] = _parameters(values.get("parameters", {}), space, "parameters", where)
    return Recipe(**values, stages=tuple(stages))


def _parameters(given: Mapping[str, Any], space: Space, key: str, where: Where) -> dict[str, float]:
    for name, value in given.items():
        if name not in space.index:
            where.fail(unknown_name(f"parameter of a {space.kind}", name, space.names), key)
        known = space.parameters[space.index[name]]
        if isinstance(value, bool) or not isinstance(value, int | float) or not known.low <= value <= known.high:
            where.fail(f"'{name}' must be a number from {known.low:g} to {known.high:g}, not {value}.", key)
    return {name: float(value) for name, value in given.items()}


def _shares(given: dict, where: Where) -> dict[str, float]:
    """Of several walkers in one start. A share below zero leads away from a walker."""
    for name in given:
        if not _is_start(name) or name == "initial":
            where.fail(f"'{name}' of the start is neither \"walker:NAME\" nor the path of a .jostle file.", "start")
    own = Where(where.path, where.text, where.section, "the start")
    shares = read_table(given, dict.fromkeys(given, number(-2.0, 3.0)), own)
    if abs(sum(shares.values()) - 1.0) > 1e-3:
        where.fail(f"the shares of the start must make 1 together, not {sum(shares.values()):g}.", "start")
    return shares


def _person(given: dict, where: Where) -> Person:
    own = Where(where.path, where.text, where.section, "the body")
    values = read_table(given, _BODY, own)
    height = values.get("height", Person.height)
    values.setdefault("fallen", min(Person.fallen, 0.42 * height))  # the thesis's 0.7 m, less for the small
    try:
        return Person(**values)
    except BodyError as error:
        own.fail(str(error), "body")


def _stage(given: object, before: Stage, space: Space, where: Where) -> Stage:
    """What this stage says, and for the rest what the one before said."""
    own: dict[str, Any] = read_table(given, _STAGE, where)
    own |= {key: None for key, lifted in _LIFTED.items() if own.get(key) == lifted}
    if own.get("fastest") and own.get("speed") is not None:
        where.fail(f"{where.title} asks for the fastest walk and for a speed; keep one of them.", "fastest")
    own |= {"speed": None} if own.get("fastest") else {"fastest": False} if "speed" in own else {}
    if own.get("pushes") is not None and own.get("chance") is not None:
        where.fail(f"{where.title} has pushes and chance; keep one of them.", "chance")
    own |= {"chance": None} if own.get("pushes") is not None else {"pushes": None} if own.get("chance") else {}
    values = {key.name: getattr(before, key.name) for key in fields(Stage)} | own
    if values["objective"] != before.objective and "weights" not in own:
        values["weights"] = {}
    for name in values["weights"]:
        if name not in (known := WEIGHTS[values["objective"]]):
            where.fail(unknown_name(f"term of the {values['objective']}", name, known), "weights")
    for key in ("seconds", "timestep_ms"):
        if isinstance(values[key], float):
            values[key] = (values[key],)
    if list(values["seconds"]) != sorted(set(values["seconds"])):
        where.fail(f"'seconds' of {where.title} must grow from one duration to the next.", "seconds")
    if isinstance(values["pushes"], dict):
        values["pushes"] = _pushes(values["pushes"], where)
    if isinstance(values["chance"], dict):
        values["chance"] = _chance(values["chance"], where)
    if values["beam"] and values["chance"] is not None and values["chance"].slope_deg is not None:
        where.fail(f"{where.title} is on a beam, which chance cannot tilt; leave out its 'slope_deg'.", "chance")
    values["hold"] = _parameters(values["hold"], space, "hold", where)
    return Stage(**values)


def _chance(given: dict, where: Where) -> Chance:
    own = where.within(where.section, f"the chance of {where.title}")
    values = read_table(given, _CHANCE, own)
    if isinstance(values.get("after"), dict):
        values["after"] = _parameters(values["after"], GUIDED, "chance", own)
    chance = Chance(**values)
    if chance.switch[0] > chance.switch[1]:
        own.fail(f"'switch' of {own.title} is the earliest and the latest time; turn them round.", "chance")
    return chance


def _pushes(given: dict, where: Where) -> Pushes:
    own = where.within(where.section, f"the pushes of {where.title}")
    values = read_table(given, _PUSHES, own)
    if "force" not in values:
        own.fail(f"'force' is missing from {own.title}; it is in newtons.", "pushes")
    pushes = Pushes(**values)
    if pushes.duration >= pushes.every:
        own.fail(f"{own.title} last {pushes.duration:g} s but come every {pushes.every:g} s; leave a pause.", "pushes")
    return pushes
