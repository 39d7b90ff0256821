"""What is optimised: the parameters of a walker, with names, units, scales and bounds (Wang 2010, table 3.1).

A walker is symmetric: its parameters are written for a left swing leg and a right stance leg, and hold for the mirror
image in every other step. State 0 begins at foot strike, state 1 at the push-off of the stance ankle.

    kp, kd      30 angles x 2 states; the rows of the stance hip (rhip) hold the gains that keep the torso upright
    target      the 11 angles that are not fixed to zero, x 2 states, and the stance toe in state 1
    feedback    c_d, c_v in the sagittal and the coronal plane
    rhythm      alpha_arm of (3.2), c_trans
    start       15 angles, pitch and height of the pelvis, and their velocities, v_x and v_z

make the 184 of the thesis. SIMBICON has a duration in place of c_trans, feedback for each state, and no coupled arms.
A guided walker (section 4.3.1) shares gains of the upper body, elbow targets and how far arms are spread between
all states and sides, and learns with alpha_hip of (4.3) how to turn: 144. A reactive walker is a guided one that is
given, the states that are typical of it, and a second controller for all other states (4.16), which is searched: 110.
A paced walker is ours: a guided one that steps by the clock, with feedback for each state, as SIMBICON does: 148. A
poised walker, ours too, is a paced one that does not only step against a drift to the side: it presses with its stance
ankle, leans, and on a beam keeps to the middle: 166.

Table 3.1 cannot be taken literally: as it can be read, knees bend both ways, a swing ankle turns by 3 rad, and
c_trans = 0.01 ends state 0 before the swing leg has passed. The initial values here keep its gains and its push-off and
differ where those do (docs/walking.md has both side by side).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from jostle.controllers.walker.joints import ANGLES
from jostle.errors import CommandError, unknown_name
from jostle.types import Array, Float, Int

_FREE_TARGETS = ("back_y", "back_z", "neck_y", "lelbow_y", "relbow_y", "lhip_y", "lknee_y", "lankle_y")
_FREE_TARGETS += ("rhip_y", "rknee_y", "rankle_y")  # rhip_y: the lean of the torso
_START_ANGLES = ("back_y", "back_z", "neck_y", "larm_y", "lelbow_y", "rarm_y", "relbow_y")
_START_ANGLES += ("lhip_y", "lknee_y", "lankle_y", "ltoe_y", "rhip_y", "rknee_y", "rankle_y", "rtoe_y")

_STIFFNESS = {  # angle or joint -> kp in states 0 and 1, N m/rad; table 3.1
    "back": (300, 300), "neck": (100, 100), "larm": (30, 30), "rarm": (30, 30), "lelbow": (30, 30),
    "relbow": (30, 30), "lhip": (1000, 1000), "rhip": (1000, 1000), "lknee": (300, 50), "lankle_x": (30, 50),
    "lankle_y": (300, 300), "ltoe": (20, 20), "rknee": (150, 500), "rankle_x": (100, 100),
    "rankle_y": (300, 300), "rtoe": (20, 20),
}  # fmt: skip
_TARGETS = {  # radians in states 0 and 1
    "lhip_y": (-0.7, -0.5), "lknee_y": (0.9, 0.05), "lankle_y": (0.3, -0.3), "rknee_y": (0.1, 0.1),
    "rankle_y": (0.0, 0.6), "lelbow_y": (-0.2, -0.2), "relbow_y": (-0.2, -0.2),
}  # fmt: skip
_START = {"lhip_y": (-0.4, -2.0), "lknee_y": (1.0, 0.0), "rhip_y": (0.0, 1.0), "rknee_y": (0.1, 0.0)}
_START |= {"rankle_y": (0.0, -1.0), "lelbow_y": (-0.2, 0.0), "relbow_y": (-0.2, 0.0)}  # angle, rate

# SIMBICON (Yin et al. 2007), the walk of its table 1 in these angles; hips and trunk as stiff as there
_YIN_STIFFNESS = {"back": 300, "neck": 100, "larm": 30, "rarm": 30, "lelbow": 30, "relbow": 30, "lhip": 300}
_YIN_STIFFNESS |= {"rhip": 300, "lknee": 300, "lankle": 100, "ltoe": 20, "rknee": 300, "rankle": 300, "rtoe": 20}
_YIN_TARGETS = {
    "lhip_y": (-0.5, -0.1), "lknee_y": (1.1, 0.05), "lankle_y": (-0.2, -0.2), "rknee_y": (0.05, 0.1),
    "rankle_y": (-0.1, -0.1), "lelbow_y": (-0.2, -0.2), "relbow_y": (-0.2, -0.2),
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """One number of a walker. `scale` is a step that matters: of its logarithm where `log`."""

    name: str
    unit: str
    initial: float
    scale: float
    low: float
    high: float
    log: bool = False
    given: bool = False  # not searched


@dataclass(frozen=True, eq=False)
class Reaction:
    """What is done in states that are not typical (4.16): their features are far from the mean, by their spread."""

    gains: Gains  # of the recovery controller
    mean: Float[Array, "B 4"]  # of d and v, sagittal and coronal each
    spread: Float[Array, "B 4"]
    kappa: Float[Array, "B"]  # a density: below it the recovery controller acts


@dataclass(frozen=True, eq=False)
class Gains:
    """A batch of walkers unpacked: what the controller reads at every step."""

    kp: Float[Array, "B 2 30"]  # N m/rad
    kd: Float[Array, "B 2 30"]  # N m s/rad
    target: Float[Array, "B 2 30"]  # rad
    c_d: Float[Array, "B 2 2"]  # state, plane (sagittal, coronal); rad/m
    c_v: Float[Array, "B 2 2"]  # rad s/m
    alpha_arm: Float[Array, "B"]
    alpha_hip: Float[Array, "B 2 2"]  # state, and where to: the side of the swing leg, of the stance leg (4.3); 1/s
    switch: Float[Array, "B"]  # from state 0 to 1: metres (c_trans), or seconds where the machine is timed
    angles: Float[Array, "B 30"]  # at the start
    rates: Float[Array, "B 30"]
    pitch: Float[Array, "B"]
    lift: Float[Array, "B"]  # of the lowest point of the feet above the ground
    velocity: Float[Array, "B 3"]
    pitch_rate: Float[Array, "B"]
    reaction: Reaction | None = None
    poise: Float[Array, "B 2 3 3"] | None = None  # state; swing hip, torso, stance ankle; on d, v and m, coronal


@dataclass(frozen=True, eq=False)
class Space:
    """The parameters of one kind of walker, in order."""

    kind: str  # "walker", "simbicon", "guided", "paced", "poised" or "reactive"
    parameters: tuple[Parameter, ...]

    def __len__(self) -> int:
        return len(self.parameters)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters)

    @cached_property
    def index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @property
    def initial(self) -> Float[Array, "P"]:
        return np.array([p.initial for p in self.parameters])

    @cached_property
    def searched(self) -> Int[Array, "n"]:
        """Where the parameters stand that a search may change."""
        return np.flatnonzero([not p.given for p in self.parameters])

    @property
    def start_speed(self) -> int:
        """Where the speed of the start stands."""
        return self.index["velocity.x" if "velocity.x" in self.index else f"{BASE}velocity.x"]

    @cached_property
    def _log(self) -> Array:
        return np.array([p.log for p in self.parameters])

    @cached_property
    def _is_gain(self) -> Array:
        return np.array([p.name.removeprefix(BASE).startswith(("kp", "kd")) for p in self.parameters])

    @cached_property
    def _scale(self) -> Float[Array, "P"]:
        return np.array([p.scale for p in self.parameters])

    @cached_property
    def _bounds(self) -> Float[Array, "2 P"]:
        return np.array([[p.low, p.high] for p in self.parameters]).T

    def encode(self, values: Float[Array, "*n P"]) -> Float[Array, "*n P"]:
        """To the optimiser's coordinates: one unit is one `scale`, of the logarithm for gains."""
        safe = np.where(self._log, np.maximum(values, 1e-12), 1.0)
        return np.where(self._log, np.log(safe), values) / self._scale

    def decode(self, units: Float[Array, "*n P"]) -> Float[Array, "*n P"]:
        """Back to parameters, put inside their bounds."""
        scaled = np.asarray(units) * self._scale
        values = np.where(self._log, np.exp(np.where(self._log, np.minimum(scaled, 50.0), 0.0)), scaled)
        return np.clip(values, *self._bounds)

    def named(self, values: Float[Array, "P"]) -> dict[str, float]:
        return {name: float(value) for name, value in zip(self.names, values, strict=True)}

    def vector(self, given: Mapping[str, float]) -> Float[Array, "P"]:
        """The initial values with those of `given` in their place."""
        values = self.initial
        for name, value in given.items():
            if name not in self.index:
                raise CommandError(unknown_name("parameter of a walker", name, self.names))
            if not np.isfinite(value):
                raise CommandError(f"The parameter '{name}' must be a finite number, not {value}.")
            values[self.index[name]] = value
        return np.clip(values, *self._bounds)

    def for_mass(self, values: Float[Array, "P"], ratio: float) -> Float[Array, "P"]:
        """Gains scaled for a heavier or lighter body (section 3.3.3)."""
        return np.clip(np.where(self._is_gain, values * ratio, values), *self._bounds)

    def between(self, walkers: Float[Array, "n P"], shares: Float[Array, "n"]) -> Float[Array, "P"]:
        """A blend of walkers: the mean of their coordinates, weighed with shares that make 1."""
        return self.decode(shares @ self.encode(walkers))

    @cached_property
    def _at(self) -> dict[str, Int[Array, "..."]]:
        """Where each group of parameters stands; -1 for what is fixed to zero."""
        at = {}
        for group in ("kp", "kd", "target"):
            at[group] = np.array([[self._find(group, s, a) for a in ANGLES] for s in (0, 1)])
        at["alpha_hip"] = np.array([[self.index.get(f"alpha_hip{s}.{to}", -1) for to in SIDES] for s in (0, 1)])
        for group in ("c_d", "c_v"):
            own = [f"{group}.{plane}" for plane in ("sagittal", "coronal")]
            at[group] = np.array([[self.index.get(n, self.index.get(f"{n}{s}", -1)) for n in own] for s in (0, 1)])
        of = ("c_d", "c_v", "c_m")
        at["poise"] = np.array([[[self.index.get(f"{c}.{p}{s}", -1) for c in of] for p in POISED_BY] for s in (0, 1)])
        for group in ("angle", "rate"):
            at[group] = np.array([self.index.get(f"{group}.{a}", -1) for a in ANGLES])
        return at

    def _find(self, group: str, state: int, angle: str) -> int:
        """Where a servo's number stands: its own, or the one that it shares with other states and the other side."""
        return self.index.get(f"{group}{state}.{angle}", self.index.get(f"{group}.{shared(angle)}", -1))

    def adopt(self, named: Mapping[str, float]) -> Float[Array, "P"]:
        """The parameters of another kind of walker in this one; the mean where several become one."""
        values = self.initial
        for i, p in enumerate(self.parameters):
            group, _, angle = p.name.partition(".")
            sources = [p.name] if p.name in named else _apart(group, angle)
            found = np.array([named[source] for source in sources if source in named])
            if len(found):
                values[i] = np.exp(np.log(np.maximum(found, 1e-12)).mean()) if p.log else found.mean()
        return np.clip(values, *self._bounds)

    def unpack(self, values: Float[Array, "B P"]) -> Gains:
        if self.kind == "reactive":
            return _reactive_gains(values)
        padded = np.concatenate([values, np.zeros((len(values), 1))], axis=1)  # -1 finds the zero
        grouped = {group: padded[:, at] for group, at in self._at.items()}
        grouped["target"] *= _SPREAD
        one = {name: padded[:, self.index.get(name, -1)] for name in _SINGLE}
        velocity = np.stack([one["velocity.x"], np.zeros(len(values)), one["velocity.z"]], axis=1)
        switch = one["c_trans"] + one["duration"]  # a kind has one of them
        return Gains(
            grouped["kp"], grouped["kd"], grouped["target"], grouped["c_d"], grouped["c_v"], one["alpha_arm"],
            grouped["alpha_hip"], switch,
            grouped["angle"], grouped["rate"], one["pitch"], one["lift"], velocity, one["pitch_rate"],
            poise=grouped["poise"] if self.kind == "poised" else None,
        )  # fmt: skip


