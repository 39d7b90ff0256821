from itertools import pairwise

import numpy as np
import pytest

from jostle.body import anthropometry
from jostle.body.lumps import Lump, combine, cut, inertia_of

DOWN = np.array([0.0, 0.0, -1.0])


@pytest.mark.parametrize("sex", ["female", "male", None])
def test_the_parts_of_a_body_add_up_to_it(sex):
    total = sum(
        (2 if name in anthropometry.PAIRED else 1) * anthropometry.segment(name, sex).mass
        for name in anthropometry.NAMES
    )
    assert total == pytest.approx(1.0, abs=2e-4)


def test_the_trunk_adds_up_to_the_published_whole():
    """De Leva's whole trunk, C7 to mid-hip, man: 43.46 % of the mass, centre at 51.38 % from the top, 603.3 mm."""
    names = ("upper_trunk", "middle_trunk", "lower_trunk")
    parts = [anthropometry.segment(name, "male") for name in names]
    starts = np.cumsum([0.0, *(part.length for part in parts)])
    mass = sum(part.mass for part in parts)
    centre = sum(p.mass * (s + p.centre * p.length) for p, s in zip(parts, starts[:-1], strict=True)) / mass
    assert mass == pytest.approx(0.4346, abs=1e-4)
    assert starts[-1] == pytest.approx(0.6033, abs=1e-4)
    assert centre / starts[-1] == pytest.approx(0.5138, abs=0.005)


@pytest.mark.parametrize("name", anthropometry.NAMES)
def test_a_whole_line_gives_back_the_published_figures(name):
    part = anthropometry.segment(name, "male")
    lump = cut(part, np.zeros(3), part.length * DOWN, 0.0, 1.0, 3, part.length)
    assert lump.mass == pytest.approx(part.mass)
    np.testing.assert_allclose(lump.centre, part.centre * part.length * DOWN, atol=1e-12)
    radii = np.sqrt(np.diag(inertia_of(1.0, lump.spread))) / part.length
    np.testing.assert_allclose(radii, [part.sagittal, part.transverse, part.longitudinal], atol=1e-9)


@pytest.mark.parametrize("name", ["thigh", "lower_trunk", "head"])
def test_slices_of_a_line_add_up_to_the_whole(name):
    part = anthropometry.segment(name)
    end = np.array([0.3, 0.1, -0.4])
    whole = cut(part, np.zeros(3), end, 0.0, 1.0, 0, part.length)
    borders = [0.0, 0.13, 0.5, 0.81, 1.0]
    slices = [cut(part, np.zeros(3), end, a, b, 0, part.length) for a, b in pairwise(borders)]
    again = combine(slices)
    assert again.mass == pytest.approx(whole.mass)
    np.testing.assert_allclose(again.centre, whole.centre, atol=1e-12)


def test_lumps_combine_as_point_masses_do():
    rng = np.random.default_rng(4)
    points, masses = rng.normal(size=(7, 3)), rng.uniform(0.1, 2.0, size=7)
    one = combine([Lump(0, float(m), p, np.zeros((3, 3))) for m, p in zip(masses, points, strict=True)])
    centre = masses @ points / masses.sum()
    arms = points - centre
    inertia = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arms, strict=True))
    np.testing.assert_allclose(one.centre, centre)
    np.testing.assert_allclose(inertia_of(one.mass, one.spread), inertia, atol=1e-12)
