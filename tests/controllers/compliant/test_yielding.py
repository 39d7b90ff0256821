"""Near-unactuated directions of a clip, and one frame of a body that gives way along them."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.body import Dynamics, build_body, compile_body, inverse_dynamics, to_motion
from jostle.clips import load_clip
from jostle.clips.edit import resample, trim_frames
from jostle.controllers.compliant.actuation import actuation_of, cycle_of
from jostle.controllers.compliant.joints import upper_dofs, upper_joints
from jostle.controllers.compliant.yielding import Moment, Yielding
from jostle.errors import MotionError
from jostle.skeleton import find_roles

DT = 1.0 / 60.0
K = 10


@pytest.fixture(scope="module")
def walk():
    return resample(load_clip(clip_path("walk")), 60.0)


@pytest.fixture(scope="module")
def physics(walk):
    return compile_body(build_body(walk.skeleton))


@pytest.fixture(scope="module")
def actuation(physics, walk):
    return actuation_of(physics, walk)


@pytest.fixture(scope="module")
def motion(physics, walk):
    return to_motion(physics, trim_frames(walk, 60, 360)).qpos


def run(physics, motion, yielding, seconds, load=None):
    """Degrees by which each coordinate of the upper body is off, frame by frame."""
    qpos, qvel, off = motion[1], physics.velocity_between(motion[0], motion[1], DT), []
    torques = np.zeros(len(yielding.dofs))
    for frame in range(1, int(seconds / DT)):
        loads = np.zeros(physics.velocity_count) if load is None else load(frame, qpos)
        at = Moment(qpos, qvel, motion[frame], motion[frame + 1], loads, torques)
        done = yielding.step(at, DT)
        qpos, qvel, torques = done.qpos, done.qvel, done.torques
        off.append(np.degrees(np.abs(physics.velocity_between(motion[frame + 1], qpos, 1.0)[yielding.dofs])))
        if not np.all(np.isfinite(qpos)) or np.max(off[-1]) > 100.0:
            break
    return np.array(off)


def test_the_upper_body_is_all_but_legs_and_hands(physics, walk):
    joints = upper_joints(walk.skeleton)
    roles = find_roles(walk.skeleton)
    for role, joint in roles.items():
        legs = role.endswith(("thigh", "shin", "foot", "toe", "hand")) or role == "pelvis"
        assert (joint in joints) != legs, role
    assert len(upper_dofs(physics)) == 3 * len(joints)


def test_directions_are_those_of_the_torques(physics, walk, actuation):
    """The eigenvectors of second moments, against a singular value decomposition of the torques themselves."""
    torques = inverse_dynamics(physics, cycle_of(walk)).forces[:, actuation.dofs]
    _, values, rows = np.linalg.svd(torques / np.sqrt(len(torques)), full_matrices=False)
    np.testing.assert_allclose(actuation.torques[:12], values[:12], rtol=1e-6)
    np.testing.assert_allclose(np.abs(np.sum(rows[:8].T * actuation.directions[:, :8], axis=0)), 1.0, atol=1e-5)
    np.testing.assert_allclose(actuation.directions.T @ actuation.directions, np.eye(len(actuation.dofs)), atol=1e-12)
    assert actuation.torques[-K] < 0.02 * actuation.torques[0]


def test_legs_and_ground_do_not_enter_the_torques(physics, walk, actuation):
    """With straight legs throughout, the upper body's torques are the same."""
    cycle, legs = cycle_of(walk), [j for r, j in find_roles(walk.skeleton).items() if r.endswith(("thigh", "shin"))]
    still = cycle.wxyz.copy()
    still[:, legs] = [1.0, 0.0, 0.0, 0.0]
    ours, theirs = (inverse_dynamics(physics, clip).forces for clip in (cycle, replace(cycle, wxyz=still)))
    np.testing.assert_allclose(ours[:, actuation.dofs], theirs[:, actuation.dofs], atol=1e-8)


