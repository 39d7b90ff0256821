"""The batched controller against a plain one, and the symmetries that walking has."""

import mujoco
import numpy as np
import pytest
from plain import SIDES, corners, height, moment, torques

from jostle.body import Ground, Options, compile_body
from jostle.controllers.walker.joints import ANGLES, MIRROR, SIGN
from jostle.controllers.walker.parameters import SPACES, WALKER
from jostle.controllers.walker.people import PEOPLE, build_person, walker_dofs, walker_physics
from jostle.controllers.walker.senses import TOUCH
from jostle.controllers.walker.walk import SHORTEST, TOE_UP, Walk

STOCKY = PEOPLE["stocky"]


@pytest.fixture(scope="module")
def physics():
    return walker_physics(STOCKY)


def varied(space, count, seed=0, sigma=0.2):
    """Walkers near the initial one, the first of them itself."""
    spread = sigma * np.random.default_rng(seed).normal(size=(count, len(space)))
    spread[0] = 0.0
    return space.decode(space.encode(space.initial) + spread)


def stepped(walk, count):
    for _ in range(count):
        walk.step()
    return walk


@pytest.mark.parametrize("kind", ["walker", "simbicon"])
@pytest.mark.parametrize("slope", [0.0, 0.06])
def test_torques_are_those_of_the_equations(kind, slope):
    """At moments in every state and on either side, planted or not, whatever the heading."""
    space, seen = SPACES[kind], set()
    physics = walker_physics(STOCKY, Ground(slope))
    walk, values = Walk(physics, 6, kind, threads=1), varied(space, 6)
    values[:, space.index["c_trans" if kind == "walker" else "duration"]] = 0.15  # long second states
    heading = np.array([0.0, 0.7, -2.0, 3.0, 0.1, -0.4])
    walk.start(values, heading)
    for step in range(320):
        qpos, qvel, state, side = walk.many.qpos.copy(), walk.many.qvel.copy(), walk.state, walk.side
        now, found, _ = walk.step()
        if step % 23 or not walk.many.running.all():
            continue
        for row in range(6):
            data = moment(physics, qpos[row], qvel[row])
            parts = [corners(data, SIDES[1 - side[row]] + joint) for joint in ("Foot", "Toe")]
            planted = max(sum(height(data, point) < TOUCH for point in part) for part in parts) >= 3
            named = space.named(values[row])
            wanted = torques(physics, data, named, state[row], side[row], heading[row], planted, kind == "walker")
            sign, order = (SIGN, MIRROR) if side[row] else (1.0, np.arange(30))
            ours = dict(zip(ANGLES, sign * found[row][order], strict=True))
            assert ours == pytest.approx(wanted, abs=1e-6)
            assert now.planted[row] == planted
            seen.add((int(state[row]), int(side[row]), planted))
    assert {s[:2] for s in seen} == {(0, 0), (1, 0), (0, 1), (1, 1)}
    assert {s[2] for s in seen} == {True, False}


def test_mujoco_gets_torques_and_dampers_that_make_the_servos(physics):
    """What is applied and what MuJoCo's own dampers add is the torque that is told."""
    walk, values = Walk(physics, 3, threads=1), varied(WALKER, 3)
    walk.start(values)
    dampers = walk.many.read("qfrc_damper")[:, 6:]
    for _ in range(200):
        damped, side = dampers.copy(), walk.side
        _, found, _ = walk.step()
        told = np.where(side[:, None] == 1, SIGN * found[:, MIRROR], found)
        np.testing.assert_allclose(walk.many.forces[:, 6:] + damped, told, atol=1e-8)
    assert np.abs(damped).max() > 1.0


def test_a_mirrored_walker_walks_the_mirrored_walk(physics):
    walk, values = Walk(physics, 2, threads=1), np.stack([WALKER.initial] * 2)
    walk.start(values)
    qpos, qvel = walk.many.qpos.copy(), walk.many.qvel.copy()
    qpos[:, 7:], qvel[:, 6:] = qpos[:, 7:] + 0.02, qvel[:, 6:] + 0.1  # in every angle, so that all signs count
    qpos[1], qvel[1] = reflected(qpos[1], qvel[1])
    walk.many.start(qpos, qvel)
    walk.resume(walk.space.unpack(values), np.zeros(2, int), np.array([0, 1]), np.zeros(2))
    stepped(walk, 250)
    assert walk.side.tolist() in ([0, 1], [1, 0])
    ours, _ = reflected(walk.many.qpos[1], walk.many.qvel[1])
    np.testing.assert_allclose(ours, walk.many.qpos[0], atol=1e-7)
    assert np.abs(walk.many.qpos[0, 1]) > 1e-3  # it left the plane of the mirror, so something was tested


def reflected(qpos, qvel):
    """In a mirror along X and Z."""
    qpos, qvel = qpos.copy(), qvel.copy()
    qpos[1] *= -1.0
    qpos[[4, 6]] *= -1.0  # of the quaternion: turns about X and Z
    qvel[[1, 3, 5]] *= -1.0
    qpos[7:], qvel[6:] = SIGN * qpos[7:][MIRROR], SIGN * qvel[6:][MIRROR]
    return qpos, qvel


