"""A walker as a controller: pure, pushed by the physics, on a ground that changes, never at a loss when it falls."""

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from jostle.body import Dynamics, Ground
from jostle.controllers import NEUTRAL, Command, Controller, Push, Start
from jostle.controllers.walker.course import TURNING
from jostle.controllers.walker.parameters import SIMBICON, WALKER
from jostle.controllers.walker.people import PEOPLE, foot_corners
from jostle.controllers.walker.walker import STAND_UP, SUBSTEPS, Walker, WalkerState
from jostle.controllers.walker.world import TILTING
from jostle.errors import CommandError, JostleError
from jostle.maths import quat
from jostle.skeleton import forward

QPOS = slice(1, 38)  # in MuJoCo's state, after the time
QVEL = slice(38, 74)


def shove(part: str, force: tuple[float, ...], seconds: float, point: tuple[float, ...] | None = None) -> Push:
    return Push(part, np.array(force), seconds, None if point is None else np.array(point))


@pytest.fixture(scope="module")
def walker() -> Walker:
    return Walker("test", PEOPLE["stocky"], "walker", WALKER.initial)


def run(walker: Walker, seconds: float, command: Command = NEUTRAL, state: WalkerState | None = None) -> WalkerState:
    """The command counts at the first step."""
    state = walker.init(Start()) if state is None else state
    for _ in range(round(seconds / walker.dt)):
        state, command = walker.step(state, command), replace(command, pushes=(), settings={}, task=None)
    return state


def flying(walker: Walker, height: float = 5.0) -> WalkerState:
    """Far above the ground, where momentum changes by pushes and weight alone."""
    state = walker.init(Start())
    simulation = state.moment.simulation.copy()
    simulation[QPOS][2] += height
    return replace(state, moment=replace(state.moment, simulation=simulation))


def momentum(walker: Walker, state: WalkerState) -> tuple[np.ndarray, np.ndarray]:
    instant = Dynamics(walker.physics)
    instant.set(state.moment.simulation[QPOS], state.moment.simulation[QVEL])
    return instant.momentum()


def sole_height(walker: Walker, state: WalkerState, side: str) -> float:
    """Of the lowest corner of a foot above the floor, by our own kinematics."""
    world, skeleton, floor = forward(walker.skeleton, state.pose), walker.skeleton, state.moment.floor
    lowest = np.inf
    for part, corners in foot_corners(walker.body, side).items():
        if part != "Tip":
            joint = skeleton.index(side + part)
            points = world.positions[joint] + quat.apply(world.wxyz[joint], corners)
            lowest = min(lowest, float(np.min((points - floor.point) @ floor.normal)))
    return lowest


def test_it_keeps_the_protocol(walker):
    assert isinstance(walker, Controller)
    assert walker.name == "walker:test"
    assert {"pushes", "heading"} <= walker.supports
    timestep = walker.physics.model.opt.timestep
    assert timestep * SUBSTEPS == pytest.approx(walker.dt, rel=1e-12)
    assert timestep <= 0.002
    state = walker.init(Start())
    assert state.time == 0.0
    assert walker.step(state, NEUTRAL).time == pytest.approx(walker.dt)


def test_the_pose_is_that_of_the_simulation(walker):
    state = run(walker, 0.3)
    np.testing.assert_allclose(
        forward(walker.skeleton, state.pose).positions,
        forward(walker.skeleton, walker.physics.to_pose(state.moment.simulation[QPOS])).positions,
        atol=1e-12,
    )


def test_states_can_be_revisited_in_any_order(walker):
    """Whatever was simulated in between: other ground, pushes, a fall, another side of the gait."""
    push = Command(pushes=(shove("head", (80.0, 10.0, 0.0), 0.1),), settings={"slope": 5.0}, heading=1.0)
    first = run(walker, 0.25)
    second = walker.step(first, push)
    third = walker.step(second, NEUTRAL)
    run(
        walker,
        0.5,
        Command(settings={"slope": -10.0, "friction": 0.2}, pushes=(shove("torso", (0.0, 900.0, 0.0), 0.3),)),
    )
    again = walker.step(second, NEUTRAL)
    np.testing.assert_array_equal(again.moment.simulation, third.moment.simulation)
    np.testing.assert_array_equal(walker.step(first, push).moment.simulation, second.moment.simulation)
    other = Walker("test", walker.person, "walker", WALKER.initial)
    np.testing.assert_array_equal(run(other, 0.25).moment.simulation, first.moment.simulation)
    np.testing.assert_array_equal(other.step(second, NEUTRAL).moment.simulation, third.moment.simulation)


def test_it_starts_where_it_is_put(walker):
    """The same motion, moved and turned: only the ground's friction, a pyramid, knows where north is."""
    plain, turned = walker.init(Start()), walker.init(Start((3.0, -2.0), 2.0))
    for _ in range(9):
        plain, turned = walker.step(plain, NEUTRAL), walker.step(turned, NEUTRAL)
    expected = quat.apply(quat.from_yaw(2.0), plain.pose.root) + np.array([3.0, -2.0, 0.0])
    np.testing.assert_allclose(turned.pose.root, expected, atol=2e-3)
    assert turned.observed.quality["speed"] == pytest.approx(plain.observed.quality["speed"], abs=0.1)