def test_a_frame_keeps_the_equations_of_motion(physics, motion, actuation):
    """The torques are those of inverse dynamics, and along near-unactuated directions they are springs and dampers."""
    yielding, instant, rng = Yielding(physics, actuation, K), Dynamics(physics), np.random.default_rng(0)
    qpos, qvel = motion[40], physics.velocity_between(motion[39], motion[40], DT)
    qvel[yielding.dofs] += rng.normal(0.0, 0.3, len(yielding.dofs))
    loads = np.zeros(physics.velocity_count)
    loads[yielding.dofs] = rng.normal(0.0, 5.0, len(yielding.dofs))
    at = Moment(qpos, qvel, motion[40], motion[41], loads, np.zeros(len(yielding.dofs)))
    done = yielding.step(at, DT)
    then, torques = done.qvel, done.torques
    instant.set(qpos, qvel)
    needed = instant.inverse((then - qvel) / DT) - loads
    np.testing.assert_allclose(torques, needed[yielding.dofs], atol=1e-6)
    wanted = physics.velocity_between(motion[40], motion[41], DT)[yielding.dofs]
    off = -physics.velocity_between(qpos, motion[41], DT)[yielding.dofs] * DT
    up = then[yielding.dofs]
    passive = yielding.dampers @ (up - wanted) + yielding.springs @ (off + DT * up)
    np.testing.assert_allclose(yielding.free.T @ (torques + passive), 0.0, atol=1e-6)


def test_a_frame_is_the_best_that_keeps_them(physics, motion, actuation):
    """Any other velocities that satisfy the constraint cost more."""
    yielding, rng = Yielding(physics, actuation, K), np.random.default_rng(1)
    qpos, qvel = motion[40], physics.velocity_between(motion[39], motion[40], DT)
    qpos = physics.displaced(qpos, 0.02 * rng.normal(size=physics.velocity_count) * np.isin(
        np.arange(physics.velocity_count), yielding.dofs
    ))  # fmt: skip
    last = rng.normal(0.0, 2.0, len(yielding.dofs))
    at = Moment(qpos, qvel, motion[40], motion[41], np.zeros(physics.velocity_count), last, startled=0.5)
    done = yielding.step(at, DT)
    then, torques = done.qvel, done.torques
    instant = Dynamics(physics)
    instant.set(qpos, qvel)
    own = instant.mass_matrix()[np.ix_(yielding.dofs, yielding.dofs)] / DT
    rows = yielding.free.T @ (own + yielding.dampers + DT * yielding.springs)
    _, _, basis = np.linalg.svd(rows)
    wanted = physics.velocity_between(motion[40], motion[41], DT)[yielding.dofs]
    off = -physics.velocity_between(qpos, motion[41], DT)[yielding.dofs] * DT

    def cost(up):
        apart, kept = off + DT * up, yielding.actuated.T @ (own @ (up - then[yielding.dofs]) + torques - last)
        track = yielding.track**2 * apart @ yielding.metric @ apart
        return track + np.sum((yielding.damp * (up - wanted)) ** 2) + np.sum((0.5 * kept) ** 2)

    best = cost(then[yielding.dofs])
    for _ in range(50):
        aside = basis[len(rows) :].T @ rng.normal(size=len(yielding.dofs) - len(rows))
        assert cost(then[yielding.dofs] + 1e-3 * aside) > best


def test_unpushed_it_plays_the_clip(physics, motion, actuation):
    off = run(physics, motion, Yielding(physics, actuation, K), 4.5)
    assert np.sqrt(np.mean(off**2)) < 0.3
    assert np.max(off) < 1.0


def test_a_pushed_arm_gives_way_and_comes_back(physics, motion, actuation, walk):
    arm, instant = find_roles(walk.skeleton)["left_forearm"], Dynamics(physics)

    def load(frame, qpos):
        instant.set(qpos)
        return instant.jacobian(arm).T @ np.array([0.0, 120.0, 0.0]) * (60 <= frame < 66)

    off = run(physics, motion, Yielding(physics, actuation, K), 4.5, load)
    assert np.max(off[:59]) < 1.0
    assert np.max(off[60:100]) > 5.0
    assert np.max(off[66 + 180 :]) < 2.0


def test_the_wrong_basis_loses_the_clip(physics, motion, actuation):
    """Without torques along the *most* actuated directions there is no walk."""
    turned = replace(actuation, directions=actuation.directions[:, ::-1])
    right, wrong = (run(physics, motion, Yielding(physics, a, K), 4.0) for a in (actuation, turned))
    assert np.sqrt(np.mean(wrong**2)) > 50.0 * np.sqrt(np.mean(right**2))


def test_the_paper_to_the_letter_grows(physics, motion, actuation):
    off = run(physics, motion, Yielding(physics, actuation, K, literal=True), 4.5)
    assert np.max(off[-30:]) > 30.0


def test_what_it_refuses(physics, walk, actuation):
    with pytest.raises(MotionError, match="k is 1 to"):
        actuation.split(len(actuation.dofs))
    with pytest.raises(MotionError, match="at least 20"):
        actuation_of(physics, trim_frames(walk, 0, 5))
