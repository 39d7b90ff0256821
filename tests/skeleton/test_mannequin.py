"""The mannequin's meshes: closed, smooth, outward, symmetric, and on every skeleton there is."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from jostle.clips.io import load_clip
from jostle.errors import JostleWarning
from jostle.skeleton import Skeleton, build_skeleton, find_roles
from jostle.skeleton.cones import SOLE, stature
from jostle.skeleton.loft import ball, frame_along, join, loft
from jostle.skeleton.mannequin import Part, build_cones, build_mannequin, cone_mesh

PERSON = [
    ("Hips", None, (0.0, 0.0, 1.0)),
    ("Spine", "Hips", (0.0, 0.0, 0.12)),
    ("Chest", "Spine", (0.0, 0.0, 0.15)),
    ("Neck", "Chest", (0.0, 0.0, 0.24)),
    ("Head", "Neck", (0.01, 0.0, 0.1)),
    *(
        row
        for side, y in (("Left", 1.0), ("Right", -1.0))
        for row in (
            (f"{side}UpLeg", "Hips", (0.0, 0.09 * y, -0.08)),
            (f"{side}Leg", f"{side}UpLeg", (0.01, 0.0, -0.43)),
            (f"{side}Foot", f"{side}Leg", (-0.01, 0.0, -0.41)),
            (f"{side}Toe", f"{side}Foot", (0.12, 0.01 * y, -0.05)),
            (f"{side}Shoulder", "Chest", (0.0, 0.04 * y, 0.18)),
            (f"{side}Arm", f"{side}Shoulder", (0.0, 0.14 * y, 0.0)),
            (f"{side}ForeArm", f"{side}Arm", (0.0, 0.28 * y, 0.0)),
            (f"{side}Hand", f"{side}ForeArm", (0.0, 0.25 * y, 0.0)),
        )
    ),
]


def skeleton_of(rows: list) -> Skeleton:
    names = [name for name, _, _ in rows]
    parents = [-1 if parent is None else names.index(parent) for _, parent, _ in rows]
    return build_skeleton(names, parents, [offset for _, _, offset in rows])


def person(*more: tuple) -> Skeleton:
    return skeleton_of([*PERSON, *more])


def quadruped() -> Skeleton:
    legs = [
        row
        for end, x in (("Front", "Withers"), ("Back", "Croup"))
        for side, y in (("L", 1.0), ("R", -1.0))
        for row in (
            (f"{end}Upper.{side}", x, (0.0, 0.1 * y, -0.1)),
            (f"{end}Lower.{side}", f"{end}Upper.{side}", (0.0, 0.0, -0.25)),
            (f"{end}Paw.{side}", f"{end}Lower.{side}", (0.0, 0.0, -0.2)),
        )
    ]
    return skeleton_of(
        [
            ("Croup", None, (0.0, 0.0, 0.6)),
            ("Withers", "Croup", (0.7, 0.0, 0.0)),
            ("Neck", "Withers", (0.2, 0.0, 0.2)),
            ("Head", "Neck", (0.2, 0.0, 0.2)),
            ("Tail1", "Croup", (-0.15, 0.0, 0.0)),
            ("Tail2", "Tail1", (-0.2, 0.0, 0.0)),
            ("Tail3", "Tail2", (-0.2, 0.0, 0.0)),
            *legs,
        ]
    )


def rest_vertices(skeleton: Skeleton, part: Part) -> np.ndarray:
    return part.vertices + skeleton.rest_positions[part.joint]


def assert_sound(vertices: np.ndarray, normals: np.ndarray, faces: np.ndarray) -> None:
    """Every edge belongs to two faces that run along it in opposite directions; normals are unit and point out."""
    assert np.all(np.isfinite(vertices))
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-9)
    edges = np.concatenate([faces[:, [i, (i + 1) % 3]] for i in range(3)])
    forth = {tuple(edge) for edge in edges.tolist()}
    assert len(forth) == len(edges)
    assert all((b, a) in forth for a, b in forth)
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    across = np.cross(b - a, c - a)
    assert np.sum(a * across) > 0.0  # six times the volume
    out = across / np.linalg.norm(across, axis=1, keepdims=True)
    assert np.mean(np.sum(out * normals[faces].mean(axis=1), axis=1) > 0.2) > 0.99


def test_a_ball_is_round_and_its_normals_are_radial():
    mesh = ball(np.array([1.0, 2.0, 3.0]), np.full(3, 0.5), rings=15, segments=24)
    away = mesh.vertices - [1.0, 2.0, 3.0]
    np.testing.assert_allclose(np.linalg.norm(away, axis=1), 0.5)
    np.testing.assert_allclose(mesh.normals, away / 0.5, atol=0.03)
    assert_sound(mesh.vertices, mesh.normals, mesh.faces)


def test_a_loft_follows_its_profile():
    profile = np.array([[0.0, 0.2, 0.2, 0.2], [0.5, 0.3, 0.4, 0.1], [1.0, 0.2, 0.2, 0.2]])
    frame = frame_along(np.array([0.0, 0.0, 2.0]), np.array([1.0, 0.0, 0.0]))
    mesh = loft(np.zeros(3), frame, profile, caps=(0.1, 0.2), rings=5, segments=16)
    middle = mesh.vertices[np.abs(mesh.vertices[:, 2] - 0.5) < 1e-9]
    np.testing.assert_allclose(middle.max(axis=0)[:2], [0.4, 0.3])
    np.testing.assert_allclose(middle.min(axis=0)[:2], [-0.1, -0.3])
    np.testing.assert_allclose([mesh.vertices[:, 2].min(), mesh.vertices[:, 2].max()], [-0.1, 1.2])
    assert_sound(mesh.vertices, mesh.normals, mesh.faces)


def test_joined_meshes_keep_their_faces():
    one, two = ball(np.zeros(3), np.ones(3)), ball(np.array([3.0, 0.0, 0.0]), np.ones(3))
    both = join([one, two])
    np.testing.assert_array_equal(both.vertices[both.faces[len(one.faces) :]], two.vertices[two.faces])
    assert_sound(both.vertices, both.normals, both.faces)


@pytest.mark.parametrize("skeleton", [person(), quadruped()], ids=["person", "quadruped"])
def test_every_part_is_a_closed_smooth_surface(skeleton):
    for part in build_mannequin(skeleton):
        assert_sound(part.vertices, part.normals, part.faces)
        assert all(0.0 <= channel <= 1.0 for channel in part.colour)


def test_every_limb_and_the_trunk_have_parts_of_their_own():
    skeleton = person()
    names = {part.name for part in build_mannequin(skeleton)}
    drawn = [r for r in find_roles(skeleton) if r not in ("spine", "chest", "neck")]
    assert names >= set(drawn)
    assert {"spine", "chest"} & names
    assert sum(len(part.faces) for part in build_mannequin(skeleton)) < 8000


def test_left_mirrors_right():
    skeleton = person()
    parts = build_mannequin(skeleton)
    for side, other in (("left", "right"), ("right", "left")):
        mine = np.concatenate([rest_vertices(skeleton, p) for p in parts if p.name.startswith(side)])
        theirs = np.concatenate([rest_vertices(skeleton, p) for p in parts if p.name.startswith(other)])
        distance, _ = cKDTree(theirs).query(mine * [1.0, -1.0, 1.0])
        assert distance.max() < 1e-9


def test_left_and_right_can_be_told_apart():
    colours = {p.name: p.colour for p in build_mannequin(person())}
    assert colours["left_shin"] != colours["right_shin"]


def test_soles_are_flat_and_lie_under_the_ball_of_the_foot():
    skeleton = person()
    ground = skeleton.rest_positions[skeleton.index("LeftToe"), 2] - SOLE * stature(skeleton)
    for name in ("left_foot", "left_toe", "right_foot", "right_toe"):
        feet = [rest_vertices(skeleton, p) for p in build_mannequin(skeleton) if p.name == name]
        lowest = min(vertices[:, 2].min() for vertices in feet)
        assert lowest == pytest.approx(ground, abs=1e-9)


def test_the_body_is_as_large_as_its_bones_say():
    skeleton = person()
    points = np.concatenate([rest_vertices(skeleton, p) for p in build_mannequin(skeleton)])
    joints = skeleton.rest_positions
    tall = stature(skeleton)
    assert 1.65 < tall < 1.9
    assert np.all(points.min(axis=0) > joints.min(axis=0) - 0.12 * tall)
    assert np.all(points.max(axis=0) < joints.max(axis=0) + 0.13 * tall)
    assert np.ptp(points[:, 2]) == pytest.approx(tall, rel=0.05)


def test_a_scaled_skeleton_has_a_scaled_mannequin():
    small, large = build_mannequin(person()), build_mannequin(person().scaled(3.0))
    for a, b in zip(small, large, strict=True):
        np.testing.assert_allclose(3.0 * a.vertices, b.vertices, atol=1e-9)


def test_bones_that_steer_the_rig_are_not_drawn():
    skeleton = person(
        ("kneeIK.l", "Hips", (0.5, 0.1, -0.5)),
        ("PoleTarget.R", "Hips", (-0.6, -0.1, -0.4)),
        ("control-heel-roll.l", "Hips", (0.0, 0.1, -0.9)),
        ("handslot.l", "LeftHand", (0.0, 0.1, 0.0)),
    )
    drawn = {skeleton.names[part.joint] for part in build_mannequin(skeleton)}
    assert not drawn & {"kneeIK.l", "PoleTarget.R", "control-heel-roll.l", "handslot.l"}


def test_an_animals_tail_tapers_and_its_trunk_is_thickest():
    cones = {cone.name: cone for cone in build_cones(quadruped())}
    assert cones["Tail1"].radius_a > cones["Tail2"].radius_a > cones["Tail3"].radius_a
    assert cones["Croup"].radius_a == max(cone.radius_a for cone in cones.values())
    assert cones["FrontUpper.L"].radius_a > cones["FrontLower.L"].radius_a > cones["FrontPaw.L"].radius_a


def test_a_cone_mesh_lies_on_the_cone():
    cone = next(c for c in build_cones(person()) if c.name == "left_thigh")
    mesh = cone_mesh(cone, segments=24)
    line = cone.b - cone.a
    t = np.clip((mesh.vertices - cone.a) @ line / (line @ line), 0.0, 1.0)
    gap = np.linalg.norm(mesh.vertices - cone.a - t[:, None] * line, axis=1)
    assert np.all(gap < cone.radius_a + (cone.radius_b - cone.radius_a) * t + 1e-9)
    assert gap.max() == pytest.approx(cone.radius_a)


@pytest.mark.parametrize(
    "skeleton",
    [
        build_skeleton(["Root"], [-1], [[0.0, 0.0, 0.0]]),
        build_skeleton(["A", "B", "C"], [-1, 0, 1], np.zeros((3, 3))),
        build_skeleton(["A", "B"], [-1, 0], [[0.0, 0.0, 1.0], [0.0, 0.0, 0.3]], [(1, (0.0, 0.0, 0.2))]),
    ],
    ids=["one joint", "no length", "two bones"],
)
def test_poor_skeletons_have_mannequins_too(skeleton):
    parts = build_mannequin(skeleton)
    assert parts
    for part in parts:
        assert_sound(part.vertices, part.normals, part.faces)


def real_files(data: Path) -> list[Path]:
    bvh = [next(iter(sorted(folder.glob("*.bvh")))) for folder in sorted(data.rglob("*")) if list(folder.glob("*.bvh"))]
    return [*bvh, *sorted(data.rglob("*boxman*.bvh"))[:1], *sorted(data.rglob("*.glb"))]


@pytest.mark.slow
def test_every_real_skeleton_is_drawn_whole(data):
    for path in real_files(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JostleWarning)
            skeleton = load_clip(path).skeleton
        parts = build_mannequin(skeleton)
        assert sum(len(part.faces) for part in parts) < 8000, path.name
        for part in parts:
            assert_sound(part.vertices, part.normals, part.faces)
        points = np.concatenate([rest_vertices(skeleton, part) for part in parts])
        drawn = np.unique([part.joint for part in parts])
        room = 0.25 * np.linalg.norm(np.ptp(skeleton.rest_positions[drawn], axis=0))
        assert np.all(points.min(axis=0) > skeleton.rest_positions[drawn].min(axis=0) - room), path.name
        assert np.all(points.max(axis=0) < skeleton.rest_positions[drawn].max(axis=0) + room), path.name
