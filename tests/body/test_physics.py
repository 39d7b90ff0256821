"""MuJoCo's kinematics against ours, and coordinates in and out."""

import mujoco
import numpy as np
import pytest
from figures import breadth_first, dog, person, random_pose

from jostle.body import Ball, Dynamics, Ground, Hinge, Hinges, Options, build_body, compile_body
from jostle.clips.io import load_clip
from jostle.errors import BodyError, CommandError
from jostle.maths import quat
from jostle.skeleton import build_skeleton, forward

CLIPS = [
    "snu_ys2010/walk/wd2_WalkForwardNormal00.bvh",
    "snu_ys2010/other/boxing_boxman_hited_dir.bvh",
    "cmu_bvh/07_01.bvh",
    "bandai_namco_1/dataset-1_walk_normal_001.bvh",
    "kaykit_cc0/Knight.glb",
    "quaternius_cc0/Fox.glb",
    "quaternius_cc0/Trex.glb",
]
KNEE = Hinges((Hinge((0.0, 1.0, 0.0), (0.0, 2.6)),))


def assert_same_kinematics(skeleton, seed=0):
    physics = compile_body(build_body(skeleton))
    rng, instant = np.random.default_rng(seed), Dynamics(physics)
    for _ in range(5):
        pose = random_pose(skeleton, rng)
        ours = forward(skeleton, pose)
        instant.set(physics.to_qpos(pose))
        np.testing.assert_allclose(instant.data.xpos[physics.bodies], ours.positions, atol=1e-9)
        theirs = instant.data.xmat[physics.bodies].reshape(-1, 3, 3)
        np.testing.assert_allclose(theirs, quat.to_matrix(ours.wxyz), atol=1e-9)
        np.testing.assert_allclose(instant.coms(), physics.body.coms(pose), atol=1e-9)


@pytest.mark.parametrize("skeleton", [person(), person(spines=5, dummies=True), dog(), breadth_first(person())])
def test_mujoco_puts_joints_where_we_do(skeleton):
    assert_same_kinematics(skeleton)


@pytest.mark.parametrize("name", CLIPS)
def test_mujoco_puts_real_skeletons_joints_where_we_do(data, name):
    assert_same_kinematics(load_clip(data / name).skeleton)


def test_names_that_mujoco_keeps_for_itself():
    skeleton = build_skeleton(["world", "", "b"], [-1, 0, 1], [[0, 0, 1], [0.3, 0, 0], [0.3, 0, 0]], [(2, [0.2, 0, 0])])
    assert_same_kinematics(skeleton)


def test_a_pose_survives_the_way_through_mujoco():
    skeleton = breadth_first(person())
    physics = compile_body(build_body(skeleton))
    pose = random_pose(skeleton, np.random.default_rng(1))
    back = physics.to_pose(physics.to_qpos(pose))
    np.testing.assert_allclose(back.root, pose.root)
    np.testing.assert_allclose(back.wxyz, pose.wxyz, atol=1e-12)


def test_velocities_between_poses_are_mujocos():
    skeleton = breadth_first(person())
    physics = compile_body(build_body(skeleton), dofs={"left_shin": KNEE})
    rng = np.random.default_rng(2)
    start, end = (physics.to_qpos(random_pose(skeleton, rng, 0.5)) for _ in range(2))
    theirs = np.zeros(physics.velocity_count)
    mujoco.mj_differentiatePos(physics.model, theirs, 0.1, start, end)
    np.testing.assert_allclose(physics.velocity_between(start, end, 0.1), theirs, atol=1e-9)


def test_mass_is_stated_not_guessed_from_shapes():
    body = build_body(person(), mass=81.5)
    model = compile_body(body, Ground()).model
    assert np.sum(model.body_mass) == pytest.approx(81.5)


HINGES = [
    Hinges((Hinge((0.0, 1.0, 0.0)),)),
    Hinges((Hinge((0.0, 0.0, 1.0)), Hinge((1.0, 0.0, 0.0)))),
    Hinges((Hinge((0.0, 0.0, 1.0)), Hinge((1.0, 0.0, 0.0)), Hinge((0.0, 1.0, 0.0)))),
    Hinges((Hinge((1.0, 0.0, 0.0)), Hinge((0.0, 0.0, 1.0)), Hinge((0.0, 1.0, 0.0)))),  # left-handed
    Hinges((Hinge((0.6, 0.8, 0.0)), Hinge((-0.8, 0.6, 0.0)))),
    Hinges(),
]


