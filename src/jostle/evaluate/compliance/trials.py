"""What is done to a take. Every function gives plain data, and is run by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from jostle.body import build_body, compile_body
from jostle.clips import Clip, load_clip
from jostle.clips.edit import resample, trim_frames
from jostle.controllers import NEUTRAL, Command, Push, Start
from jostle.controllers.compliant.actuation import NEAR, Actuation, actuation_of
from jostle.controllers.compliant.compliant import FPS, Compliant, compliant_clip
from jostle.controllers.compliant.joints import TRUNK, upper_kinds
from jostle.controllers.compliant.objectives import UP, Upright
from jostle.evaluate.compliance.takes import Run, Walker, source_clip, walker
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, find_roles, forward
from jostle.types import Array, Float

NEWTONS, SECONDS = 100.0, 0.1  # the push that takes are compared by
WAYS = {"forward": (1.0, 0.0), "left": (0.0, 1.0), "back": (-1.0, 0.0), "right": (0.0, -1.0)}
PARTS = ("left_forearm", "left_upper_arm", "chest", "head")  # arm, shoulder, chest, head
WILD_PARTS = ("head", "chest", "spine", "left_upper_arm", "right_upper_arm", "left_forearm", "right_forearm", "pelvis")
RESPONSES = 16  # phases of a cycle
PHASES = (0.0, 0.25, 0.5, 0.75)
LOST = 30.0  # degrees
_SMALL, _AT_MOST = 1e-6, 1.5  # a disturbance that stays linear; seconds of a cycle
_SETTLING, _ROUNDS = 6, 16  # cycles


def idle(path: str, seconds: float) -> dict[str, Any]:
    """Unpushed: degrees off the clip, and whether they become more."""
    on = walker(path)
    run = on.go(on.character.init(Start()), round(seconds / on.character.dt))
    tenth = max(1, len(run.off) // 6)
    rms = [float(np.sqrt(np.mean(part**2))) for part in (run.off, run.off[:tenth], run.off[-tenth:])]
    return {"rms": rms[0], "most": float(np.max(run.off)), "first": rms[1], "last": rms[2],
            "frames": on.clip.frame_count, "dofs": len(on.character.actuation.dofs),
            "suggested_k": on.character.actuation.suggested}  # fmt: skip


def literal(path: str, seconds: float = 5.0) -> dict[str, Any]:
    """Unpushed, the paper to the letter: seconds until a joint is further off than anybody would be."""
    on = walker(path, literal=True)
    run = on.go(on.character.init(Start()), round(seconds / on.character.dt))
    lost = np.flatnonzero(~(run.worst < LOST))
    return {"lost_s": float(lost[0] * on.character.dt) if len(lost) else float("inf")}


def growth(path: str, seed: int) -> dict[str, Any]:
    """By how much a small disturbance grows a second, when the one that grows most is left.

    It is made small again after every cycle; after some the one that grows most is left. It turns as it fades, so that
    cycles differ: the rate is their mean.
    """
    on = walker(path)
    physics, dofs = on.character.physics, on.character.yielding.dofs
    cycle = min(on.clip.frame_count - 1, round(_AT_MOST / on.character.dt))
    rng, rates = np.random.default_rng(seed), []
    apart = np.zeros(2 * physics.velocity_count)  # of positions and velocities
    apart[physics.velocity_count + dofs] = rng.normal(size=len(dofs))
    state = on.begun[0]
    for _ in range(_SETTLING + _ROUNDS):
        apart *= _SMALL / np.linalg.norm(apart)
        turned, faster = np.split(apart, 2)
        other = replace(state, qpos=physics.displaced(state.qpos, turned), qvel=state.qvel + faster)
        for _ in range(cycle):
            state, other = (on.character.step(one, NEUTRAL) for one in (state, other))
        apart = np.append(physics.velocity_between(state.qpos, other.qpos, 1.0), other.qvel - state.qvel)
        rates.append(np.log(np.linalg.norm(apart) / _SMALL) / (cycle * on.character.dt))
    return {"per_s": float(np.mean(rates[_SETTLING:]))}


def sweep(path: str, k: int, seconds: float) -> dict[str, Any]:
    """With k near-unactuated directions: unpushed, and pushed on both arms and the chest."""
    on = walker(path, k=k)
    calm = on.go(on.character.init(Start()), round(seconds / on.character.dt))
    rms = float(np.sqrt(np.mean(np.minimum(calm.off, 180.0) ** 2)))
    runs = [
        on.pushed(Push(part, NEWTONS * np.array([*way, 0.0]), SECONDS), phase)
        for part in ("left_forearm", "chest")
        for way in WAYS.values()
        for phase in PHASES
    ]
    back = [run.seconds_back(_after(on, SECONDS), on.character.dt) for run in runs]
    return {"k": k, "idle": rms, "peak": float(np.median([_peak(run) for run in runs])),
            "back_s": float(np.median(back)), "recovered": float(np.mean(np.isfinite(back)))}  # fmt: skip


def wrong_basis(path: str, seconds: float) -> dict[str, Any]:
    """The most actuated directions in place of the least."""
    right = walker(path)
    actuation = right.character.actuation
    turned = replace(actuation, directions=actuation.directions[:, ::-1])
    wrong = Walker(Compliant(right.character.source, turned))
    frames = round(seconds / right.character.dt)
    rms = [float(np.sqrt(np.mean(on.go(on.character.init(Start()), frames).off ** 2))) for on in (right, wrong)]
    return {"right": rms[0], "wrong": rms[1], "ratio": rms[1] / max(rms[0], 1e-9)}


def responses(path: str) -> dict[str, Any]:
    """The same push on other parts, from other sides, at other phases: largest angles, and seconds until it is back."""
    on = walker(path)
    rows = []
    for part in PARTS:
        for way, towards in WAYS.items():
            for phase in np.arange(RESPONSES) / RESPONSES:
                run = on.pushed(Push(part, NEWTONS * np.array([*towards, 0.0]), SECONDS), float(phase))
                planted = on.begun[int(phase * len(on.begun))].observed.contacts
                rows.append({
                    "part": part, "way": way, "phase": float(phase),
                    "peak": _peak(run), "moved_cm": _moved(on, run, part),
                    "back_s": run.seconds_back(_after(on, SECONDS), on.character.dt),
                    "planted": sorted(name for name, down in planted.items() if down),
                })  # fmt: skip
    return {"rows": rows}


def swapped(path: str, other: str) -> dict[str, Any] | None:
    """The directions of somebody else, or of another style. None where bodies have other joints."""
    own = walker(path)
    theirs = compliant_clip(source_clip(other)).actuation
    if len(theirs.dofs) != len(own.character.actuation.dofs):
        return None
    lent = Walker(Compliant(own.character.source, theirs))
    out: dict[str, Any] = {}
    for name, on in (("own", own), ("lent", lent)):
        calm = on.go(on.character.init(Start()), round(10.0 / on.character.dt))
        pushes = [Push(part, NEWTONS * np.array([*way, 0.0]), SECONDS) for part in PARTS[:3] for way in WAYS.values()]
        runs = [on.pushed(push, phase) for push in pushes for phase in (0.0, 0.5)]
        back = [run.seconds_back(_after(on, SECONDS), on.character.dt) for run in runs]
        out[name] = {"idle": float(np.sqrt(np.mean(calm.off**2))),
                     "peak": float(np.median([_peak(run) for run in runs])),
                     "recovered": float(np.mean(np.isfinite(back)))}  # fmt: skip
    return out


def wild(path: str, count: int, seed: int) -> dict[str, Any]:
    """Random pushes: part, direction, strength, duration and moment."""
    on, rows = walker(path), []
    rng = np.random.default_rng((seed, 2008))
    known = find_roles(on.character.skeleton)
    parts = [part for part in WILD_PARTS if part in known]
    for _ in range(count):
        way = rng.normal(size=3)
        push = Push(str(rng.choice(parts)), rng.uniform(40.0, 150.0) * way / np.linalg.norm(way), rng.uniform(0.1, 0.2))
        run = on.pushed(push, rng.uniform(), 5.0)
        whole = bool(np.all(np.isfinite(run.off)))
        rows.append({"part": push.part, "impulse": float(np.linalg.norm(push.impulse)),
                     "peak": _peak(run), "whole": whole,
                     "back_s": run.seconds_back(_after(on, push.duration), on.character.dt),
                     "beyond": on.excess(run)})  # fmt: skip
    return {"rows": rows}


def rooted(path: str) -> dict[str, Any]:
    """The pelvis pushed, and the ground pulled away."""
    on = walker(path)
    dt, rows = on.character.dt, []
    for way in WAYS.values():
        for phase in PHASES:
            run = on.pushed(Push("pelvis", NEWTONS * np.array([*way, 0.0]), 0.2), phase)
            away = np.linalg.norm(run.pelvis, axis=1)
            out = np.flatnonzero(away > max(0.1 * float(np.max(away)), 1e-3))
            rows.append({"cm": float(100 * np.max(away)), "back_s": float((out[-1] + 1) * dt), **_slides(on, run)})
    moved = []
    for axis in ("ground_ahead", "ground_aside"):
        for phase in PHASES:
            start = on.begun[int(phase * len(on.begun))]
            run = on.go(start, round(5.0 / dt), {0: Command(settings={axis: 1.0})})
            moved.append({"cm": float(100 * np.max(np.linalg.norm(run.pelvis, axis=1))), "peak": _peak(run),
                          "back_s": run.seconds_back(0, dt), **_slides(on, run)})  # fmt: skip
    return {"pushed": rows, "ground": moved}


def cup(path: str) -> dict[str, Any] | None:
    """A cup in the right hand while an arm is pushed: with and without somebody who minds."""
    rows: dict[str, Any] = {}
    for name, objectives in (("minds", (Upright(),)), ("does not", ())):
        on = walker(path, objectives=objectives)
        roles = find_roles(on.character.skeleton)
        if "right_hand" not in roles:
            return None
        for arm in ("left_arm", "right_arm"):
            tilts, work = [], []
            for way in WAYS.values():
                for phase in PHASES:
                    run = on.pushed(Push(arm, NEWTONS * np.array([*way, 0.0]), SECONDS), phase, 2.0)
                    calm = on.go(run.states[0], len(run.states) - 1)
                    tilts.append(_tilt(run, on.character.skeleton, roles["right_hand"]))
                    work.append(_trunk_work(on, run, calm))
            rows[f"{name}, {arm}"] = {"cup_deg": float(np.max(tilts)), "median": float(np.median(tilts)),
                                      "trunk_share": float(np.median(work))}  # fmt: skip
    return rows


def _trunk_work(on: Walker, run: Run, calm: Run) -> float:
    """The trunk's share of the work that answers a push: torque times velocity, each beyond the unpushed one's."""
    dofs, trunk = on.character.yielding.dofs, np.isin(upper_kinds(on.character.physics), TRUNK)
    torque = np.array([a.torques - b.torques for a, b in zip(run.states, calm.states, strict=True)])
    speed = np.array([(a.qvel - b.qvel)[dofs] for a, b in zip(run.states, calm.states, strict=True)])
    work = np.sum(np.abs(torque * speed), axis=0)
    return float(np.sum(work[trunk]) / np.sum(work))


def random_cycles(path: str, count: int, seed: int) -> dict[str, Any]:
    """Directions from other cycles of a long take, and from noisy ones, on the same source."""
    whole, rng = resample(load_clip(path), FPS), np.random.default_rng((seed, 41))
    on = walker(path)
    physics = compile_body(build_body(whole.skeleton))
    length = on.clip.frame_count
    rows = []
    for _ in range(count):
        first = int(rng.integers(0, whole.frame_count - length))
        piece = trim_frames(whole, first, first + length)
        noisy = _with_noise(piece, rng)
        for name, clip in (("cycle", piece), ("noisy", noisy)):
            other = Walker(Compliant(on.character.source, actuation_of(physics, clip)))
            run = other.pushed(Push("left_forearm", np.array([0.0, NEWTONS, 0.0]), SECONDS))
            own = on.pushed(Push("left_forearm", np.array([0.0, NEWTONS, 0.0]), SECONDS))
            rows.append({"of": name, "idle": _idle(other), "peak": _peak(run), "own_peak": _peak(own),
                         "apart": float(np.max(np.abs(run.worst - own.worst))),
                         "back_s": run.seconds_back(_after(on, SECONDS), on.character.dt),
                         "shared": _shared(on.character.actuation, other.character.actuation)})  # fmt: skip
    return {"rows": rows}


def _with_noise(clip: Clip, rng: np.random.Generator) -> Clip:
    """A tenth of the frames turned by some two degrees in every joint."""
    hit = rng.random(clip.frame_count) < 0.1
    jolts = np.radians(2.0) * rng.normal(size=(clip.frame_count, clip.skeleton.joint_count, 3)) * hit[:, None, None]
    return replace(clip, wxyz=quat.mul(clip.wxyz, quat.exp(jolts)))


def _shared(one: Actuation, other: Actuation) -> float:
    """How much of the near-unactuated space two takes have in common, 0 to 1."""
    a, b = one.split(NEAR)[1], other.split(NEAR)[1]
    return float(np.mean(np.linalg.svd(a.T @ b, compute_uv=False) ** 2))


def _idle(on: Walker) -> float:
    run = on.go(on.character.init(Start()), round(6.0 / on.character.dt))
    return float(np.sqrt(np.mean(run.off**2)))


def _after(on: Walker, seconds: float) -> int:
    """The first frame after a push."""
    return 1 + int(np.ceil(seconds / on.character.dt - 1e-9))


def _peak(run: Run) -> float:
    return float(np.max(run.upper)) if np.all(np.isfinite(run.off)) else float("inf")


def _moved(on: Walker, run: Run, part: str) -> float:
    """How far the pushed part is moved off, seen from the pelvis; cm."""
    joint = on.character.body.part(part)
    below = on.character.skeleton.children[joint]
    point = below[0] if below else joint
    ours, theirs = (_seen(on.character.skeleton, poses, point) for poses in run.poses)
    return float(100 * np.max(np.linalg.norm((ours - theirs)[::2], axis=1)))


def _seen(skeleton: Skeleton, poses: Pose, joint: int) -> Float[Array, "T 3"]:
    """Where a joint is, seen from the pelvis."""
    return forward(skeleton, poses).positions[:, joint] - poses.root


def _tilt(run: Run, skeleton: Skeleton, hand: int) -> float:
    """Degrees by which a cup is tilted at most that is upright in the source."""
    ours, theirs = (forward(skeleton, poses).wxyz[:, hand] for poses in run.poses)
    up = quat.apply(ours, quat.inv_apply(theirs, UP))[:, 2]
    return float(np.degrees(np.arccos(np.clip(np.min(up), -1.0, 1.0))))


def _slides(on: Walker, run: Run) -> dict[str, float]:
    """How far planted feet are from where the source has them, and how far any foot is below; cm."""
    ours, theirs = on.feet(run)
    planted = np.array([list(state.observed.contacts.values()) for state in run.states], dtype=bool)
    off = np.linalg.norm((ours - theirs)[..., :2], axis=-1)
    return {"slide_cm": float(100 * np.max(off * planted[:, : off.shape[1]])),
            "below_cm": float(100 * np.max(theirs[..., 2] - ours[..., 2]))}  # fmt: skip