SIDES = ("swing", "stance")
POISED_BY = ("thigh", "torso", "ankle")  # of a swing leg, and of a stance leg; the thigh's c_d and c_v are coronal
BASE = "base."  # names of the walker that a reactive one is made from begin with this
FEATURES = ("d.sagittal", "d.coronal", "v.sagittal", "v.coronal")  # by which a state is typical or not
_UPPER = ("back", "neck", "arm", "elbow")


def shared(angle: str) -> str:
    """What both sides call an angle of the upper body: `arm_x` for `larm_x`."""
    return angle[1:] if angle[1:].startswith(("arm", "elbow")) else angle


def _apart(group: str, angle: str) -> list[str]:
    """The parameters that a shared one stands for."""
    return [f"{group}{state}.{own}" for state in (0, 1) for own in ANGLES if shared(own) == angle]


# Arms are spread by one number: to the left on the left, to the right on the right. No other shared target has a side.
_SPREAD = np.array([-1.0 if angle == "rarm_x" else 1.0 for angle in ANGLES])

_SINGLE = ("alpha_arm", "c_trans", "duration", "pitch", "lift", "velocity.x", "velocity.z", "pitch_rate")


def _stiffness(table: Mapping[str, int | tuple[int, int]], angle: str, state: int) -> float:
    """Of an angle in a state: its own, or that of its joint."""
    kp = table[angle] if angle in table else table[angle.rsplit("_", 1)[0]]
    return float(kp[state] if isinstance(kp, tuple) else kp)


