"""What else a character that gives way does, and what stands in its way."""

from dataclasses import dataclass

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.body import Box, build_body
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.clips.loop import loop
from jostle.controllers import NEUTRAL, Command, Push, Start
from jostle.controllers.compliant.compliant import compliant_clip
from jostle.controllers.compliant.objectives import (
    UP,
    Avoid,
    LookAt,
    Objective,
    Reach,
    Rows,
    Upright,
    View,
)
from jostle.controllers.obstacles import Block, Post
from jostle.controllers.skin import skin_of
from jostle.errors import CommandError
from jostle.maths import quat
from jostle.skeleton import find_roles, forward

LEFT = Command(pushes=(Push("left_arm", np.array([0.0, 150.0, 0.0]), 0.15),))


@pytest.fixture(scope="module")
def clip():
    return loop(trim_frames(load_clip(clip_path("walk")), 0, 240))


def run(clip, objectives, frames=150, pushed=40, command=LEFT):
    character = compliant_clip(clip, objectives=objectives)
    states = [character.init(Start())]
    for frame in range(frames):
        states.append(character.step(states[-1], command if frame == pushed else NEUTRAL))
    return character, states


def test_a_cup_stays_upright(clip):
    tilts = []
    for objectives in ((), (Upright("right_hand"),)):
        character, states = run(
            clip, objectives, command=Command(pushes=(Push("right_arm", np.array([0.0, -100.0, 0.0]), 0.15),))
        )
        hand = find_roles(character.skeleton)["right_hand"]
        ours, theirs = (
            np.array([forward(character.skeleton, pose).wxyz[hand] for pose in poses])
            for poses in ([s.pose for s in states], [s.source.pose for s in states])
        )
        tilts.append(np.degrees(np.arccos(np.clip(quat.apply(ours, quat.inv_apply(theirs, UP))[:, 2], -1, 1))))
    assert np.max(tilts[0]) > 5.0
    assert np.max(tilts[1]) < 5.0


def test_a_cup_of_its_own_axis_is_righted(clip):
    axis = np.array([1.0, 0.0, 0.3]) / np.linalg.norm([1.0, 0.0, 0.3])
    character, states = run(clip, (Upright("right_hand", axis),), pushed=-1)
    hand = find_roles(character.skeleton)["right_hand"]
    up = [quat.apply(forward(character.skeleton, s.pose).wxyz[hand], axis)[2] for s in states]
    assert np.degrees(np.arccos(up[0])) > 20.0
    assert np.degrees(np.arccos(np.mean(up[60:]))) < 10.0


def test_the_head_looks_there(clip):
    point = np.array([6.0, 4.0, 1.5])
    character, states = run(clip, (LookAt(point),), 60, pushed=-1)
    head = find_roles(character.skeleton)["head"]

    def off(state):
        world = forward(character.skeleton, state.pose)
        towards = point - world.positions[head]
        ahead = quat.apply(world.wxyz[head], np.array([1.0, 0.0, 0.0]))
        return np.degrees(np.arccos(ahead @ towards / np.linalg.norm(towards)))

    assert off(states[0]) > 20.0
    assert max(off(state) for state in states[30:]) < 8.0


def test_a_hand_is_kept_in_its_place_while_it_can_be(clip):
    character, states = run(clip, (), 1)
    place = states[0].pose.root + np.array([0.7, -0.35, 0.25])
    character, states = run(clip, (Reach(place, "right_hand"),), 240, pushed=-1)
    here = character.yielding.here
    hand, far = find_roles(character.skeleton)["right_hand"], []
    for state in states:
        here.set(state.qpos)
        far.append(np.linalg.norm(here.point(hand) - place))
    assert min(far) < 0.03
    assert np.all(np.isfinite(states[-1].qpos))  # although it walked on, and the place is metres behind
    assert max(character.yielding.dofs * 0 + np.abs(states[-1].qvel[character.yielding.dofs])) < 25.0


def test_obstacles_are_avoided_and_what_hits_them_is_pushed(clip):
    post = Post(np.array([1.0, 0.33, 0.0]), np.array([1.0, 0.33, 1.7]), 0.05)
    least, hits = [], []
    for objectives in ((Avoid((post,), weight=1e-6, stiffness=1e-6),), (Avoid((post,)),)):
        character, states = run(clip, objectives, 100, pushed=-1)
        avoid, near = Avoid((post,)), []
        for state in states:
            character.yielding.here.set(state.qpos)
            near.append(min(one[3] for one in avoid._near(character.yielding.here, np.inf)))
        least.append(min(near))
        hits.append(sum(len(state.hits) for state in states))
    assert least[1] > least[0] + 0.02
    wall = Block(np.array([1.3, 0.0, 1.2]), np.array([0.02, 1.0, 0.4]))  # there is no way round
    character, states = run(clip, (Avoid((wall,)),), 90, pushed=-1)
    hit = next(state.hits[0] for state in states if state.hits)
    assert hit.force[0] < 0.0
    assert hit.duration == pytest.approx(character.dt)
    assert all(np.all(np.isfinite(state.qpos)) for state in states)


