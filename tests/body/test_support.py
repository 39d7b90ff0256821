"""Ground forces: sums, cones, centres of pressure, and what real walking is known to look like."""

import numpy as np
import pytest
from figures import dog, person
from scipy.spatial import ConvexHull

from jostle.body import build_body, compile_body, ground_forces, root_residual
from jostle.body.inverse import InverseDynamics, inverse_of
from jostle.body.motion import Motion
from jostle.body.support import distribute, find_support
from jostle.clips import Clip
from jostle.clips.contacts import find_contacts, runs
from jostle.clips.io import load_clip
from jostle.skeleton import rest_pose

PARTS = ("thigh", "shin", "foot")


def standing(skeleton, frames=12):
    pose = rest_pose(skeleton)
    return Clip(skeleton, 30.0, np.tile(pose.root, (frames, 1)), np.tile(pose.wxyz, (frames, 1, 1)))


def inside(point, corners):
    """Is a point within the convex hull of corners, in the plane?"""
    hull = ConvexHull(corners)
    return np.all(hull.equations[:, :2] @ point + hull.equations[:, 2] < 1e-6)


@pytest.fixture(scope="module")
def stand():
    skeleton = person()
    physics = compile_body(build_body(skeleton))
    return physics, standing(skeleton)


def test_standing_feet_carry_the_weight_between_them(stand):
    physics, clip = stand
    found = ground_forces(physics, clip)
    np.testing.assert_allclose(found.by_foot.sum(axis=1), [[0, 0, physics.body.weight]] * 12, atol=0.01)
    np.testing.assert_allclose(found.by_foot[:, 0, 2], found.by_foot[:, 1, 2], rtol=1e-3)  # a symmetric figure
    assert found.residual.max() < 1e-4


def test_the_centre_of_pressure_lies_under_the_centre_of_mass_and_in_the_feet(stand):
    physics, clip = stand
    found = ground_forces(physics, clip)
    both = np.einsum("tf,tfk->tk", found.by_foot[..., 2], found.cop) / found.by_foot[..., 2].sum(axis=1)[:, None]
    np.testing.assert_allclose(both[:, :2], found.dynamics.com[:, :2], atol=1e-3)
    for f in range(2):
        assert inside(found.cop[5, f, :2], found.support.points[5, found.support.foot == f, :2])


def test_muscles_only_hold_what_the_ground_does_not(stand):
    """With ground forces taken off, the root asks for nothing, and knees carry far less than without."""
    physics, clip = stand
    found = ground_forces(physics, clip)
    knee = physics.body.part("left_shin")
    assert np.linalg.norm(found.torques[5, 0]) == 0.0
    assert np.linalg.norm(found.torques[5, knee]) < 0.2 * physics.body.weight


def pushed(stand, force, moment=(0.0, 0.0, 0.0)):
    """Ground forces where the world must also have given an extra force."""
    physics, clip = stand
    support = find_support(physics, clip, find_contacts(clip))
    needs = inverse_of(physics, _motion(physics, clip))
    extra = np.asarray(force) * physics.body.weight
    more = InverseDynamics(physics, needs.motion, needs.forces, needs.com, needs.force + extra, needs.moment + moment)
    return distribute(more, support, friction=0.5)


def _motion(physics, clip):
    qpos = physics.to_qpos(clip.poses)
    zero = np.zeros((len(qpos), physics.velocity_count))
    return Motion(qpos, zero, zero, clip.fps)


def test_friction_gives_a_little_sideways_and_no_more(stand):
    assert pushed(stand, (0.0, 0.05, 0.0)).residual.max() < 0.01
    strong = pushed(stand, (0.0, 0.9, 0.0))
    assert strong.residual.min() > 0.2
    flat, up = np.linalg.norm(strong.forces[..., :2], axis=-1), strong.forces[..., 2]
    assert np.all(flat <= 0.5 * up + 1e-9)


def test_feet_push_and_never_pull(stand):
    found = pushed(stand, (0.0, 0.0, -1.5))
    assert np.all(found.forces[..., 2] >= 0.0)
    np.testing.assert_allclose(found.residual, 0.5, atol=0.05)


def test_in_flight_everything_is_residual():
    """A figure that hangs in the air without falling needs its whole weight from nowhere."""
    skeleton = person()
    physics = compile_body(build_body(skeleton))
    clip = standing(skeleton)
    contacts = find_contacts(clip)
    aloft = type(contacts)(
        contacts.names,
        contacts.joints,
        *(np.zeros_like(contacts.planted),) * 3,
        contacts.ground,
        contacts.treadmill,
        contacts.fps,
    )
    np.testing.assert_allclose(root_residual(physics, clip, aloft), 1.0, atol=1e-6)
    assert np.all(np.isnan(ground_forces(physics, clip, aloft).cop))