def _servos(stiffness: Mapping[str, int | tuple[int, int]], targets: Mapping) -> list[Parameter]:
    made = []
    for state in (0, 1):
        start = {angle: _stiffness(stiffness, angle, state) for angle in ANGLES}
        for angle, kp in start.items():
            made.append(Parameter(f"kp{state}.{angle}", "N m/rad", kp, 0.4, 0.5, 5000.0, log=True))
        for angle, kp in start.items():
            made.append(Parameter(f"kd{state}.{angle}", "N m s/rad", 0.1 * kp, 0.4, 0.05, 500.0, log=True))
        free = [*_FREE_TARGETS, "rtoe_y"] if state == 1 else _FREE_TARGETS
        for angle in free:
            aim = float(targets.get(angle, (0.0, 0.0))[state])
            made.append(Parameter(f"target{state}.{angle}", "rad", aim, 0.1, -2.5, 2.5))
    return made


def _start() -> list[Parameter]:
    made = []
    for angle in _START_ANGLES:
        made.append(Parameter(f"angle.{angle}", "rad", _START.get(angle, (0.0, 0.0))[0], 0.1, -2.0, 2.0))
    for angle in _START_ANGLES:
        made.append(Parameter(f"rate.{angle}", "rad/s", _START.get(angle, (0.0, 0.0))[1], 0.4, -15.0, 15.0))
    return [
        *made,
        Parameter("pitch", "rad", 0.05, 0.05, -0.5, 0.5),
        Parameter("lift", "m", 0.0, 0.01, -0.02, 0.1),
        Parameter("velocity.x", "m/s", 1.3, 0.1, 0.0, 4.0),
        Parameter("velocity.z", "m/s", 0.0, 0.1, -1.0, 1.0),
        Parameter("pitch_rate", "rad/s", 0.0, 0.3, -4.0, 4.0),
    ]


