"""What constraints do to a character that walks."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

from jostle.clips import Clip
from jostle.controllers import Command, Start
from jostle.controllers.obstacles import Block, Post
from jostle.controllers.policy.constraints import (
    Anatomy,
    Clear,
    Constraint,
    FootLock,
    HandsOnHips,
    Hold,
    Place,
    PointAt,
    Toggle,
    at_least,
    standard,
)
from jostle.controllers.skin import skin_of
from jostle.errors import CommandError
from jostle.maths import quat
from jostle.runtime import load_controller, save_controller

HAND, ELBOW = "right_hand", "right_forearm"


def run(policy, frames, command=None, constraints=None):
    """States under these constraints; `command` says what is asked for at a frame."""
    own = policy if constraints is None else replace(policy, constraints=constraints)
    states = [own.init(Start())]
    for frame in range(frames):
        wish = Command(heading=0.0) if command is None else command(frame, states[-1], own)
        states.append(own.step(states[-1], wish))
    return states


def clip_of(policy, states):
    poses = [state.pose for state in states]
    return Clip(policy.skeleton, 1.0 / policy.dt, np.array([p.root for p in poses]), np.array([p.wxyz for p in poses]))


def part(states, policy, name):
    return np.array([state.body.positions[policy.anatomy.part(name)] for state in states])


def test_all_are_constraints(walking):
    kinds = [toggle.constraint for toggle in standard(walking.skeleton)] + [Place(HAND, (1.0, 0.0, 1.0))]
    assert all(isinstance(one, Constraint) for one in kinds)
    assert {s.name for s in walking.settings} == {"feet_stay", "hips", "point", "pole", "wall"}
    assert all(s.toggle for s in walking.settings)


def test_soles_stand_on_the_ground_of_the_clips(walker_model):
    soles = Anatomy(walker_model).soles
    assert soles.names == ("left_foot", "right_foot")
    assert soles.bears.tolist() == [True, True, False] * 2 or soles.bears.all()
    assert np.all((soles.standing > -0.02) & (soles.standing < 0.15))


def test_planted_feet_stay_and_none_sinks(walking):
    def command(frame, state, policy):
        return Command(heading=0.8 if frame > 30 else 0.0)

    free, held = (run(walking, 90, command, constraints) for constraints in ((), (FootLock(),)))
    soles = walking.anatomy.soles

    def dragged(states):
        """Metres a second at which points near the ground go, at the median."""
        at = np.array([state.body.points(soles.joints, soles.places) for state in states[15:]])[:, soles.bears]
        speed = np.linalg.norm(np.diff(at[..., :2], axis=0), axis=-1) / walking.dt
        return np.median(speed[(at[1:, :, 2] - soles.standing[soles.bears]) < 0.5 * soles.low])

    assert dragged(held) < 0.5 * dragged(free)
    low = [np.min(s.body.points(soles.joints, soles.places)[:, 2] - soles.standing) for s in held[15:]]
    assert min(low) > -0.01
    for before, now in pairwise(held[20:]):
        both = before.held[0].memory.held & now.held[0].memory.held
        a, b = (s.body.points(soles.joints, soles.places)[both] for s in (before, now))
        assert np.all(np.linalg.norm((a - b)[:, :2], axis=1) < 0.03)
    assert any(state.observed.contacts["left_foot"] for state in held[1:])


def test_a_contact_ends_when_the_foot_is_lifted_in_a_cone(walking):
    lock, anatomy = FootLock(), walking.anatomy
    states = run(walking, 60, None, (lock,))
    soles = anatomy.soles
    for before, now in pairwise(states[20:]):
        was, memory = before.held[0].memory, now.held[0].memory
        for point in np.flatnonzero(was.held & ~memory.held):
            assert memory.share[point] < 1.0  # it lets go, not at once
            assert memory.share[point] > 0.5
        assert not np.any(memory.held & ~soles.bears)


def test_a_hand_keeps_to_a_target_that_moves(walking):
    own = replace(walking, constraints=(FootLock(), Place(HAND)))
    hand, (base, length) = own.anatomy.part(HAND), own.anatomy.limb(own.anatomy.part(HAND))
    state, missed = own.init(Start()), []
    shoulder = own.skeleton.rest_positions[base] - own.skeleton.rest_positions[0]
    for frame in range(60):
        turn = frame / 12.0
        away = [0.6 * length, 0.2 * np.cos(turn) * length, 0.3 * np.sin(turn) * length]
        target = state.body.positions[0] + quat.apply(quat.from_yaw(state.facing.heading), shoulder + away)
        state = own.step(state, Command(heading=0.0, target=target))
        missed.append(float(np.linalg.norm(state.body.positions[hand] - target)))
    assert np.median(missed[20:]) < 0.005
    assert np.quantile(missed[20:], 0.9) < 0.01


def test_nobody_strains_for_what_is_out_of_reach(walking):
    states = run(walking, 40, None, (Place(HAND, (1.0, 30.0, 1.0)),))
    base, length = walking.anatomy.limb(walking.anatomy.part(HAND))
    reach = [np.linalg.norm(s.body.positions[walking.anatomy.part(HAND)] - s.body.positions[base]) for s in states]
    assert max(reach) <= length + 1e-6
    head = part(states, walking, "head")[:, :2] - part(states, walking, "pelvis")[:, :2]
    assert np.max(np.linalg.norm(head, axis=1)) < 0.35


def test_hands_are_on_the_hips_while_they_are_wanted_there(walking):
    toggle = Toggle("hips", "hands on hips", HandsOnHips())

    def command(frame, state, policy):
        return Command(heading=0.0, settings={10: {"hips": 1.0}, 60: {"hips": 0.0}}.get(frame, {}))

    states = run(walking, 100, command, (toggle,))
    free = run(walking, 100, None, ())
    hand, hips = part(states, walking, "left_hand"), part(states, walking, "pelvis")
    away = np.linalg.norm(hand - hips, axis=1)
    assert np.ptp(away[30:60]) < 0.01  # they move with the hips
    other = part(free, walking, "left_hand")
    np.testing.assert_allclose(hand[:10], other[:10], atol=1e-9)
    assert np.linalg.norm(hand[40] - other[40]) > 0.1
    np.testing.assert_allclose(hand[-1], other[-1], atol=0.02)  # and come back
    jumps, usual = (np.linalg.norm(np.diff(at, 2, axis=0), axis=1) for at in (hand, other))
    assert np.max(jumps) < 1.2 * np.max(usual)


def test_an_arm_points_at_the_target_unless_that_is_behind(walking):
    ahead, behind = PointAt((8.0, 3.0, 1.5)), PointAt((-8.0, 0.0, 1.5))
    states = run(walking, 60, None, (ahead,))
    elbow, hand = part(states, walking, ELBOW), part(states, walking, HAND)
    way, goal = hand - elbow, np.array(ahead.target) - elbow
    cosine = np.sum(way * goal, axis=1) / np.linalg.norm(way, axis=1) / np.linalg.norm(goal, axis=1)
    assert np.all(cosine[20:] > np.cos(np.radians(1.0)))
    back, free = run(walking, 20, None, (behind,)), run(walking, 20, None, ())
    np.testing.assert_allclose(back[-1].row, free[-1].row, atol=1e-9)


def test_a_hand_stays_on_a_pole_while_that_is_near(walking):
    start = run(walking, 0)[0].body.positions[walking.anatomy.part("left_hand")]
    x, y = float(start[0]) + 0.5, float(start[1]) + 0.15
    states = run(walking, 70, None, (Hold((x, y, 0.0), (x, y, 2.0)),))
    off = np.linalg.norm(part(states, walking, "left_hand")[:, :2] - [x, y], axis=1)
    near = np.linalg.norm(part(states, walking, "left_upper_arm")[:, :2] - [x, y], axis=1)
    _, length = walking.anatomy.limb(walking.anatomy.part("left_hand"))
    within = (near < 0.8 * length) & (np.arange(len(off)) > 15)
    assert np.any(within)
    assert np.max(off[within]) < 0.01
    assert off[-1] > 0.3  # it has let go
    with pytest.raises(CommandError, match="two ends"):
        Hold((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def test_limbs_and_pelvis_keep_out_of_what_is_solid(walking):
    free = run(walking, 80, None, ())
    hand, elbow = (part(free, walking, name) for name in ("left_hand", "right_forearm"))
    things = (
        Post(hand[30] * [1.0, 1.0, 0.0] + [0.0, 0.08, 0.0], hand[30] * [1.0, 1.0, 0.0] + [0.0, 0.08, 2.0], 0.12),
        Block(elbow[60], np.array([0.3, 0.05, 0.3]), 0.2),
    )
    skin = skin_of(walking.anatomy.body)

    def deepest(states):
        found = []
        for state in states[15:]:
            at = state.body.points(skin.joints, skin.points)
            found.append(min(float(np.min(thing.distance(at)[0] - skin.radii)) for thing in things))
        return min(found)

    clear = run(walking, 80, None, (Clear(things),))
    assert deepest(free) < -0.1
    assert deepest(clear) > -0.06
    assert np.linalg.norm(clear[-1].body.positions[0] - free[-1].body.positions[0]) < 0.5  # and it goes on


def test_a_wall_ahead_stops_it(walking):
    start = run(walking, 0)[0].body.positions[0]
    wall = Block(np.array([start[0] + 1.2, start[1], 1.0]), np.array([0.1, 4.0, 1.0]))
    states = run(walking, 90, None, (Clear((wall,)),))
    assert max(state.body.place.x for state in states) < start[0] + 1.1


def test_a_constraint_of_your_own_takes_ten_lines(walking, tmp_path):
    @dataclass(frozen=True)
    class Tall:
        def init(self, anatomy):
            return anatomy.part("head")

        def decide(self, moment, memory, share):
            return memory

        def rows(self, moment, here, memory, share):
            at = here.positions[[memory]]
            height = here.jacobian(np.array([memory]), at)[0, 2]
            return at_least(height[None], np.array([share * (1.62 - at[0, 2])]))

    own = replace(walking, constraints=(Tall(),))
    head = part(run(walking, 40, None, (Tall(),)), walking, "head")[20:, 2]
    assert np.min(head) > 1.61 or np.min(head) > np.min(part(run(walking, 40, None, ()), walking, "head")[20:, 2])
    with pytest.raises(CommandError, match="holds no code"):
        save_controller(own, tmp_path / "own.jostle")


def test_one_linear_step_is_nearly_as_good(walking):
    many = replace(walking, constraints=(FootLock(), HandsOnHips()))
    one, apart = replace(many, linear=True), []
    for state in run(many, 40)[15:]:
        a, b = (policy.step(state, Command(heading=0.0)).body.positions for policy in (many, one))
        apart.append(np.max(np.linalg.norm(a - b, axis=1)))
    assert 0.0 < np.median(apart) < 0.03


def test_bundles_keep_constraints(walking, tmp_path):
    block = Block(np.array([1.0, 2.0, 1.0]), np.array([0.5, 0.1, 1.0]), 0.3)
    own = replace(walking, linear=True, constraints=(
        FootLock(), Toggle("a", "a wall", Clear((block,)), 0.5), Hold((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    ))  # fmt: skip
    save_controller(own, tmp_path / "a.jostle")
    back = load_controller(tmp_path / "a.jostle")
    assert back.linear
    assert back.constraints[0] == FootLock()
    assert back.constraints[1].on == 0.5
    np.testing.assert_allclose(back.scenery["a"][0].half, block.half)
    assert back.constraints[2] == own.constraints[2]
    a, b = (policy.step(policy.init(Start()), Command(heading=0.1)) for policy in (own, back))
    np.testing.assert_allclose(a.pose.wxyz, b.pose.wxyz, atol=1e-9)
    save_controller(walking, tmp_path / "b.jostle")
    assert load_controller(tmp_path / "b.jostle").constraints is None


def test_what_is_refused(walking):
    with pytest.raises(CommandError, match="finite"):
        Place(HAND, (np.nan, 0.0, 0.0))
    with pytest.raises(CommandError, match="setting"):
        walking.step(walking.init(Start()), Command(settings={"hop": 1.0}))
    with pytest.raises(Exception, match="tentacle"):
        replace(walking, constraints=(Place("tentacle", (0.0, 0.0, 0.0)),))
