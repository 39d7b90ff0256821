"""Four legs, a rig and recorded points are steered like a person: nothing here knows how many legs there are."""

from functools import lru_cache

import numpy as np
import pytest

from jostle.clips import Clip, load_clip
from jostle.clips.contacts import find_contacts
from jostle.clips.edit import trim_frames
from jostle.clips.retarget import retarget
from jostle.clips.solve import read_solved
from jostle.clips.travel import travel
from jostle.clips.turn import turn_gait
from jostle.controllers import Command, Start
from jostle.controllers.policy.policy import plan_policy
from jostle.controllers.policy.tasks import Heading
from jostle.features.quaternions import QuaternionFeatures
from jostle.maths import quat
from jostle.maths.angles import wrapped
from jostle.models.connected import fit_connected
from jostle.skeleton import build_skeleton

LEGS = {"FL": (0.5, 0.15), "FR": (0.5, -0.15), "HL": (-0.4, 0.15), "HR": (-0.4, -0.15)}  # hips: ahead, aside
DIAGONALLY = {"FL": 0.0, "HR": 0.0, "FR": np.pi, "HL": np.pi}  # a trot
SIDES = {"L": "Left", "R": "Right"}


@lru_cache
def beast():
    """A trunk with a head and four legs of two bones each."""
    names, parents, offsets, ends = ["trunk", "head"], [-1, 0], [[0, 0, 0.7], [0.8, 0, 0.2]], [(1, [0.2, 0, 0])]
    for leg, (ahead, aside) in LEGS.items():
        side = f"{SIDES[leg[1]]}{'Front' if leg[0] == 'F' else 'Hind'}"
        names += [f"{side}{part}" for part in ("Thigh", "Shin", "Paw")]
        parents += [0, len(names) - 3, len(names) - 2]
        offsets += [[ahead, aside, 0.0], [0.05, 0, -0.35], [-0.05, 0, -0.35]]
        ends.append((len(names) - 1, [0.08, 0, 0]))
    return build_skeleton(names, parents, offsets, ends)


def trotting(frames=25, fps=24.0):
    """It trots in place: paws go evenly back on the ground and come forward through the air."""
    skeleton = beast()
    phase = np.linspace(0.0, 2.0 * np.pi, frames)
    wxyz = quat.identity((frames, skeleton.joint_count))
    for i, leg in enumerate(LEGS):
        now = np.mod(phase + DIAGONALLY[leg], 2.0 * np.pi) / np.pi  # 0 to 1 on the ground, 1 to 2 in the air
        swing = np.where(now < 1.0, 0.4 - 0.8 * now, -0.4 * np.cos(np.pi * (now - 1.0)))
        fold = np.where(now < 1.0, 0.0, 0.7 * np.sin(np.pi * (now - 1.0)) ** 2)
        thigh = 2 + 3 * i
        for joint, angle in ((thigh, swing + fold), (thigh + 1, -2.0 * fold), (thigh + 2, fold - swing)):
            wxyz[:, joint] = quat.exp(np.array([0.0, -1.0, 0.0]) * angle[:, None])
    root = np.tile([0.0, 0.0, 0.7], (frames, 1))
    return Clip(skeleton, fps, root, wxyz, name="trot")


def steered(policy, heading, frames=150):
    state = policy.init(Start(seed=1))
    states = [state]
    for _ in range(frames):
        state = policy.step(state, Command(heading=heading))
        states.append(state)
    return states


def way_at_the_end(states, frames=20):
    gone = states[-1].pose.root - states[-1 - frames].pose.root
    return np.arctan2(gone[1], gone[0])


def learnt(clips, iterations=40, rounds=0):
    model = fit_connected(clips, latent=3, mirrored=True, iterations=iterations)
    return plan_policy(model, Heading(count=12), rounds=rounds)


def test_four_paws_carry_and_are_found():
    trot = travel(trotting(), cycles=2)
    contacts = find_contacts(trot)
    assert sorted(contacts.names) == ["LeftFrontPaw", "LeftHindPaw", "RightFrontPaw", "RightHindPaw"]
    assert np.all(np.abs(np.mean(contacts.planted, axis=0) - 0.5) < 0.2)
    assert np.linalg.norm(trot.root[-1] - trot.root[0]) > 0.5


@pytest.mark.slow
def test_a_creature_of_one_gait_in_place_is_steered():
    trot = travel(trotting(), cycles=3)
    policy = learnt([trot, turn_gait(trot, 60.0)])
    for heading in (1.0, -1.0):
        states = steered(policy, heading)
        assert abs(wrapped(way_at_the_end(states) - heading)) < 0.5
        assert all(np.all(np.isfinite(state.pose.wxyz)) for state in states)


def test_who_looks_where_he_turns_is_not_uneven_for_that():
    """Most frames turn left with the head turned left; the body itself is even."""
    trot = travel(trotting(), cycles=4)
    left = turn_gait(trot, 150.0)
    wxyz = left.wxyz.copy()
    wxyz[:, 1] = quat.mul(wxyz[:, 1], quat.from_yaw(np.full(len(wxyz), 0.5)))
    left = left.with_poses(type(left.poses)(left.root, wxyz))
    features = QuaternionFeatures.of([trot, left, left], 30.0, even=True)
    assert np.degrees(quat.angle(features.uneven[1])) < 3.0


@pytest.mark.slow
def test_a_recorded_dog_is_steered(data):
    files = {name: data / "dog_mann" / f"dog_{name}_joint_pos.txt" for name in ("walk00", "turn00")}
    skeleton = read_solved(files["walk00"]).skeleton
    walk = trim_frames(read_solved(files["walk00"]), 100, 220)
    turn = trim_frames(read_solved(files["turn00"], skeleton=skeleton), 280, 400)
    policy = learnt([walk, turn], iterations=80, rounds=1)
    assert abs(wrapped(way_at_the_end(steered(policy, 1.5)) - 1.5)) < 0.8


@pytest.mark.slow
def test_a_keyframed_horse_is_steered_and_wears_its_own_skin(data):
    path = data / "quaternius_cc0" / "Horse.glb"
    rig = load_clip(path, animation="Walk")
    walk = travel(rig, cycles=2)
    policy = learnt([walk, turn_gait(walk, 100.0)], iterations=80, rounds=1)
    states = steered(policy, 1.0, frames=240)
    assert abs(wrapped(way_at_the_end(states) - 1.0)) < 0.8
    run = Clip(policy.skeleton, 30.0, np.stack([s.pose.root for s in states]), np.stack([s.pose.wxyz for s in states]))
    worn = retarget(run, rig.skeleton)
    lower, ankle = (worn.positions[:, rig.skeleton.index(name)] for name in ("FrontLowerLeg.L", "IKFrontLeg.L"))
    lengths = np.linalg.norm(ankle - lower, axis=-1)
    assert np.ptp(lengths) < 1e-6  # a limb is never torn from its foot


def test_a_jolt_is_measured_in_metres_where_limbs_end():
    """A limb's angle counts by how far its tip is."""
    clip = travel(trotting(), cycles=3)
    features = QuaternionFeatures.of([clip], 30.0)
    assert features.reach.shape == (features.pose_count,)
    paw = features.names.index("LeftHindPaw.y")
    assert features.reach[paw] == pytest.approx(0.16)
    turned = quat.exp(np.array([0.0, 0.02, 0.0]))
    moved = np.linalg.norm(quat.apply(turned, np.array([0.08, 0.0, 0.0])) - [0.08, 0.0, 0.0])
    assert features.reach[paw] * turned[2] == pytest.approx(moved, rel=1e-3)