@pytest.mark.parametrize("force", [(150.0, 0.0, 0.0), (0.0, -150.0, 0.0), (-60.0, 60.0, 90.0)])
def test_a_push_in_flight_changes_momentum_by_its_impulse(walker, force):
    """Also when it does not last a whole number of time steps. Motors' inertia (armature) keeps a little of it."""
    push = shove("left_forearm", force, 0.0437, (0.02, 0.01, -0.1))
    start = flying(walker)
    pushed, plain = (run(walker, 0.1, Command(pushes=p), start) for p in ((push,), ()))
    assert pushed.moment.pushes == ()
    gained = momentum(walker, pushed)[0] - momentum(walker, plain)[0]
    np.testing.assert_allclose(gained, push.impulse, atol=5e-3 * np.linalg.norm(push.impulse))


def test_pushes_add_up_on_one_part_and_on_several(walker):
    pushes = (
        shove("head", (30.0, 0.0, 0.0), 0.05),
        shove("head", (0.0, 20.0, 0.0), 0.03, (0.0, 0.05, 0.1)),
        shove("right_foot", (10.0, -40.0, 15.0), 0.08),
    )
    start = flying(walker)
    pushed, plain = (run(walker, 0.1, Command(pushes=p), start) for p in (pushes, ()))
    gained = momentum(walker, pushed)[0] - momentum(walker, plain)[0]
    np.testing.assert_allclose(gained, sum(p.impulse for p in pushes), atol=0.05)


def test_a_push_off_the_centre_turns_the_body(walker):
    start, reach = flying(walker), 0.3
    spins = []
    for side in (reach, -reach):
        push = shove("torso", (100.0, 0.0, 0.0), 0.05, (0.0, side, 0.0))
        spins.append(momentum(walker, run(walker, 0.1, Command(pushes=(push,)), start))[1][2])
    assert spins[1] - spins[0] == pytest.approx(2 * reach * 100.0 * 0.05, rel=0.15)


@pytest.mark.parametrize("force", [(200.0, 0.0, 0.0), (0.0, 200.0, 0.0), (0.0, -200.0, 0.0)])
def test_a_push_on_the_ground_moves_the_body_by_about_impulse_over_mass(walker, force):
    push = shove("torso", force, 0.05)
    pushed, plain = (run(walker, 0.05, Command(pushes=p)) for p in ((push,), ()))
    gained = (momentum(walker, pushed)[0] - momentum(walker, plain)[0]) / walker.person.mass
    expected = push.impulse / walker.person.mass
    assert gained @ expected / (expected @ expected) == pytest.approx(1.0, abs=0.3)
    assert np.linalg.norm(gained[:2] - expected[:2]) < 0.4 * np.linalg.norm(expected)


def test_contacts_are_those_of_the_feet(walker):
    state, seen = walker.init(Start()), set()
    for _ in range(40):
        state = walker.step(state, NEUTRAL)
        for side in ("Left", "Right"):
            height = sole_height(walker, state, side)
            if abs(height - 0.002) > 1e-4:  # not at the very threshold
                assert state.observed.contacts[f"{side.lower()}_foot"] == (height < 0.002)
            seen.add((side, state.observed.contacts[f"{side.lower()}_foot"]))
    assert len(seen) >= 3


def test_the_ground_tilts_slowly_about_the_stance_foot(walker):
    state, wish = run(walker, 0.1), Command(settings={"slope": 2.0})
    foot = walker.skeleton.index("RightFoot" if state.moment.side == 0 else "LeftFoot")
    before = state.moment.floor
    x = float(forward(walker.skeleton, state.pose).positions[foot, 0])
    state = walker.step(state, wish)
    assert state.moment.floor.slope == pytest.approx(TILTING * walker.dt)
    assert state.moment.floor.height(x) == pytest.approx(before.height(x), abs=1e-9)
    lowest = 0.0
    for _ in range(30):
        state = walker.step(state, NEUTRAL)
        lowest = min(lowest, sole_height(walker, state, "Left"), sole_height(walker, state, "Right"))
    assert np.degrees(state.moment.floor.slope) == pytest.approx(2.0)
    assert lowest > -0.025  # a step on level ground presses the edge of a sole 14 mm into it
    assert state.observed.quality["slope"] == pytest.approx(2.0)


def test_it_starts_on_the_slope_that_it_was_made_for():
    uphill = Walker("up", PEOPLE["stocky"], "walker", WALKER.initial, Ground(np.radians(10.0), 0.8))
    state = uphill.init(Start((5.0, 1.0), 0.3))
    assert state.moment.floor.height(5.0) == pytest.approx(5.0 * np.tan(np.radians(10.0)))
    assert sole_height(uphill, state, "Right") == pytest.approx(0.0, abs=2e-3)
    assert [setting.default for setting in uphill.settings] == pytest.approx([10.0, 0.8])