def _walker_space() -> Space:
    feedback = [
        Parameter("c_d.sagittal", "rad/m", 0.0, 0.1, -2.0, 3.0),
        Parameter("c_v.sagittal", "rad s/m", 0.0, 0.05, -1.0, 1.5),
        Parameter("c_d.coronal", "rad/m", 0.2, 0.1, -1.0, 3.0),
        Parameter("c_v.coronal", "rad s/m", 0.2, 0.05, -0.5, 1.5),
        Parameter("alpha_arm", "rad/rad", 1.0, 0.2, -3.0, 3.0),
        Parameter("c_trans", "m", 0.16, 0.03, -0.3, 0.5),
    ]
    return Space("walker", (*_servos(_STIFFNESS, _TARGETS), *feedback, *_start()))


def _by_the_clock() -> list[Parameter]:
    """Feedback for each state, and how long state 0 lasts (Yin et al. 2007)."""
    feedback = [
        Parameter(f"{gain}.{plane}{state}", unit, first, step, -1.0, 3.0)
        for state in (0, 1)
        for gain, unit, first, step in (("c_d", "rad/m", (0.3, 0.5)[state], 0.1), ("c_v", "rad s/m", 0.2, 0.05))
        for plane in ("sagittal", "coronal")
    ]
    return [*feedback, Parameter("duration", "s", 0.3, 0.03, 0.05, 0.8)]