def test_a_turned_walker_walks_the_turned_walk():
    """With the elliptic cone: a pyramid of friction has edges, and so a direction of its own."""
    options = Options(0.002, cone="elliptic", integrator="euler", armature=0.005, damping=1.0, self_contact=False)
    physics = compile_body(build_person(STOCKY), Ground(), options, walker_dofs())
    walk = Walk(physics, 2, threads=1)
    walk.start(np.stack([WALKER.initial] * 2), np.array([0.0, 1.0]))
    stepped(walk, 250)
    c, s = np.cos(1.0), np.sin(1.0)
    straight, turned = walk.many.com
    wanted = [c * straight[0] - s * straight[1], s * straight[0] + c * straight[1], straight[2]]
    np.testing.assert_allclose(turned, wanted, atol=1e-7)
    np.testing.assert_allclose(walk.many.qpos[1, 7:], walk.many.qpos[0, 7:], atol=1e-6)
    assert walk.many.com[0, 0] > 0.3


def test_a_quarter_turn_is_exact_with_a_pyramid_too(physics):
    walk = Walk(physics, 2, threads=1)
    walk.start(np.stack([WALKER.initial] * 2), np.array([0.0, np.pi / 2]))
    stepped(walk, 200)
    straight, turned = walk.many.com
    np.testing.assert_allclose(turned, [-straight[1], straight[0], straight[2]], atol=1e-7)


@pytest.mark.parametrize("slope", [0.0, 0.15])
def test_walkers_start_with_their_feet_on_the_ground(slope):
    physics = walker_physics(STOCKY, Ground(slope))
    walk, values = Walk(physics, 3, threads=1), varied(WALKER, 3)
    walk.start(values, np.array([0.0, 0.5, -0.5]))
    for row in range(3):
        data = moment(physics, walk.many.qpos[row])
        lowest = min(height(data, p) for side in SIDES for j in ("Foot", "Toe") for p in corners(data, side + j))
        wanted = WALKER.named(values[row])["lift"]
        assert lowest == pytest.approx(wanted, abs=1e-9)


def test_start_velocity_points_along_the_heading(physics):
    walk = Walk(physics, 2, threads=1)
    walk.start(np.stack([WALKER.initial] * 2), np.array([0.0, np.pi / 2]))
    speed = WALKER.named(WALKER.initial)["velocity.x"]
    np.testing.assert_allclose(walk.many.qvel[:, :3], [[speed, 0, 0], [0, speed, 0]], atol=1e-12)


def test_low_corners_are_those_below_the_touching_height():
    """On tilted ground, the body sunk step by step; and wherever MuJoCo has a contact, a corner there is low."""
    physics = walker_physics(STOCKY, Ground(0.1))
    walk = Walk(physics, 2, threads=1)
    walk.start(varied(WALKER, 2), 0.3)
    start, counts = walk.many.qpos.copy(), set()
    for lift in np.linspace(0.03, -0.02, 26):
        qpos = start + np.array([0.0, 0.0, lift, *np.zeros(34)])
        walk.many.start(qpos)
        low = walk.sense().low
        for row in range(2):
            data = moment(physics, qpos[row])
            for part, joint in enumerate(("LeftFoot", "RightFoot", "LeftToe", "RightToe")):  # the left leg swings
                points = corners(data, joint)
                assert low[row, part, :4].tolist() == [height(data, p) < TOUCH for p in points]
                touching = [c.pos for c in data.contact if joint == _owner(data, c)]
                assert all(np.linalg.norm(points[low[row, part, :4]] - p, axis=1).min() < 0.02 for p in touching)
                counts.add((len(touching) > 0, int(low[row, part, :4].sum())))
    assert len(counts) > 4


def _owner(data, contact):
    """The body that touches the ground."""
    ground = data.model.geom("ground").id
    geom = next(g for g in contact.geom if g != ground)
    return data.model.body(data.model.geom_bodyid[geom]).name


def test_a_toe_on_its_tip_is_stubbed(physics):
    """A foot that points straight down stands on the upper edge of its toe; a flat one does not."""
    walk = Walk(physics, 1, threads=1)
    walk.start(WALKER.initial[None])
    qpos = walk.many.qpos.copy()
    qpos[0, 3:] = [1.0, 0.0, 0.0, 0.0, *np.zeros(30)]
    for ankle in (0.0, 1.7):
        qpos[0, 7 + ANGLES.index("lankle_y")] = ankle
        data = moment(physics, qpos[0])
        qpos[0, 2] -= min(height(data, point) for point in corners(data, "LeftToe", up=1.0)) if ankle else 0.0
        walk.many.start(qpos)
        assert walk.sense().stubbed.tolist() == [ankle > 0.0]