BLOW = shove("torso", (0.0, 800.0, 0.0), 0.3)


def test_a_fallen_walker_comes_to_rest_on_the_ground_and_stands_up_again(walker):
    state = run(walker, 3.0, Command(pushes=(BLOW,)))
    assert state.moment.fallen
    assert np.abs(state.moment.simulation[QVEL]).max() < 0.5
    assert 0.0 < state.observed.quality["com_height"] < 0.4
    assert min(sole_height(walker, state, side) for side in ("Left", "Right")) > -0.02
    risen = walker.step(state, Command(task=STAND_UP))
    assert risen.observed.quality["fallen"] == 0.0
    assert risen.observed.quality["com_height"] > 0.8
    np.testing.assert_allclose(risen.pose.root[:2], state.pose.root[:2], atol=1e-9)
    assert risen.time > state.time


@pytest.mark.parametrize(("tilt", "fallen"), [(50.0, False), (70.0, True), (-70.0, True), (180.0, True)])
def test_who_tilts_too_far_has_fallen_at_any_height(walker, tilt, fallen):
    state = flying(walker)
    simulation = state.moment.simulation.copy()
    simulation[QPOS][3:7] = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(tilt))
    thrown = replace(state, moment=replace(state.moment, simulation=simulation))
    assert walker.step(thrown, NEUTRAL).moment.fallen == fallen


def test_friction_holds_a_body_on_a_slope_or_lets_it_slide(walker):
    """A block on 15 degrees slides where friction is below tan 15 = 0.27; the slope rises along X."""
    steep, speeds = replace(walker, ground=Ground(np.radians(15.0))), []
    for friction in (0.1, 2.0):
        end = run(steep, 2.0, Command(settings={"friction": friction}, pushes=(BLOW,)))
        speeds.append(float(end.moment.simulation[QVEL][0]))
    assert speeds[0] < -0.5
    assert abs(speeds[1]) < 0.2


def test_nothing_makes_it_raise(walker):
    """A push that no simulation survives leaves a body that lies there."""
    state = run(walker, 0.5, Command(pushes=(shove("left_hand", (1e7, 0.0, 1e7), 0.2),)))
    assert state.moment.fallen
    assert np.all(np.isfinite(state.moment.simulation))
    state = run(walker, 0.5, Command(task=STAND_UP), state)
    assert np.all(np.isfinite(state.pose.wxyz))


def test_the_heading_turns_towards_the_wish(walker):
    state = run(walker, 0.1)
    for wish in (3.0, -3.0):
        turned = walker.step(state, Command(heading=wish))
        assert 0.0 < turned.observed.quality["heading"] * np.sign(wish) <= TURNING * walker.dt
        assert turned.moment.course.veer * np.sign(wish) > 0.0
    assert walker.step(state, NEUTRAL).observed.quality["heading"] == 0.0


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (Command(settings={"gravity": 1.0}), "No setting 'gravity'.*slope, friction"),
        (Command(settings={"slope": 40.0}), "between -15 and 15 degrees, not 40"),
        (Command(settings={"friction": float("nan")}), "'friction' must be a number"),
        (Command(task="dance"), "No task 'dance'.*stand up"),
        (Command(pushes=(shove("wing", (1.0, 0.0, 0.0), 0.1),)), "wing"),
    ],
)
def test_a_wish_that_makes_no_sense_gets_one_sentence(walker, command, sentence):
    with pytest.raises(JostleError, match=sentence):
        walker.step(walker.init(Start()), command)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"machine": "robot"}, "No kind of walker 'robot'"),
        ({"values": np.zeros(3)}, "parameters"),
        ({"values": np.full(len(WALKER), np.nan)}, "finite"),
        ({"ground": Ground(np.radians(30.0))}, "slope"),
        ({"ground": Ground(friction=9.0)}, "friction"),
    ],
)
def test_a_walker_that_makes_no_sense_gets_one_sentence(walker, changes, sentence):
    with pytest.raises(CommandError, match=sentence):
        replace(walker, **changes)


def test_a_running_walker_can_be_sent_to_another_process(walker):
    state = run(walker, 0.1)
    other, again = pickle.loads(pickle.dumps((walker, state)))
    np.testing.assert_array_equal(
        other.step(again, NEUTRAL).moment.simulation, walker.step(state, NEUTRAL).moment.simulation
    )


def test_simbicon_runs_too():
    simbicon = Walker("yin", PEOPLE["tall"], "simbicon", SIMBICON.initial)
    assert not run(simbicon, 0.2).moment.fallen


def test_the_runtime_opens_no_mujoco():
    script = "import sys, jostle.runtime, jostle.controllers, jostle.assets; print('mujoco' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
