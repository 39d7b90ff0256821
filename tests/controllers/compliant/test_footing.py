"""The pelvis that gives way, and the legs under it."""

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.body import Dynamics, build_body, compile_body
from jostle.clips import load_clip
from jostle.controllers.compliant.footing import STILL, Footing, Kick, Sway, kick
from jostle.maths import quat
from jostle.skeleton import find_roles

DT = 1.0 / 60.0


@pytest.fixture(scope="module")
def physics():
    return compile_body(build_body(load_clip(clip_path("walk")).skeleton))


@pytest.fixture(scope="module")
def bent(physics):
    """Somebody in the middle of a step, with both knees bent."""
    return physics.to_qpos(load_clip(clip_path("walk")).pose(100))


def feet(physics, qpos):
    instant = Dynamics(physics)
    instant.set(qpos)
    joints = np.array([j for role, j in find_roles(physics.body.skeleton).items() if role.endswith("_foot")])
    return instant.positions(joints), instant.turns(joints)


def test_a_kick_is_what_a_rigid_body_gets(physics, bent):
    """Impulse and moment of all parts, moving with the velocities of the kick, are those that were given."""
    instant, impulse, moment = Dynamics(physics), np.array([10.0, -4.0, 2.0]), np.array([1.0, 2.0, -0.5])
    instant.set(bent)
    got = kick(instant, impulse, moment)
    mass, inertia = physics.body.mass, physics.body.inertia
    away = instant.coms() - instant.com()
    turned = quat.to_matrix(instant.turns(np.arange(len(mass))))
    total = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) + R @ i @ R.T
                for m, a, R, i in zip(mass, away, turned, inertia, strict=True))  # fmt: skip
    np.testing.assert_allclose(physics.body.total_mass * got.velocity, impulse, rtol=1e-9)
    np.testing.assert_allclose(total @ got.spin, moment, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("aside", "tilt"),
    [([0.05, 0.0, 0.0], [0, 0, 0]), ([0.0, 0.06, -0.02], [0, 0, 0]), ([0.02, -0.03, 0], [0.1, 0.05, 0.1])],
)
def test_feet_stay_where_they_are(physics, bent, aside, tilt):
    out = Footing(physics).stand(bent, Sway(np.array(aside), STILL, np.array(tilt, dtype=float), STILL))
    for ours, theirs in zip(feet(physics, out), feet(physics, bent), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=0.002)
    np.testing.assert_allclose(out[:2], bent[:2] + np.array(aside)[:2], atol=1e-12)
    assert out[2] <= bent[2] + aside[2]


def test_a_sway_of_nearly_nothing_changes_nearly_nothing(physics):
    """Also where knees are straight, so that a push does not begin with a jerk."""
    clip = load_clip(clip_path("walk"))
    footing = Footing(physics)
    for frame in range(0, 120, 7):
        qpos = physics.to_qpos(clip.pose(frame))
        out = footing.stand(qpos, Sway(np.array([1e-4, 0.0, 0.0])))
        assert np.max(np.abs(physics.velocity_between(qpos, out, 1.0))) < np.radians(1.0)


def test_the_pelvis_is_down_before_a_long_stride(physics):
    """It does not drop when the foot gets there."""
    clip = load_clip(clip_path("walk"))
    moments = [physics.to_qpos(clip.pose(frame)) for frame in range(120, 240)]
    lag, drops = Sway(np.array([-0.08, 0.0, 0.0])), []
    for footing in (Footing(physics), Footing(physics, np.array(moments[::6]))):
        down = np.array([qpos[2] - footing.stand(qpos, lag)[2] for qpos in moments])
        assert np.min(down) > -1e-9
        drops.append(np.max(np.abs(np.diff(down))))
    assert drops[1] < 0.4 * drops[0]


def test_strides_are_seen_wherever_one_goes(physics, bent):
    """Turned by any angle, with the push turned alike, the pelvis sinks as far."""
    clip = load_clip(clip_path("walk"))
    footing = Footing(physics, np.array([physics.to_qpos(clip.pose(frame)) for frame in range(120, 240, 6)]))
    about, lag, tilt = quat.from_yaw(1.1), np.array([-0.06, 0.02, 0.0]), np.array([0.03, -0.05, 0.0])
    turned = bent.copy()
    turned[:3], turned[3:7] = quat.apply(about, bent[:3]), quat.mul(about, bent[3:7])
    one = footing.stand(bent, Sway(lag, STILL, tilt, STILL))
    other = footing.stand(turned, Sway(quat.apply(about, lag), STILL, quat.apply(about, tilt), STILL))
    assert other[2] == pytest.approx(one[2], abs=1e-9)
    np.testing.assert_allclose(other[7:], one[7:], atol=1e-9)


def test_pushed_the_pelvis_comes_back(physics):
    sway = Sway()
    for frame in range(120):
        given = Kick(np.array([0.0, 0.02, 0.0]), np.array([0.05, 0.0, 0.0])) if frame < 6 else Kick()
        sway = sway.after(given, STILL, DT)
        if frame == 20:
            assert sway.aside[1] > 0.01
            assert sway.tilt[0] > 0.01
    assert np.linalg.norm(sway.aside) < 0.002
    assert np.linalg.norm(sway.tilt) < 0.002


def test_ground_that_starts_leaves_the_pelvis_behind(physics):
    """At first the pelvis stays where it is in the world; in the end it goes along."""
    sway, ground = Sway(), np.array([1.0, 0.0, 0.0])
    sway = sway.after(Kick(), ground, DT)
    assert abs(sway.aside[0] + sway.carried[0]) < 0.002
    for _ in range(180):
        sway = sway.after(Kick(), ground, DT)
    assert abs(sway.aside[0]) < 0.001
    assert sway.carried[0] == pytest.approx(181 * DT)


def test_who_has_no_legs_does_not_stand():
    clip = load_clip(clip_path("walk"))
    assert Footing(compile_body(build_body(clip.skeleton))).stands
