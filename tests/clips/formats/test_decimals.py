"""Plain decimals are the very doubles that `float` gives, and nothing else is taken for one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jostle.clips.formats.decimals import parse_decimals

plain = st.from_regex(r"[+-]?([0-9]{1,8}(\.[0-9]{0,8})?|\.[0-9]{1,8})", fullmatch=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(plain, min_size=1, max_size=8), st.sampled_from([" ", "\t", "\n", " \r\n "]))
def test_plain_decimals_are_exact(numbers, blank):
    found = parse_decimals(blank.join(numbers).encode())
    if any(int("".join(filter(str.isdigit, number))) >= 2**53 for number in numbers):
        assert found is None
    else:
        assert found is not None
        assert found.tolist() == [float(number) for number in numbers]


def test_sixteen_digits_are_too_many_where_they_are_no_double():
    assert parse_decimals(b".1 90071992.54740991 ").tolist() == [0.1, 90071992.54740991]
    assert parse_decimals(b".1 90100000.00000001 ") is None


@settings(max_examples=300, deadline=None)
@given(st.text("0123456789.+- \n", max_size=14) | st.text("01.-eEnaif_x,\0 ", max_size=8))
def test_never_takes_what_float_refuses(text):
    found = parse_decimals(text.encode())
    if found is not None:
        assert found.tolist() == [float(n) for n in text.split()]


@pytest.mark.parametrize(
    "text", ["", " ", ".", "-", "1.2.3", "1..2", "1-2", "--1", "1e5", "nan", "123456789", "1,5", "5..3 ."]
)
def test_leaves_the_rest_to_others(text):
    assert parse_decimals(text.encode()) is None


def test_signed_zero_and_long_blocks():
    numbers = np.random.default_rng(0).normal(scale=200.0, size=20_000).round(4)
    text = "-0.0000 " + " ".join(f"{n:.4f}" for n in numbers)
    found = parse_decimals(text.encode())
    assert found is not None
    assert np.signbit(found[0])
    np.testing.assert_array_equal(found[1:], numbers)