def _simbicon_space() -> Space:
    return Space("simbicon", (*_servos(_YIN_STIFFNESS, _YIN_TARGETS), *_by_the_clock(), *_start()))


def _is_shared(name: str) -> bool:
    """Do all states and both sides of a guided walker have one of these? Gains of the upper body, elbow targets."""
    group, _, angle = name.partition(".")
    return shared(angle).startswith(_UPPER) and (
        group[:2] in ("kp", "kd") or (group[:-1] == "target" and "elbow" in angle)
    )


def _guided_space() -> Space:
    """The walker's parameters, those of the upper body shared; arms that are spread, and how to turn (4.3.1)."""
    upper = [name for name in dict.fromkeys(shared(angle) for angle in ANGLES) if name.startswith(_UPPER)]
    first = {f"{g}.{name}": WALKER.index[_apart(g, name)[0]] for g in ("kp", "kd") for name in upper}
    gains = [replace(WALKER.parameters[i], name=name) for name, i in first.items()]
    arms = [
        Parameter("target.elbow_y", "rad", -0.2, 0.1, -2.5, 2.5),
        Parameter("target.arm_x", "rad", 0.0, 0.1, -0.2, 1.5),
    ]
    kept = [p for p in WALKER.parameters if not _is_shared(p.name)]
    turning = [Parameter(f"alpha_hip{s}.{to}", "1/s", 1.0, 0.3, 0.0, 20.0) for s in (0, 1) for to in SIDES]
    return Space("guided", (*gains, *arms, *kept, *turning))


def _paced_space() -> Space:
    """The guided walker's parameters around SIMBICON's values, with its feedback and its clock."""
    values = SIMBICON.named(SIMBICON.initial)
    adopted = dict(zip(GUIDED.names, GUIDED.adopt(values), strict=True))
    kept = [replace(p, initial=float(adopted[p.name])) for p in GUIDED.parameters if p.name not in _IN_STEP]
    still = [replace(p, initial=0.0) if p.name == "alpha_arm" else p for p in kept]
    return Space("paced", (*still, *_by_the_clock()))


def _poised_space() -> Space:
    """The paced walker's parameters, aims to the side for swing thigh and stance ankle, and what answers a drift."""
    made = []
    for s in (0, 1):
        made += [Parameter(f"target{s}.{angle}", "rad", 0.0, 0.05, -0.5, 0.5) for angle in ("lhip_x", "rankle_x")]
        made.append(Parameter(f"c_m.thigh{s}", "rad/m", 0.0, 0.2, -3.0, 3.0))
        for place, scale, most in (("torso", 0.2, 3.0), ("ankle", 0.5, 8.0)):
            made.append(Parameter(f"c_d.{place}{s}", "rad/m", 0.0, scale, -most, most))
            made.append(Parameter(f"c_v.{place}{s}", "rad s/m", 0.0, scale, -most, most))
            made.append(Parameter(f"c_m.{place}{s}", "rad/m", 0.0, scale, -most, most))
    return Space("poised", (*PACED.parameters, *made))


