import numpy as np
import pytest
from figures import dog, person

from jostle.body import Ground, Hinges, Options, Simulations, build_body, compile_body, human_dofs
from jostle.clips.io import load_clip
from jostle.maths import quat
from jostle.skeleton import build_skeleton, forward


def bent(physics, part, angle):
    """World positions of all joints with one hinge turned."""
    qpos = physics.model.qpos0.copy()
    qpos[physics.qpos_at[physics.body.part(part)]] = angle
    return forward(physics.body.skeleton, physics.to_pose(qpos)).positions


@pytest.mark.parametrize("side", ["left", "right"])
def test_knees_bend_back_and_elbows_forward(side):
    body = build_body(person())
    physics = compile_body(body, dofs=human_dofs(body))
    ankle, wrist = body.part(f"{side}_foot"), body.part(f"{side}_hand")
    rest = body.skeleton.rest_positions
    assert bent(physics, f"{side}_shin", 1.0)[ankle, 0] < rest[ankle, 0] - 0.3
    assert bent(physics, f"{side}_forearm", 1.0)[wrist, 0] > rest[wrist, 0] + 0.2


def test_every_joint_but_the_root_is_limited_and_an_animals_are_not():
    body = build_body(person(dummies=True))
    assert {body.part(name) for name in human_dofs(body)} == set(range(1, body.skeleton.joint_count))
    assert human_dofs(build_body(dog())) == {}


def test_a_pelvis_rides_on_the_handle_of_its_rig():
    inner = person()
    ends = [(int(j) + 1, offset) for j, offset in zip(inner.end_parents, inner.end_offsets, strict=True)]
    offsets = np.concatenate([[[0.0, 0.0, 0.0]], inner.offsets])
    parents = [-1, 0, *(int(p) + 1 for p in inner.parents[1:])]
    body = build_body(build_skeleton(["handle", *inner.names], parents, offsets, ends))
    assert human_dofs(body)["pelvis"] == Hinges()


@pytest.mark.parametrize("name", ["snu_ys2010/walk/wd2_WalkForwardNormal00.bvh", "cmu_bvh/07_01.bvh"])
def test_a_real_body_falls_within_its_limits(data, name):
    """Three seconds; limits are soft, so they may give by a few degrees at an impact."""
    clip = load_clip(data / name)
    body = build_body(clip.skeleton)
    physics = compile_body(body, Ground(), Options(armature=0.005, damping=1.0), human_dofs(body))
    qpos = physics.to_qpos(clip.pose(60))
    qpos[2] += 0.1
    many = Simulations(physics, 1, 1)
    many.start(qpos[None])
    neck = body.part("head")
    for _ in range(30):
        many.step(50)
        knees = many.qpos[0, [physics.qpos_at[body.part(f"{s}_shin")] for s in ("left", "right")]]
        assert np.all((knees > -0.25) & (knees < np.radians(140.0) + 0.25))
        assert quat.angle(physics.to_pose(many.qpos[0]).wxyz[neck]) < np.radians(30.0) + 0.25
    assert many.running.all()
    assert np.abs(many.qvel).max() < 1.0