@pytest.mark.parametrize("kind", ["walker", "simbicon"])
def test_states_change_as_in_figure_3_1(physics, kind):
    space, events = SPACES[kind], set()
    values = varied(space, 4, seed=1)
    walk = Walk(physics, 4, kind, threads=1)
    walk.start(values)
    switch = [space.named(v)["c_trans" if kind == "walker" else "duration"] for v in values]
    for _ in range(350):
        before = list(zip(walk.state.tolist(), walk.side.tolist(), walk.since.tolist(), strict=True))
        now, _, struck = walk.step()
        for row, (state, side, since) in enumerate(before):
            touches = bool(now.low[row, [0, 2], :4].any())
            if kind == "walker":
                strikes = touches and now.world[row, 2, 1] < -TOE_UP and since > SHORTEST
                passes = state == 0 and now.distance[row, 0] > switch[row]
            else:
                strikes = state == 1 and touches and since > SHORTEST
                passes = state == 0 and since > switch[row]
            wanted = (0, 1 - side, 0.0) if strikes else (1 if passes else state, side, since + walk.dt)
            assert (walk.state[row], walk.side[row], walk.since[row]) == wanted
            assert struck[row] == strikes
            events.add(("strike" if strikes else "pass" if passes else "none", state, side))
    assert {("strike", 1, 0), ("strike", 1, 1), ("pass", 0, 0), ("pass", 0, 1)} <= events


@pytest.mark.parametrize("kind", ["walker", "simbicon"])
def test_a_foot_that_has_just_struck_does_not_strike_again(physics, kind):
    """The same moment, once shortly after the last strike and once later."""
    walk, values = Walk(physics, 1, kind, threads=1), SPACES[kind].initial[None]
    walk.start(values)
    struck = [False]
    while not struck[0]:
        before, state, side = walk.many.snapshot(), walk.state, walk.side
        _, _, struck = walk.step()
    for since in (0.9 * SHORTEST, 1.1 * SHORTEST):
        walk.many.restore(before)
        walk.resume(walk.space.unpack(values), state, side, np.array([since]))
        assert walk.step()[2].tolist() == [since > SHORTEST]


def test_what_balance_sensors_tell_is_the_sum_over_parts(physics):
    walk = Walk(physics, 2, threads=1)
    walk.start(varied(WALKER, 2), 0.4)
    stepped(walk, 120)
    for row in range(2):
        data = moment(physics, walk.many.qpos[row], walk.many.qvel[row])
        mass, velocity, spin = physics.model.body_mass, [], []
        for body in range(physics.model.nbody):
            six = np.zeros(6)
            mujoco.mj_objectVelocity(physics.model, data, mujoco.mjtObj.mjOBJ_BODY, body, six, 0)
            spin.append(six[:3])
            velocity.append(six[3:])
        com, moving = mass @ data.xipos / mass.sum(), mass @ np.array(velocity) / mass.sum()
        turning = np.zeros(3)
        for body in range(physics.model.nbody):
            frame = data.ximat[body].reshape(3, 3)
            turning += frame @ (physics.model.body_inertia[body] * (frame.T @ spin[body]))
            turning += mass[body] * np.cross(data.xipos[body] - com, velocity[body] - moving)
        np.testing.assert_allclose(walk.many.com[row], com, atol=1e-9)
        np.testing.assert_allclose(walk.many.com_velocity[row], moving, atol=1e-9)
        np.testing.assert_allclose(walk.many.angular_momentum[row], turning, atol=1e-8)


def test_senses_are_seen_in_the_mirror(physics):
    """Distances, velocity and stride of a walker whose right leg swings, from MuJoCo's arrays."""
    walk = Walk(physics, 1, threads=1)
    heading = 0.6
    walk.start(WALKER.initial[None], heading)
    while walk.side[0] == 0:
        walk.step()
    stepped(walk, 10)
    now = walk.sense()
    data = moment(physics, walk.many.qpos[0], walk.many.qvel[0])
    ahead, left = np.array([np.cos(heading), np.sin(heading), 0]), np.array([-np.sin(heading), np.cos(heading), 0])
    frame = np.stack([ahead, -left, [0, 0, 1]])  # Y is the side of the swing leg, which is the right one
    stance, swing = data.body("LeftFoot").xpos, data.body("RightFoot").xpos
    np.testing.assert_allclose(now.distance[0], frame @ (walk.many.com[0] - stance), atol=1e-9)
    np.testing.assert_allclose(now.velocity[0], frame @ walk.many.com_velocity[0], atol=1e-9)
    np.testing.assert_allclose(now.stride[0], frame @ (swing - stance), atol=1e-9)
    np.testing.assert_allclose(now.angles[0], SIGN * walk.many.qpos[0, 7:][MIRROR], atol=1e-12)
    np.testing.assert_allclose(now.rates[0], SIGN * walk.many.qvel[0, 6:][MIRROR], atol=1e-12)


def test_heading_may_be_changed_on_the_way(physics):
    """After `look` the walker steers by the new heading: its torso is turned from it."""
    walk = Walk(physics, 1, threads=1)
    walk.start(WALKER.initial[None])
    stepped(walk, 20)
    before = walk.sense().world[0, 0]
    walk.heading[:] = 0.2
    walk.look()
    assert walk.sense().world[0, 0, 2] == pytest.approx(before[2] - 0.2, abs=1e-9)