def _reactive_space() -> Space:
    """A guided walker, its typical states, and a second set of gains and targets; it has one start state."""
    base = [replace(p, name=BASE + p.name, given=True) for p in GUIDED.parameters]
    units = ("m", "m", "m/s", "m/s")
    mean = [Parameter(f"typical.{f}", u, 0.0, 0.1, -5.0, 5.0, given=True) for f, u in zip(FEATURES, units, strict=True)]
    spread = [
        Parameter(f"spread.{f}", u, 0.1, 0.1, 1e-4, 5.0, log=True, given=True)
        for f, u in zip(FEATURES, units, strict=True)
    ]
    recovery = [p for p in GUIDED.parameters if not p.name.startswith(_OF_START)]
    kappa = Parameter("kappa", "s2/m4", float(np.exp(-7.0)), 1.0, 1e-12, 1e6, log=True)
    return Space("reactive", (*base, *mean, *spread, *recovery, kappa))


def recast(title: str, kind: str, values: Float[Array, "P"], to: Space) -> Float[Array, "G"]:
    """The parameters of a walker, called `title` where it cannot be, as those of a guided, a paced or a poised one."""
    kin = {PACED: SIMBICON, POISED: PACED}.get(to, WALKER)
    if kind not in (kin.kind, to.kind):
        raise CommandError(f"'{title}' is a {kind}; a {to.kind} walker is made from a {kin.kind} or another {to.kind}.")
    return to.adopt(SPACES[kind].named(values))


def _reactive_gains(values: Float[Array, "B P"]) -> Gains:
    own = REACTIVE.index
    base = GUIDED.unpack(values[:, [own[BASE + name] for name in GUIDED.names]])
    recovery = GUIDED.unpack(values[:, [own.get(name, own[BASE + name]) for name in GUIDED.names]])
    mean, spread = (values[:, [own[f"{group}.{f}"] for f in FEATURES]] for group in ("typical", "spread"))
    return replace(base, reaction=Reaction(recovery, mean, spread, values[:, own["kappa"]]))


def reactive(values: Float[Array, "G"], mean: Float[Array, "4"], spread: Float[Array, "4"]) -> Float[Array, "P"]:
    """A reactive walker from a guided one with these typical states; it recovers, to begin with, by walking on."""
    named = GUIDED.named(values)
    given = {BASE + name: value for name, value in named.items()}
    given |= {f"typical.{f}": float(m) for f, m in zip(FEATURES, mean, strict=True)}
    given |= {f"spread.{f}": float(s) for f, s in zip(FEATURES, spread, strict=True)}
    return REACTIVE.vector(given | {name: value for name, value in named.items() if name in REACTIVE.index})


_IN_STEP = {f"{gain}.{plane}" for gain in ("c_d", "c_v") for plane in ("sagittal", "coronal")} | {"c_trans"}
_OF_START = ("angle.", "rate.", "pitch", "lift", "velocity.")
WALKER, SIMBICON = _walker_space(), _simbicon_space()
GUIDED = _guided_space()
PACED = _paced_space()
POISED = _poised_space()
REACTIVE = _reactive_space()
SPACES = {space.kind: space for space in (WALKER, SIMBICON, GUIDED, PACED, POISED, REACTIVE)}


def table_rows(space: Space, values: Float[Array, "P"]) -> Sequence[tuple[str, ...]]:
    """Rows in the shape of table 3.1: angle, then kp, kd and target in states 0 and 1; when recovering, if it does."""
    gains, rows = space.unpack(values[None]), []
    gains = gains if gains.reaction is None else gains.reaction.gains
    for i, angle in enumerate(ANGLES):
        shown = "torso" + angle[4:] if angle.startswith("rhip") else angle
        cells = [group[0, state, i] for state in (0, 1) for group in (gains.kp, gains.kd, gains.target)]
        rows.append((shown, *(f"{cell:.4g}" for cell in cells)))
    return rows