def test_a_trunk_is_bent_out_of_the_way(clip):
    """Measured on the surface of its boxes: a beam beside the path, which a shoulder would walk into."""
    beam = Block(np.array([1.25, 0.22, 1.3]), np.array([0.1, 0.05, 0.15]))
    faces = np.random.default_rng(0).uniform(-1.0, 1.0, (200, 3))
    faces[np.arange(200), np.arange(200) % 3] = np.sign(faces[np.arange(200), np.arange(200) % 3])
    least = []
    for objectives in ((), (Avoid((beam,)),)):
        character, states = run(clip, objectives, 100, pushed=-1)
        here, spine, near = character.yielding.here, np.array([character.body.part("spine")]), []
        for state in states:
            here.set(state.qpos)
            for box in character.body.shapes:
                if box.joint == spine[0] and isinstance(box, Box):
                    local = box.centre + quat.apply(box.wxyz, faces * box.half)
                    near.append(np.min(beam.distance(here.positions(spine) + local @ here.axes(spine)[0].T)[0]))
        least.append(min(near))
    assert least[0] < -0.015
    assert least[1] > 0.005


def test_balls_fill_the_body(clip):
    """None sticks out of its shape, and what is inside a box but for its edges is inside a ball, or nearly."""
    body, rng = build_body(clip.skeleton), np.random.default_rng(0)
    skin = skin_of(body)
    assert skin_of(body) is skin
    feet = {joint for sole in body.soles for joint in sole.joints}
    shapes = [shape for shape in body.shapes if shape.joint not in feet]
    for number, shape in enumerate(shapes):
        mine = skin.shapes == number
        points, radius = skin.points[mine], skin.radii[mine][0]
        assert np.all(skin.joints[mine] == shape.joint)
        if isinstance(shape, Box):
            local = quat.inv_apply(shape.wxyz, points - shape.centre)
            assert np.all(np.abs(local) + radius <= shape.half + 1e-9)
            inside = shape.half - 0.5 * radius
            some = rng.uniform(-1.0, 1.0, (100, 3)) * inside
            far = np.min(np.linalg.norm(some[:, None] - local[None], axis=-1), axis=1) - radius
            assert np.max(far) < 0.02
        else:
            along = (points - shape.start) @ (shape.end - shape.start) / np.sum((shape.end - shape.start) ** 2)
            np.testing.assert_allclose(points, shape.start + along[:, None] * (shape.end - shape.start), atol=1e-9)
            assert (along.min(), along.max()) == pytest.approx((0.0, 1.0))


def test_anything_with_rows_is_an_objective(clip):
    @dataclass(frozen=True)
    class Still:
        def rows(self, view: View) -> Rows:
            return Rows(1e4 * view.here.rotation_jacobian(view.part("chest")), np.zeros(3))

    assert isinstance(Still(), Objective)
    spins = []
    for objectives in ((), (Still(),)):
        character, states = run(clip, objectives, 120, pushed=-1)
        chest = find_roles(character.skeleton)["chest" if "chest" in find_roles(character.skeleton) else "spine"]
        turned = np.array([forward(character.skeleton, s.pose).wxyz[chest] for s in states[60:]])
        spins.append(np.mean(quat.angle(quat.inv_mul(turned[:-1], turned[1:]))))
    assert spins[1] < 0.5 * spins[0]


@pytest.mark.parametrize("seed", range(3))
def test_distances_are_those_to_the_surface(seed):
    """Against the nearest of many points of the surface; the way out leads out."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1.0, 1.0, (60, 3))
    block = Block(np.array([0.1, -0.1, 0.2]), np.array([0.3, 0.2, 0.5]), 0.4)
    post = Post(np.array([0.0, 0.1, -0.4]), np.array([0.3, 0.0, 0.6]), 0.2)
    faces = rng.uniform(-1.0, 1.0, (60000, 3))
    axis = rng.integers(0, 3, 60000)
    faces[np.arange(60000), axis] = np.sign(faces[np.arange(60000), axis])
    on_block = block.centre + quat.apply(quat.from_yaw(block.turn), faces * block.half)
    way = rng.normal(size=(60000, 3))
    along = (post.end - post.start) / np.linalg.norm(post.end - post.start)
    share = np.repeat([0.0, 0.5, 1.0], 20000)[:, None]  # the ends are balls, between them is a tube
    way = np.where(share == 0.5, way - (way @ along)[:, None] * along, way)
    way = np.where(
        (share == 0.0) & ((way @ along)[:, None] > 0) | (share == 1.0) & ((way @ along)[:, None] < 0), -way, way
    )
    share = np.where(share == 0.5, rng.uniform(size=share.shape), share)
    line = post.start + share * (post.end - post.start)
    on_post = line + post.radius * way / np.linalg.norm(way, axis=1, keepdims=True)
    for obstacle, surface in ((block, on_block), (post, on_post)):
        far, out = obstacle.distance(points)
        np.testing.assert_allclose(np.linalg.norm(out, axis=1), 1.0, atol=1e-9)
        nearest = np.min(np.linalg.norm(points[:, None] - surface[None], axis=-1), axis=1)
        np.testing.assert_allclose(np.abs(far), nearest, atol=0.03)
        np.testing.assert_allclose(obstacle.distance(points + 1e-4 * out)[0], far + 1e-4, atol=1e-6)


def test_what_objectives_refuse(clip):
    with pytest.raises(CommandError, match="third_hand"):
        compliant_clip(clip, objectives=(Upright("third_hand"),))
    for part in ("left_foot", "pelvis"):
        with pytest.raises(CommandError, match="goes where the motion takes it"):
            compliant_clip(clip, objectives=(Reach(np.ones(3), part),))
    with pytest.raises(CommandError, match="sizes above zero"):
        Post(np.zeros(3), np.array([0.0, 0.0, 1.0]), -0.1)
    with pytest.raises(CommandError, match="finite"):
        Block(np.array([np.nan, 0.0, 0.0]), np.ones(3))
