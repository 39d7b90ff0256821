"""Strikes: found in a take, rewarded where they hit at speed, and helped onto their target."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import Clip, load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers import Command, Start
from jostle.controllers.policy.constraints import Held, Hit
from jostle.controllers.policy.policy import plan_policy, task_of
from jostle.controllers.policy.strikes import strike_windows, strikes_in
from jostle.controllers.policy.tasks import Step, Striking
from jostle.controllers.policy.tasks.strike import passed
from jostle.controllers.policy.tasks.target import flat, polar
from jostle.errors import CommandError, MotionError
from jostle.evaluate.control.strikes import by_chance, hit_rate, reached, sector_of, strike, unhelped
from jostle.features import Placement
from jostle.maths import quat
from jostle.models.connected import fit_connected
from jostle.runtime import load_controller, save_controller
from jostle.skeleton import find_roles

FPS = 30.0
PUNCHES = ((1.0, 0.0), (2.0, 0.35), (3.0, -0.2))  # seconds, and how far to the left


def puncher(punches=PUNCHES, seconds=4.0, width=0.2) -> Clip:
    """Somebody who stands, and whose right arm goes out and comes back; a slow one at the end is no strike."""
    standing = trim_frames(load_clip(clip_path("walk")), 0, 1)
    time = np.arange(round(seconds * FPS)) / FPS
    out = sum((np.exp(-(((time - at) / width) ** 2)) for at, _ in punches), np.zeros(len(time)))
    aside = sum((left * np.exp(-(((time - at) / (2 * width)) ** 2)) for at, left in punches), np.zeros(len(time)))
    wxyz = np.repeat(standing.wxyz, len(time), axis=0)
    roles, lift = find_roles(standing.skeleton), np.array([0.0, -1.0, 0.0])
    arm = quat.mul(quat.from_yaw(aside), quat.from_axis_angle(lift, 1.4 * out))
    wxyz[:, roles["right_upper_arm"]] = arm
    wxyz[:, roles["right_forearm"]] = quat.from_axis_angle(lift, 2.2 * (1.0 - out))
    sway = 0.01 * np.sin(2.0 * time)
    wxyz[:, 1] = quat.mul(quat.from_yaw(sway), wxyz[:, 1])
    return Clip(standing.skeleton, FPS, np.repeat(standing.root, len(time), axis=0), wxyz, name="puncher")


@pytest.fixture(scope="module")
def model():
    return fit_connected(strike_windows([puncher()], "right_hand")[0], latent=3, iterations=40)


@pytest.fixture(scope="module")
def policy(model):
    return plan_policy(model, Striking(), rounds=0)


def test_strikes_are_found_where_they_are():
    found = [strike for _, strike in strikes_in([puncher()], "right_hand")]
    assert [s.begin < round(FPS * at) < s.end for s, (at, _) in zip(found, PUNCHES, strict=True)] == [True] * 3
    assert all(0.0 <= FPS * at - s.hit <= 0.3 * FPS for s, (at, _) in zip(found, PUNCHES, strict=True))
    turns = polar(np.array([s.place[:2] for s in found]))[:, 0]
    assert turns[2] < turns[0] < turns[1]


def test_what_is_slow_or_near_is_no_strike():
    slow = puncher(((1.0, 0.0), (2.2, 0.0), (5.0, 0.0)), 7.0)
    shape = puncher(((5.0, 0.0),), 7.0, width=1.2)
    wxyz = slow.wxyz.copy()
    wxyz[90:] = shape.wxyz[90:]
    assert len(strikes_in([replace(slow, wxyz=wxyz)], "right_hand")) == 2
    with pytest.raises(MotionError, match="name another joint"):
        strike_windows([puncher((), 2.0)], "left_hand")


def test_windows_go_from_guard_to_guard():
    pieces, found = strike_windows([puncher(((1.0, 0.0), (4.0, 0.0)), 6.0)], "right_hand")
    assert len(found) == len(pieces) == 2
    assert all(30 <= piece.frame_count <= 60 for piece in pieces)
    assert "puncher" in pieces[0].name


def test_a_strike_pays_on_its_target_at_speed_and_on_the_way_out_only(model):
    task = Striking().fitted(model)
    x = model.latent_rows[: model.lengths[0]]
    for way in (1, -1):
        step = Step.between(model, x[:-1], x[1:]) if way > 0 else Step.between(model, x[1:], x[:-1])
        at, v = step.position("right_hand"), step.velocity("right_hand")
        theta = polar(at[:, :2])
        away = np.sum(v[:, :2] * flat(theta), axis=1) / theta[:, 1]
        paid = task.reward(step, theta)
        high = np.exp(-task.sharp * np.abs(at[:, 2] - task.height))
        least = np.where(away >= task.speed, task.worth * high, 0.0)  # at the end of its way
        assert np.all((paid >= least - 1e-9) & ((paid > 0.0) == (least > 0.0)))
        assert np.any(paid > 1.0)
        off = task.reward(step, theta + np.array([0.0, 0.1]))
        assert np.all(off[paid > 0] < paid[paid > 0])


def test_the_way_of_a_frame_comes_nearer_than_its_ends():
    a, b = np.zeros(3), np.array([0.25, 0.0, 0.0])
    points = np.array([[0.1, 0.03, 0.0], [0.3, 0.0, 0.0], [-0.1, 0.0, 0.0]])
    np.testing.assert_allclose(passed(a, b, points), [0.03, 0.05, 0.1])


def test_the_task_knows_where_its_motions_hit(model):
    task = Striking().fitted(model)
    places = [strike.place for _, strike in strikes_in([puncher()], "right_hand")]
    assert task.far == pytest.approx(np.max(polar(np.array(places)[:, :2])[:, 1]), abs=0.05)
    assert task.height == pytest.approx(np.median(np.array(places)[:, 2]), abs=0.1)
    turns, reach = task.axes
    assert np.all(np.diff(turns.values) > 0)
    assert turns.high - turns.low == pytest.approx(2 * np.pi)
    assert reach.values[0] == 0.0
    assert Striking(height=1.0).fitted(model).height == 1.0
    with pytest.raises(CommandError, match="fitted"):
        _ = Striking().axes


def test_a_target_stays_where_it_is_while_the_character_moves(model):
    task = Striking().fitted(model)
    step = Step(np.array([[0.6, -0.3, 1.5]]), 0.1)
    target = np.array([2.0, 1.0, 0.0])
    before, after = Placement(0.5, 0.2, 0.7), None
    c, s = np.cos(0.7), np.sin(0.7)
    after = Placement(0.5 + 0.1 * (c * 0.6 + s * 0.3), 0.2 + 0.1 * (s * 0.6 - c * 0.3), 0.85)
    seen = task.after(step, task.seen(target, before)[None])[0]
    np.testing.assert_allclose(seen, task.seen(target, after), atol=1e-12)


def test_a_trained_character_strikes_and_a_bundle_keeps_it(policy, tmp_path):
    assert policy.supports >= {"target"}
    assert policy.aims_at == pytest.approx(policy.plan.task.height)
    sector = sector_of(policy)
    assert sector.near < sector.far
    assert sector.right < sector.left
    found = strike(policy, seed=1, targets=3, hold=1.0)
    assert found.far.shape == (3, 30)
    assert hit_rate(found, 0.15) > 0.6
    fresh = strike(policy, seed=1, targets=2, hold=0.5, from_guard=True)
    assert len(fresh.clips) == 2
    assert fresh.clips[0].frame_count == 16
    assert 0.0 < reached(policy, found) <= 1.0
    assert by_chance(policy, 10.0, targets=5) == 1.0
    assert len(unhelped(policy).bounds) == len(policy.bounds) - 1
    save_controller(policy, tmp_path / "punch.jostle")
    assert load_controller(tmp_path / "punch.jostle").plan.task == policy.plan.task  # pyright: ignore[reportAttributeAccessIssue]


def test_what_is_near_the_target_goes_there(policy):
    """From 8 cm away the joint is led onto its target; from far it is left alone."""
    roles = find_roles(policy.skeleton)
    hand, shoulder = roles["right_hand"], roles["right_upper_arm"]
    free, aiming = (replace(policy, constraints=own) for own in ((), (Hit("right_hand", 1.0),)))

    def goes(seed):
        """Where the fist comes to, and by how much; whether the arm is still bent."""
        begun = free.init(Start(seed=seed))
        alone = free.step(begun, Command()).body.positions
        way, bent = alone[hand] - begun.body.positions[hand], np.linalg.norm(alone[hand] - alone[shoulder]) < 0.4
        return alone, way, bent and np.linalg.norm(way) > 0.02 and way[0] > 0.0

    seed = next(seed for seed in range(60) if goes(seed)[2])
    alone, way, _ = goes(seed)
    for off, missed in ((0.08, 0.0), (0.5, 0.5)):
        target = alone[hand] + off * way / np.linalg.norm(way)
        ready = aiming.init(Start(seed=seed))
        ready = replace(ready, held=(Held(1.0, replace(ready.held[0].memory, pull=1.0)),))  # it has taken hold
        shown = aiming.step(ready, Command(target=target))
        np.testing.assert_allclose(np.linalg.norm(shown.body.positions[hand] - target), missed, atol=0.01)
    target = alone[hand] + 0.08 * way / np.linalg.norm(way)
    fresh = aiming.init(Start(seed=seed))
    shown = aiming.step(replace(fresh, held=(Held(1.0, fresh.held[0].memory),)), Command(target=target))
    left = 1.0 - max(0.25, np.linalg.norm(way) / 0.18)  # it takes hold no faster than the joint goes
    np.testing.assert_allclose(np.linalg.norm(shown.body.positions[hand] - target), 0.08 * max(left, 0.0), atol=0.01)
    with pytest.raises(CommandError, match="for the first"):
        Hit("right_hand", 1.0, near=0.3)


def test_what_is_refused():
    with pytest.raises(CommandError, match="cannot be made"):
        task_of("heading", joint="right_hand")
