"""The numbers of a walker: how many, their names, units and bounds, and where the controller finds them."""

import numpy as np
import pytest

from jostle.controllers.walker.joints import ANGLES, INDEX
from jostle.controllers.walker.parameters import (
    GUIDED,
    PACED,
    POISED,
    REACTIVE,
    SIMBICON,
    SPACES,
    WALKER,
    table_rows,
)
from jostle.errors import CommandError

BOTH = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
ALONE = pytest.mark.parametrize("space", [WALKER, SIMBICON, GUIDED, PACED, POISED], ids=lambda space: space.kind)


def random_values(space, count=4, sigma=0.5):
    units = space.encode(space.initial) + sigma * np.random.default_rng(0).normal(size=(count, len(space)))
    return space.decode(units)


def of(named, group, angle):
    """The number of an angle: its own, or for guided walkers the one that it shares; arms are spread to either side."""
    names = (f"{group}.{angle}", f"{group[:-1]}.{angle}", f"{group[:-1]}.{angle.lstrip('lr')}")
    own = next((named[name] for name in names if name in named), 0.0)
    return -own if angle == "rarm_x" and group.startswith("target") else own


def test_a_walker_has_184_numbers_as_in_the_thesis():
    assert len(WALKER) == len(WALKER.parameters) == len(WALKER.initial) == 184
    assert list(SPACES.values()) == [WALKER, SIMBICON, GUIDED, PACED, POISED, REACTIVE]


@ALONE
def test_every_number_has_a_name_a_unit_a_scale_and_bounds(space):
    assert len(set(space.names)) == len(space)
    for p in space.parameters:
        assert p.unit
        assert p.scale > 0.0
        assert p.low <= p.initial <= p.high
        assert p.low < p.high
        assert p.log == p.name.startswith(("kp", "kd"))
        assert p.low > 0.0 or not p.log


@BOTH
def test_encoding_and_decoding_undo_each_other(space):
    values = random_values(space)
    np.testing.assert_allclose(space.decode(space.encode(values)), values, rtol=1e-12, atol=1e-12)
    units = space.encode(values)
    np.testing.assert_allclose(space.encode(space.decode(units)), units, atol=1e-10)


@BOTH
def test_one_unit_is_one_scale(space):
    """Of the number itself, or of its logarithm for gains."""
    for i, p in enumerate(space.parameters):
        units = space.encode(space.initial)
        units[i] += 0.5
        moved = space.decode(units)[i]
        expected = p.initial * np.exp(0.5 * p.scale) if p.log else p.initial + 0.5 * p.scale
        assert moved == pytest.approx(np.clip(expected, p.low, p.high))


@BOTH
def test_decoding_stays_within_the_bounds(space):
    low, high = np.array([(p.low, p.high) for p in space.parameters]).T
    for far in (-1e6, 1e6):
        values = space.decode(space.encode(space.initial) + far)
        np.testing.assert_allclose(values, low if far < 0 else high)


@BOTH
def test_names_and_vectors_undo_each_other(space):
    values = random_values(space, 1)[0]
    named = space.named(values)
    assert list(named) == list(space.names)
    np.testing.assert_array_equal(space.vector(named), values)
    assert np.array_equal(space.vector({}), space.initial)
    some = space.names[3]
    assert space.named(space.vector({some: named[some]}))[some] == named[some]
    assert space.vector({some: 1e9})[3] == space.parameters[3].high


def test_unknown_and_infinite_numbers_are_refused():
    with pytest.raises(CommandError, match=r"Did you mean 'kp0.lknee_y'"):
        WALKER.vector({"kp0.lknee": 3.0})
    with pytest.raises(CommandError, match="'c_trans' must be a finite number"):
        WALKER.vector({"c_trans": np.nan})


@ALONE
def test_the_controller_finds_each_number_under_its_name(space):
    values = random_values(space)
    gains, timed = space.unpack(values), space in (SIMBICON, PACED, POISED)
    for b, row in enumerate(values):
        named = space.named(row)
        for state in (0, 1):
            for i, angle in enumerate(ANGLES):
                assert gains.kp[b, state, i] == of(named, f"kp{state}", angle) > 0.0
                assert gains.kd[b, state, i] == of(named, f"kd{state}", angle) > 0.0
                assert gains.target[b, state, i] == of(named, f"target{state}", angle)
            for plane, side in enumerate(("sagittal", "coronal")):
                for gain, held in (("c_d", gains.c_d), ("c_v", gains.c_v)):
                    own = named[f"{gain}.{side}{state}"] if timed else named[f"{gain}.{side}"]
                    assert held[b, state, plane] == own
        for i, angle in enumerate(ANGLES):
            assert gains.angles[b, i] == named.get(f"angle.{angle}", 0.0)
            assert gains.rates[b, i] == named.get(f"rate.{angle}", 0.0)
        assert gains.switch[b] == named["duration" if timed else "c_trans"]
        assert gains.alpha_arm[b] == named.get("alpha_arm", 0.0)
        assert gains.velocity[b].tolist() == [named["velocity.x"], 0.0, named["velocity.z"]]
        held = (gains.pitch[b], gains.lift[b], gains.pitch_rate[b])
        assert held == (named["pitch"], named["lift"], named["pitch_rate"])


def test_only_the_planes_of_walking_are_free():
    """Targets and start angles about X and Z are zero, but for the back; so are toes, but for the stance toe's push."""
    for name in WALKER.names:
        group, _, angle = name.partition(".")
        if group.startswith("target") or group in ("angle", "rate"):
            assert angle.endswith("_y") or angle == "back_z"
        if group.startswith("target") and "toe" in angle:
            assert name == "target1.rtoe_y"


def test_dampers_begin_at_a_tenth_of_the_springs():
    named = WALKER.named(WALKER.initial)
    for state in (0, 1):
        for angle in ANGLES:
            assert named[f"kd{state}.{angle}"] == pytest.approx(0.1 * named[f"kp{state}.{angle}"])


@ALONE
def test_gains_scale_with_mass(space):
    scaled = space.for_mass(space.initial, 0.8)
    for p, value in zip(space.parameters, scaled, strict=True):
        assert value == pytest.approx(0.8 * p.initial if p.log else p.initial)


@BOTH
def test_the_table_has_a_row_for_every_angle(space):
    values = random_values(space, 1)[0]
    named, rows = space.named(values), table_rows(space, values)
    assert len(rows) == 30
    for angle, (shown, *cells) in zip(ANGLES, rows, strict=True):
        assert shown == angle.replace("rhip", "torso")  # those rows keep the torso upright
        wanted = [of(named, f"{g}{s}", angle) for s in (0, 1) for g in ("kp", "kd", "target")]
        assert [float(cell) for cell in cells] == pytest.approx(wanted, rel=1e-3)
    assert rows[INDEX["lknee_y"]][0] == "lknee_y"
