"""Circle dynamics (CDM): gaits whose state goes round at a constant pace. Wang 2010, 6.3.

Every clip has a subject s and a gait g, shared with the clips of the same label, a phase and a step:

    theta_t = theta_0 + t dtheta,   x_t = (cos theta_t, sin theta_t),   y = f(s, g, x) + noise    (6.15)

The state of all clips lies on one circle, so frames of different people and gaits correspond, which nobody has told
the model; that is what lets it complete, mix and change styles (`models.styles`), and continue a stranger's clip.

Learning begins at the phases of `cycle_phase`, without which it finds half and double periods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.errors import MotionError
from jostle.features import AngleFeatures, Placement, placement
from jostle.models import circle_latent, learn, sparse
from jostle.models.checks import check_clips, check_latent
from jostle.models.cycle_phase import find_cycle, thigh_swing
from jostle.models.factor_gp import FactorGp
from jostle.models.factors import Factors, Labels, first_styles, label
from jostle.models.gpdm_learning import ready
from jostle.models.judge import assemble, learning, tied
from jostle.models.learn import Watch
from jostle.skeleton import Pose
from jostle.types import Array, Float

STYLE = 3  # dimensions of a tied factor: enough for three subjects and three gaits (6.3)
_HARDLY = 0.7  # of a swing's variance: with less, a clip is hardly a cycle


@dataclass(frozen=True)
class CircleObjective:
    factors: Factors

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        theta = params["phase"][data["clip_of"]] + data["frame"] * params["step"][data["clip_of"]]
        z = assemble(tied(params, data, self.factors), circle(theta))
        fit = learning(self.factors, z, params, data)
        return fit.loss, fit.jitter


def circle(theta: Any) -> Any:
    """Points on the unit circle."""
    xp = theta.__array_namespace__()
    return xp.stack([xp.cos(theta), xp.sin(theta)], axis=-1)


@dataclass(frozen=True, eq=False)
class Circle:
    features: AngleFeatures
    gp: FactorGp
    labels: Labels
    styles: Mapping[str, Float[Array, "_ _"]]  # of each tied factor, a row for each label
    phase: Float[Array, "n"]  # theta_0 of each clip
    step: Float[Array, "n"]  # dtheta of each clip, radians a frame
    notes: tuple[str, ...] = ()

    kind = "circle"

    @property
    def latent_rows(self) -> Float[Array, "N Z"]:
        return self.gp.inputs

    @property
    def lengths(self) -> tuple[int, ...]:
        return self.gp.lengths

    @property
    def names(self) -> tuple[str, ...]:
        """Of the tied factors."""
        return self.gp.factors.names

    def style(self, **labels: str) -> Float[Array, "S"]:
        """The tied factors of these labels side by side; a factor that is not named is the mean of its labels."""
        for name in labels:
            self.labels.index(name, labels[name])
        parts = [
            self.styles[name][self.labels.index(name, labels[name])]
            if name in labels
            else self.styles[name].mean(axis=0)
            for name in self.names
        ]
        return np.concatenate(parts)

    def at(self, style: Float[Array, "*b S"], theta: Float[Array, "T"]) -> Float[Array, "T Z"]:
        """Latent positions of a style, or of one for each frame, at these phases."""
        wide = np.broadcast_to(style, (len(theta), style.shape[-1]))
        return np.concatenate([wide, circle(theta)], axis=1)

    def settle(self, rows: Float[Array, "T D"]) -> circle_latent.Place:
        """The most probable style, phase and step of rows that were seen."""
        swing = thigh_swing(self.features.decode(rows))
        return circle_latent.settle(self.gp, self.styles, self.step, rows, self.features.travel, swing)

    def latent(self, clip: Clip) -> Float[Array, "T Z"]:
        """By optimisation: one style, one phase and one step for the whole clip."""
        rows = self.features.encode(clip)
        place = self.settle(rows)
        return self.at(place.style, place.theta(np.arange(len(rows))))

    def pose(self, x: Float[Array, "*b Z"]) -> Pose:
        return self.features.pose(self.gp.mean(x))

    def variance(self, x: Float[Array, "*b Z"]) -> Float[Array, "*b"]:
        return self.gp.posterior.variance(x)

    def log_likelihood(self, clip: Clip) -> float:
        rows = self.features.encode(clip)
        place = self.settle(rows)
        return self.gp.log_likelihood(self.at(place.style, place.theta(np.arange(len(rows)))), rows)

    def continued(self, rows: Float[Array, "T D"], frames: int) -> Float[Array, "frames D"]:
        """Rows that follow: the circle goes on, and what these rows had of their own comes again where it belongs."""
        place = self.settle(rows)
        z = self.at(place.style, place.theta(np.arange(len(rows) + frames)))
        return self.gp.future(z[len(rows) :], z[: len(rows)], rows)

    def predict(self, start: Clip, frames: int) -> Clip:
        rows = self.features.encode(start)
        return follow(self.features, start, rows, self.continued(rows, frames))

    def rollout(self, start: Float[Array, "T Z"], frames: int) -> Float[Array, "frames Z"]:
        """The style stays; the step is that of the last two positions, or the mean one where there is one alone."""
        angles = np.arctan2(start[:, -1], start[:, -2])
        step = float(self.step.mean())
        if len(start) > 1:
            step = float(np.mod(angles[-1] - angles[-2], 2.0 * np.pi))
        return self.at(start[-1, :-2], angles[-1] + step * np.arange(1, frames + 1))

    def motion(self, x: Float[Array, "T Z"], at: Placement | None = None) -> Clip:
        return self.features.decode(self.gp.mean(x), at)

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        features, arrays = self.features.pack()
        gp, more = self.gp.pack()
        data = {
            "features": features,
            "gp": gp,
            "notes": list(self.notes),
            "labels": {k: list(v) for k, v in self.labels.of.items()},
        }
        tables = {f"style_{name}": table for name, table in self.styles.items()}
        return data, arrays | _prefixed(more) | tables | {"phase": self.phase, "step": self.step}

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> Circle:
        features = AngleFeatures.unpack(data["features"], arrays)
        gp = FactorGp.unpack(data["gp"], unprefixed(arrays))
        labels, styles = unpack_styles(data["labels"], arrays, gp)
        phase, step, count = arrays["phase"], arrays["step"], len(gp.lengths)
        sound = phase.shape == step.shape == (count,) and np.all(np.isfinite(phase)) and np.all(step > 0)
        if not sound or gp.factors.state != 2 or gp.rows.shape[1] != len(features.names):
            raise MotionError("The arrays of this circle model do not belong together.")
        return cls(features, gp, labels, styles, phase, step, tuple(str(note) for note in data["notes"]))


def follow(features: AngleFeatures, start: Clip, given: Float[Array, "T D"], rows: Float[Array, "n D"]) -> Clip:
    """Rows that continue a clip, as a clip that begins a frame after it."""
    whole = features.decode(np.concatenate([given[-1:], rows]), placement(start, -1), start.skeleton)
    return whole.with_poses(whole.poses.rows(slice(1, None))).renamed(f"{start.name} continued")


def _prefixed(arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {f"gp_{name}": array for name, array in arrays.items()}


def unprefixed(arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {name.removeprefix("gp_"): array for name, array in arrays.items() if name.startswith("gp_")}


def unpack_styles(
    given: Mapping[str, Sequence[str]], arrays: Mapping[str, Array], gp: FactorGp
) -> tuple[Labels, dict[str, Array]]:
    labels = Labels({name: tuple(str(x) for x in given[name]) for name in gp.factors.names})
    styles = {name: arrays[f"style_{name}"] for name in gp.factors.names}
    for name, size in zip(gp.factors.names, gp.factors.dims, strict=True):
        right = styles[name].shape == (len(labels.values(name)), size) and len(labels.of[name]) == len(gp.lengths)
        if not right or not np.all(np.isfinite(styles[name])):
            raise MotionError(f"The table of '{name}' in this model does not belong to its labels.")
    return labels, styles


def fit_circle(
    clips: Sequence[Clip],
    *,
    subjects: Sequence[str] | None = None,
    gaits: Sequence[str] | None = None,
    more: Mapping[str, Sequence[str]] | None = None,
    dimensions: int = STYLE,
    fps: float = 30.0,
    iterations: int = 300,
    seed: int = 0,
    watch: Watch | None = None,
) -> Circle:
    """Circle dynamics of clips of cyclic gaits; `more` are further tied factors, with a label for each clip."""
    clips = check_clips(clips, same_bones=False)
    labels, notes = label(clips, subjects, gaits, more)
    features = AngleFeatures.of(clips, fps)
    rows = [features.encode(clip) for clip in clips]
    cycles = [find_cycle(features.decode(r), r) for r in rows]
    loose = [clip.name for clip, cycle in zip(clips, cycles, strict=True) if cycle.explained < _HARDLY]
    if loose:
        notes.append(f"Hardly a cycle, so their phase may be wrong: {', '.join(loose)}.")
    factors = Factors(labels.names, (dimensions,) * len(labels.names), 2)
    check_latent(dimensions, sum(map(len, rows)), len(features.names), "number of dimensions")
    lengths = tuple(map(len, rows))
    made = ready(np.concatenate(rows), lengths, 1)
    start = first_styles(labels, factors.dims, np.random.default_rng(seed)) | {
        "phase": np.array([cycle.phase for cycle in cycles]), "step": np.array([cycle.step for cycle in cycles]),
        "log_gamma": np.zeros(len(factors.kernel.names)), "log_noise": np.array(np.log(0.05)),
    }  # fmt: skip
    data = circle_data(labels, lengths) | {"Y": made.Y, "kappa": np.array(made.kappa)}
    chosen = sparse.choose(_inputs(factors, start, data), seed)
    if chosen is not None:
        data["chosen"] = chosen
    watch = watch or Watch()
    watch.plan(iterations)
    bounds = {"log_gamma": (-6.0, 4.0), "log_noise": (-12.0, 1.0), "step": (1e-3, 3.0)}
    found = learn.minimise(CircleObjective(factors), start, data, iterations, bounds=bounds, watch=watch)
    p = found.params
    gp = FactorGp(factors, np.exp(p["log_gamma"]), float(np.exp(p["log_noise"])), _inputs(factors, p, data),
                  np.concatenate(rows), lengths, chosen)  # fmt: skip
    notes += [*features.notes, *learnt_notes(found, chosen)]
    return Circle(features, gp, labels, {n: p[n] for n in labels.names}, p["phase"], p["step"], tuple(notes))


def circle_data(labels: Labels, lengths: Sequence[int]) -> dict[str, Array]:
    """Which row belongs to which clip, frame and label."""
    clip_of = np.repeat(np.arange(len(lengths)), lengths)
    frame = np.concatenate([np.arange(length) for length in lengths]).astype(float)
    return {"clip_of": clip_of, "frame": frame} | {f"{n}_of": labels.numbers(n)[clip_of] for n in labels.names}


def _inputs(factors: Factors, p: Mapping[str, Array], data: Mapping[str, Array]) -> Float[Array, "N Z"]:
    theta = p["phase"][data["clip_of"]] + data["frame"] * p["step"][data["clip_of"]]
    return np.concatenate([*tied(p, data, factors), circle(theta)], axis=1)


def learnt_notes(found: learn.Learnt, chosen: Array | None) -> list[str]:
    notes = [found.trouble] if found.trouble else []
    if found.jitter > 0:
        notes.append(f"A covariance needed {found.jitter:.1g} added to its diagonal.")
    if chosen is not None:
        notes.append(f"{len(chosen)} of the frames stand for all of them.")
    return notes