def test_an_animal_stands_on_its_paws():
    physics = compile_body(build_body(dog()))
    found = ground_forces(physics, standing(dog()))
    assert len(found.support.names) == 4
    np.testing.assert_allclose(found.forces.sum(axis=1)[:, 2], physics.body.weight, rtol=0.01)
    assert found.residual.max() < 0.01


def analysed(data, name):
    clip = load_clip(data / name)
    physics = compile_body(build_body(clip.skeleton))
    contacts = find_contacts(clip)
    return physics, contacts, ground_forces(physics, clip, contacts)


def test_a_real_walk_has_two_humps_a_step_and_averages_to_the_weight(data):
    """Single support: more than the weight after landing and before push-off, less between (an inverted pendulum)."""
    physics, contacts, found = analysed(data, "snu_ys2010/walk/wd2_WalkForwardNormal00.bvh")
    up = found.by_foot[..., 2] / physics.body.weight
    assert np.mean(up.sum(axis=1)) == pytest.approx(1.0, abs=0.02)
    assert np.quantile(found.residual, 0.9) < 0.03
    steps = [(f, a, b) for f in range(2) for a, b in runs(contacts.planted[:, f]) if a > 0 and b < len(up)]
    humps = 0
    for f, start, stop in steps:
        third = (stop - start) // 3
        early, middle, late = (
            up[start : start + third + 2, f],
            up[start + third : stop - third, f],
            up[stop - third - 2 : stop, f],
        )
        humps += early.max() > 1.02 and middle.min() < 0.97 and late.max() > 1.02
    assert len(steps) >= 4
    assert humps >= 3


def test_in_double_support_the_leading_foot_brakes_and_the_trailing_one_propels(data):
    """And by about a fifth of the weight, as force plates show for walking."""
    physics, contacts, found = analysed(data, "snu_ys2010/walk/wd2_WalkForwardNormal00.bvh")
    com = found.dynamics.com
    travel = (com[-1] - com[0]) / np.linalg.norm(com[-1] - com[0])
    along = found.by_foot @ travel / physics.body.weight  # (T, F)
    ahead = np.nan_to_num((found.cop - com[:, None]) @ travel)
    walking = np.linalg.norm(np.gradient(com, axis=0), axis=1) * 30.0 > 0.6
    both = (
        walking & np.all(contacts.planted, axis=1) & np.all(found.by_foot[..., 2] > 0.2 * physics.body.weight, axis=1)
    )
    assert both.sum() >= 8
    lead = np.argmax(ahead[both], axis=1)
    rows = np.arange(both.sum())
    assert np.all(along[both][rows, lead] < 0.0)
    assert np.all(along[both][rows, 1 - lead] > 0.0)
    assert 0.1 < np.abs(along[both]).max() < 0.4


@pytest.mark.parametrize("name", ["snu_ys2010/walk/wd2_WalkForwardNormal00.bvh", "cmu_asf_amc/35_01.amc"])
def test_joint_moments_of_real_walks_are_those_of_people(data, name):
    """Published peaks a kilogram: ankle about 1.5 N m to press the toes down, hip and knee about 1 (Winter 1991)."""
    physics, _, found = analysed(data, name)
    torques = found.torques[5:-5] / physics.body.total_mass
    pitch = {part: torques[:, [physics.body.part(f"{s}_{part}") for s in ("left", "right")], 1] for part in PARTS}
    assert 1.0 < pitch["foot"].max() < 2.2
    assert pitch["foot"].min() > -0.9
    assert np.abs(pitch["shin"]).max() < 2.2
    assert np.abs(pitch["thigh"]).max() < 1.5


def test_a_real_person_standing_weighs_as_much(data):
    physics, contacts, found = analysed(data, "snu_ys2010/push/wd2_Physics_2_Push01.bvh")
    quiet = slice(5, 25)  # before the first push
    assert np.all(contacts.planted[quiet])
    up = found.by_foot[quiet, :, 2].sum(axis=1) / physics.body.weight
    np.testing.assert_allclose(up, 1.0, atol=0.03)
    for frame in range(5, 25):
        for f in range(2):
            assert inside(found.cop[frame, f, :2], found.support.points[frame, found.support.foot == f, :2])


def test_a_real_push_is_seen_as_residual(data):
    """Planted feet cannot explain a push; the residual around the recorded pushes stands out from quiet standing."""
    _, _, found = analysed(data, "snu_ys2010/push/wd2_Physics_2_Push02.bvh")
    assert np.quantile(found.residual, 0.5) < 0.01
    assert found.residual.max() > 0.05
