"""Filters over time that delay nothing."""

from __future__ import annotations

from jostle.types import Array, Float


def low_pass(x: Float[Array, "T *b"], fps: float, hertz: float, pad: int) -> Float[Array, "T *b"]:
    """A second-order Butterworth filter along the first axis, forwards and backwards: a gain of one half at `hertz`.

    `pad` frames are mirrored beyond each end, as far as there are that many.
    """
    from scipy.signal import butter, sosfiltfilt  # slow to import, and few need it

    sections = butter(2, hertz, fs=fps, output="sos")
    return sosfiltfilt(sections, x, axis=0, padlen=min(len(x) - 1, pad))
