"""The motion model of Ye & Liu 2010, section 3.1: a latent space of poses, and what happens next in it.

Two problems, one after the other. `models.back` learns where poses lie, L_P; then X is known, and what remains are the
four hyperparameters of its second-order dynamics,

    L_D = d/2 ln|K_D| + 1/2 tr(K_D^-1 X_out X_out') + ln beta_D alpha_D gamma_1 gamma_2                        (3)

(without M d/2 ln(2 pi); rows of X_in and X_out are those that follow each other within one clip: a seam between clips
is no transition). Departures, each of which the paper's form lacks for a walk that goes on (`paper=True` has it):

- X_out holds steps x_t - x_{t-1}, not positions. Far from data the mean of a Gaussian process is zero: the character
  should then stand still, not jump into the middle of the latent space.
- Where the dynamics does not know (s^2 near alpha_D), it is blended with the way to where the nearest two training
  frames went on, or it would stand still for good.
- What `models.back_learning` tells of L_P: w at most 10 per metre, noise of 5 mm, X of unit spread afterwards.

The mean that is subtracted is that of whole cycles of the normal motion, as in the paper: a clip that shows one and a
half steps would have a mean that limps. `normal` says which clip that is; unless told, the first that has a cycle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.clips.cycle import find_cycle
from jostle.clips.seam import added, difference, velocity
from jostle.errors import MotionError
from jostle.features.bodies import PACE, BodyFeatures, Frame
from jostle.features.features import Placement, fitted
from jostle.maths import spring
from jostle.models import checks, learn, sparse
from jostle.models.back import BackGplvm
from jostle.models.back_learning import fit_gplvm, learn_notes
from jostle.models.kernels import Kernel, second_order
from jostle.models.latent_dynamics import Dynamics, LatentDynamics
from jostle.models.learn import Watch
from jostle.skeleton import Pose
from jostle.types import Array, Float

NOISE = 0.005  # metres: how finely poses are told apart; less, and stances 2 cm apart become islands
MOST = 10.0  # per metre: the largest w_d
POSE_ITERATIONS, STEP_ITERATIONS = 60, 60
PAIRS = 1000  # that hyperparameters of the dynamics are learnt from, where there are more than are exact
_SEAM = 0.15  # seconds: halflife of what differs between a clip and its continuation


@dataclass(frozen=True)
class SecondOrder(LatentDynamics):
    """Two rows before, and the kernel k_D of Appendix A."""

    order: int = 2
    steps: bool = True

    @property
    def kernel(self) -> Kernel:
        return second_order(self.q)


@dataclass(frozen=True)
class Transitions:
    """L_D of known positions: (3). Parameter log_alpha (alpha_D, gamma_1, gamma_2, 1/beta_D); data X and its rows."""

    dynamics: SecondOrder

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        fit = self.dynamics.loss(data["X"], params["log_alpha"], data)  # with 1/2 |x|^2 of first frames: a constant
        return fit.loss + self.dynamics.prior(params["log_alpha"]), fit.jitter


@dataclass(frozen=True, eq=False)
class Responsive:
    features: BodyFeatures
    poses: BackGplvm
    log_alpha: Float[Array, "4"]  # of the dynamics
    lengths: tuple[int, ...]
    notes: tuple[str, ...] = ()
    paper: bool = False  # positions for steps, and no blending

    kind = "responsive"

    @property
    def latent_rows(self) -> Float[Array, "N Q"]:
        return self.poses.x

    @cached_property
    def dynamics(self) -> Dynamics:
        settings = SecondOrder(self.poses.x.shape[1], steps=not self.paper)
        chosen = _transitions(settings, self.poses.x, self.lengths).get("pairs")
        return Dynamics(settings, self.poses.x, self.lengths, self.log_alpha, chosen)

    def latent(self, clip: Clip) -> Float[Array, "T Q"]:
        """Through the back map, at the rate of the features."""
        return self.poses.encode(self.features.encode(clip))

    def pose(self, x: Float[Array, "*b Q"]) -> Pose:
        return self.features.pose(self.poses.decode(x))

    def variance(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b"]:
        return self.poses.variance(x)

    def log_likelihood(self, clip: Clip) -> float:
        return self.poses.log_likelihood(self.features.encode(clip))

    def next(self, past: Float[Array, "2 Q"]) -> Float[Array, "Q"]:
        """The mean of the row after these two, with the way back to the data where the mean knows nothing."""
        ahead = self.dynamics.next(past)
        if self.paper:
            return ahead
        p = self.dynamics.posterior
        pair = past.reshape(-1)
        lost = float(p.variance(pair)) / p.hypers[0]  # s^2 / alpha_D: 0 on the data, 1 far from all
        nearest = int(np.argmin(np.sum((p.inputs - pair) ** 2, axis=1)))
        return (1.0 - lost) * ahead + lost * self._successors[nearest]

    def rollout(self, start: Float[Array, "T Q"], frames: int) -> Float[Array, "frames Q"]:
        """Where mean prediction leads from the last two rows."""
        path = [*self.dynamics.past(start)]
        for _ in range(frames):
            path.append(self.next(np.stack(path[-2:])))
        return np.array(path[2:]).reshape(frames, start.shape[1])

    def motion(self, x: Float[Array, "T Q"], at: Placement | None = None) -> Clip:
        return self.features.decode(self.poses.decode(x), at)

    def predict(self, start: Clip, frames: int) -> Clip:
        """The frames that follow, at the rate of the features: mean prediction, from where the clip is and how it
        moves. What differs between its last frame and the model's pose there decays.
        """
        if frames < 1:
            raise MotionError(f"A continuation has at least one frame; {frames} were asked for.")
        given = fitted(start, self.features.skeleton, self.features.fps)
        if given.frame_count < 2:
            raise MotionError(f"Clip '{start.name}' is too short to be continued: how it moves shows in two frames.")
        x = self.latent(given)
        rows = self.poses.decode(np.concatenate([x[-1:], self.rollout(x, frames)]))
        ahead = self.features.decode(rows, self.features.placement(given), start.name)
        gap = difference(given.pose(-1), ahead.pose(0))
        rush = velocity(given, given.frame_count - 1) - velocity(ahead, 0)
        time = np.arange(1, ahead.frame_count) * ahead.dt
        return ahead.with_poses(added(ahead.poses.rows(slice(1, None)), spring.decay(gap, rush, _SEAM, time)))

    @cached_property
    def _successors(self) -> Float[Array, "M Q"]:
        """Where each input of the dynamics went on."""
        now, chosen = self.dynamics.settings.rows(self.lengths)["now"], self.dynamics.chosen
        return self.poses.x[now if chosen is None else now[chosen]]

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        features, own = self.features.pack()
        poses, arrays = self.poses.pack()
        data = {"features": features, "poses": poses, "lengths": list(self.lengths), "notes": list(self.notes)}
        named = {f"features_{name}": array for name, array in own.items()}
        named |= {f"poses_{name}": array for name, array in arrays.items()}
        return data | {"paper": self.paper}, named | {"log_alpha": self.log_alpha}

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> Responsive:
        def own(prefix: str) -> dict[str, Array]:
            return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}

        features = BodyFeatures.unpack(data["features"], own("features_"))
        poses = BackGplvm.unpack(data["poses"], own("poses_"))
        lengths = tuple(int(n) for n in data["lengths"])
        log_alpha, notes = arrays["log_alpha"], tuple(str(note) for note in data["notes"])
        fits = sum(lengths) == len(poses.rows) and len(features.names) == len(poses.centre)
        if not (fits and log_alpha.shape == (4,) and np.all(np.isfinite(log_alpha)) and all(n > 0 for n in lengths)):
            raise MotionError("The parts of this model do not fit each other; the bundle is damaged.")
        return cls(features, poses, log_alpha, lengths, notes, bool(data["paper"]))


def fit_responsive(
    clips: Sequence[Clip],
    *,
    latent: int = 3,
    normal: int | None = None,
    frame: Frame | None = None,
    headings: Sequence[float | None] | None = None,
    pace: float = PACE,
    noise: float = NOISE,
    iterations: int = POSE_ITERATIONS,
    paper: bool = False,
    seed: int = 0,
    watch: Watch | None = None,
) -> Responsive:
    """Learn poses and their dynamics. `normal` is the clip (from 0) whose cycles give the mean; `frame` says whether
    clips are aligned once ("clip") or in every frame ("heading"), and `headings` where each goes, if its travel does
    not tell; `pace` weighs velocities (`features.bodies`); `noise` is in metres; `paper` departs in nothing.
    """
    given = checks.check_clips(clips, least=4, same_bones=True)
    watch = watch or Watch()
    watch.plan(iterations + STEP_ITERATIONS)
    features = BodyFeatures.of(given, frame, pace=pace)
    if headings is not None and len(headings) != len(given):
        raise MotionError(f"There are {len(given)} clips and {len(headings)} headings; give one for each.")
    ways = [None] * len(given) if headings is None else headings
    rows = [features.encode(clip, heading) for clip, heading in zip(given, ways, strict=True)]
    centre, notes = _centre(given, rows, features, normal)
    lengths = tuple(len(part) for part in rows)
    stacked = np.concatenate(rows)
    size = float(np.sqrt(np.mean((stacked - centre) ** 2)))
    poses = fit_gplvm(
        stacked, latent, names=features.names, centre=centre, most=MOST * size, noise=(noise * MOST) ** 2,
        iterations=iterations, paper=paper, seed=seed, watch=watch,
    )  # fmt: skip
    log_alpha, more = _learn_dynamics(poses.x, lengths, paper, watch)
    if features.frame == "heading":
        notes.append("These clips turn, so every frame is seen in its own heading; straight walks will slowly veer.")
    return Responsive(features, poses, log_alpha, lengths, (*notes, *poses.notes, *more), paper)


def _transitions(settings: SecondOrder, x: Float[Array, "N Q"], lengths: tuple[int, ...]) -> dict[str, Array]:
    """Which rows follow which, and where there are very many, which of these stand for all: the same ones every time,
    so that no bundle need say it.
    """
    data = {"X": x, **settings.rows(lengths)}
    chosen = sparse.choose(settings.pairs(x, data["past"], data["now"])[0])
    return data if chosen is None else data | {"pairs": chosen}


def _learn_dynamics(
    x: Float[Array, "N Q"], lengths: tuple[int, ...], paper: bool, watch: Watch
) -> tuple[Float[Array, "4"], list[str]]:
    settings = SecondOrder(x.shape[1], steps=not paper)
    start = np.zeros(4) if paper else settings.start()  # alpha_D = beta_D = 1
    low, high = settings.bounds
    data = _transitions(settings, x, lengths)
    if data.pop("pairs", None) is not None:
        # Not by the bound of `sparse`: in many dimensions few pairs stand for little of the others, and the bound is
        # then highest where all is noise. A part of the pairs, exactly, tells what all would.
        part = np.unique(np.linspace(0, len(data["now"]) - 1, PAIRS).round().astype(np.int64))
        data |= {"past": data["past"][part], "now": data["now"][part]}
    bounds = {"log_alpha": (float(low[0]), float(high[0]))}
    found = learn.minimise(
        Transitions(settings), {"log_alpha": start}, data, STEP_ITERATIONS, bounds=bounds, watch=watch, stage="dynamics"
    )
    return found.params["log_alpha"], learn_notes(found)


def _centre(
    clips: Sequence[Clip], rows: Sequence[Float[Array, "_ D"]], features: BodyFeatures, normal: int | None
) -> tuple[Float[Array, "D"], list[str]]:
    """The mean of whole cycles of the normal motion, and a note where there is none."""
    if normal is not None and not 0 <= normal < len(clips):
        raise MotionError(
            f"The normal motion is one of the {len(clips)} clips, from 0 to {len(clips) - 1}, not {normal}."
        )
    for i in range(len(clips)) if normal is None else [normal]:
        try:
            cycle = find_cycle(fitted(clips[i], features.skeleton, features.fps), None)
        except MotionError:
            continue
        return rows[i][cycle.start : cycle.end].mean(axis=0), []
    asked = "none of the clips" if normal is None else f"clip '{clips[normal].name}'"
    return np.concatenate(rows).mean(axis=0), [f"The mean is that of all frames, because {asked} shows a whole cycle."]
