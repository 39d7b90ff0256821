"""The unit that a figure's size betrays."""

import numpy as np
import pytest

from jostle.clips.formats.bvh import read_bvh
from jostle.clips.formats.units import CMU_UNIT, UNITS, guess_unit, stature, weigh_units
from jostle.skeleton import Skeleton, build_skeleton


def person(height: float = 1.75) -> Skeleton:
    """Joints at the heights of a person's (fractions of stature after Winter)."""
    h = height
    names = ["Hips", "Spine", "Chest", "Neck", "Head"]
    parents = [-1, 0, 1, 2, 3]
    offsets = [[0, 0, 0.58 * h], [0, 0, 0.08 * h], [0, 0, 0.08 * h], [0, 0, 0.08 * h], [0, 0, 0.05 * h]]
    for side, sign in (("Left", 1), ("Right", -1)):
        root = len(names)
        names += [f"{side}{part}" for part in ("UpLeg", "Leg", "Foot", "Arm", "ForeArm")]
        parents += [0, root, root + 1, 2, root + 3]
        offsets += [[0, 0.05 * h * sign, -0.05 * h], [0, 0, -0.245 * h], [0, 0, -0.246 * h]]
        offsets += [[0, 0.13 * h * sign, 0.07 * h], [0, 0.19 * h * sign, 0]]
    return build_skeleton(names, parents, offsets, [(4, (0, 0, 0.13 * h))])


def dog(height: float) -> Skeleton:
    return build_skeleton(
        ["body", "neck", "paw"], [-1, 0, 0], np.array([[0, 0, 1], [0.8, 0, 0.2], [0.1, 0, -1]]) * height
    )


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("height", [1.5, 1.6, 1.75, 1.95])
def test_every_unit_is_told_from_the_others(name, height):
    guess = weigh_units(person(height).scaled(1.0 / UNITS[name]))
    assert guess.name == name
    assert guess.unit == UNITS[name]
    assert guess.margin > 1.2
    assert guess.size == pytest.approx(height, rel=0.05)


def test_children_are_not_taken_for_inches():
    assert guess_unit(person(1.15).scaled(100.0)) == 0.01


@pytest.mark.parametrize("bend", [0.0, 1.0, 2.0])
def test_stature_does_not_depend_on_the_pose(bend):
    """Bones keep their lengths whichever way the rest pose bends them."""
    upright = person(1.8)
    bent = upright.offsets.copy()
    turn = np.array([[np.cos(bend), 0, np.sin(bend)], [0, 1, 0], [-np.sin(bend), 0, np.cos(bend)]])
    bent[[6, 11, 2]] = bent[[6, 11, 2]] @ turn.T
    folded = Skeleton(upright.names, upright.parents, bent, upright.end_parents, upright.end_offsets)
    assert stature(folded) == pytest.approx(stature(upright))
    assert stature(upright) == pytest.approx(1.8, rel=0.05)


@pytest.mark.parametrize(("name", "height"), [("m", 0.3), ("m", 2.0), ("cm", 0.5), ("mm", 0.6), ("cm", 3.0)])
def test_animals_are_metric(name, height):
    assert weigh_units(dog(height).scaled(1.0 / UNITS[name])).name == name


def test_a_skeleton_without_size_is_left_in_metres():
    assert guess_unit(build_skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 0, 0]])) == 1.0


def expected_unit(path):
    if path.parent.name == "cmu_bvh":
        return CMU_UNIT
    return UNITS["inch"] if path.name.startswith("boxing") else UNITS["cm"]


@pytest.mark.parametrize("folder", ["bandai_namco_1", "snu_ys2010/other", "snu_ys2010/push"])
def test_unit_of_real_files(data, folder):
    for path in sorted((data / folder).glob("*.bvh")):
        assert read_bvh(path).unit == expected_unit(path), path.name


@pytest.mark.slow
def test_unit_of_every_file(data):
    for path in sorted(data.rglob("*.bvh")):
        clip = read_bvh(path)
        assert clip.unit == expected_unit(path), path.name
        assert weigh_units(clip.skeleton.scaled(1.0 / clip.unit)).margin > 1.5, path.name