@pytest.mark.parametrize("hinges", HINGES)
def test_hinges_turn_as_mujoco_turns_them(hinges):
    skeleton = person()
    physics = compile_body(build_body(skeleton), dofs={"left_upper_arm": hinges})
    assert physics.velocity_count == 3 * (skeleton.joint_count + 1) - 3 + len(hinges.hinges)
    rng, instant = np.random.default_rng(3), Dynamics(physics)
    qpos = physics.to_qpos(random_pose(skeleton, rng))
    at = physics.qpos_at[skeleton.index("LeftArm")]
    qpos[at : at + len(hinges.hinges)] = rng.uniform(-1.2, 1.2, len(hinges.hinges))
    instant.set(qpos)
    pose = physics.to_pose(qpos)
    np.testing.assert_allclose(instant.data.xpos[physics.bodies], forward(skeleton, pose).positions, atol=1e-9)
    np.testing.assert_allclose(physics.to_qpos(pose), qpos, atol=1e-9)


def test_one_hinge_takes_the_twist_that_comes_nearest():
    """The angle about the axis that leaves the smallest rotation undone, by search."""
    skeleton = person()
    physics = compile_body(build_body(skeleton), dofs={"left_shin": KNEE})
    pose, knee = random_pose(skeleton, np.random.default_rng(5), 0.6), skeleton.index("LeftLeg")
    angle = physics.to_qpos(pose)[physics.qpos_at[knee]]
    tries = np.linspace(-np.pi, np.pi, 7201)
    turned = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), tries)
    left = quat.angle(quat.inv_mul(turned, pose.wxyz[knee]))
    assert angle == pytest.approx(tries[np.argmin(left)], abs=2e-3)


def test_joints_keep_their_limits():
    body = build_body(person())
    dofs = {"left_shin": KNEE, "neck": Ball(limit=0.7)}
    physics = compile_body(body, dofs=dofs, options=Options(self_contact=False))
    model = physics.model
    np.testing.assert_allclose(model.joint("LeftLeg.0").range, [0.0, 2.6])
    assert model.joint("LeftLeg.0").limited
    np.testing.assert_allclose(model.joint("Neck").range, [0.0, 0.7])


def test_hinges_must_be_square():
    with pytest.raises(BodyError, match="right angles"):
        Hinges((Hinge((1.0, 0.0, 0.0)), Hinge((0.6, 0.8, 0.0))))


def test_the_root_moves_freely_and_parts_must_exist():
    body = build_body(person())
    with pytest.raises(BodyError, match="moves freely"):
        compile_body(body, dofs={"Hips": KNEE})
    with pytest.raises(CommandError, match="No body part"):
        compile_body(body, dofs={"left_wing": KNEE})


def test_what_mujoco_refuses_is_one_sentence():
    """Two hinges called alike: a joint whose own name is that of another's first hinge."""
    names = ["Hips", "arm", "arm.0"]
    body = build_body(build_skeleton(names, [-1, 0, 1], [[0, 0, 1], [0, 0.3, 0], [0, 0.3, 0]], [(2, [0, 0.2, 0])]))
    with pytest.raises(BodyError, match=r"MuJoCo cannot make a model of this body: .*arm.0"):
        compile_body(body, dofs={"arm": KNEE})


@pytest.mark.parametrize("skeleton", [person(), person(spines=5, dummies=True), dog()])
def test_nothing_touches_itself_at_rest(skeleton):
    model = compile_body(build_body(skeleton), Ground()).model
    data = mujoco.MjData(model)
    data.qpos[2] += 50.0
    mujoco.mj_forward(model, data)
    assert data.ncon == 0


def test_crossed_arms_touch_where_self_contact_is_allowed():
    """Self-contact is there for parts that are apart at rest."""
    skeleton = person()
    pose = random_pose(skeleton, np.random.default_rng(0), 0.0)
    wxyz = pose.wxyz.copy()
    wxyz[skeleton.index("LeftArm")] = quat.from_axis_angle(np.array([0.0, 0.0, 1.0]), -2.0)
    wxyz[skeleton.index("RightArm")] = quat.from_axis_angle(np.array([0.0, 0.0, 1.0]), 2.0)
    for allowed in (True, False):
        physics = compile_body(build_body(skeleton), options=Options(self_contact=allowed))
        instant = Dynamics(physics)
        instant.data.qpos[:] = physics.to_qpos(type(pose)(pose.root, wxyz))
        mujoco.mj_forward(physics.model, instant.data)
        assert (instant.data.ncon > 0) == allowed


def test_the_ground_rises_along_x():
    physics = compile_body(build_body(person()), Ground(slope=0.1, friction=0.7))
    data = mujoco.MjData(physics.model)
    mujoco.mj_forward(physics.model, data)
    normal = data.geom("ground").xmat.reshape(3, 3)[:, 2]
    np.testing.assert_allclose(normal, [-np.sin(0.1), 0, np.cos(0.1)], atol=1e-12)
    assert physics.model.geom("ground").friction[0] == 0.7
