"""The moving part of a puppet: frames nested like the skeleton, and as few messages as their motion needs.

Nested, a rigid limb only turns: its place in its parent's frame stays. So a frame of motion is one position and a turn
per joint, and of these only the ones that changed are sent. viser's own setters compare with `numpy.allclose`, one
vector at a time, which costs more than all the rest; here the comparison is made once for all joints, and the
messages are queued directly (one reason to pin viser's version).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle.maths import quat
from jostle.skeleton import Skeleton
from jostle.types import Array, Float, Int
from jostle.viewer.frames import FigureFrame
from jostle.viewer.handles import FrameHandle, SceneApi

STILL = 2e-5  # metres, or of a quaternion's component: less is no motion that anyone sees


class Limbs:
    """A frame for each of `joints`, nested below `root` as the skeleton is."""

    def __init__(self, scene: SceneApi, skeleton: Skeleton, joints: Sequence[int], root: str) -> None:
        self.joints = sorted(joints)
        self.above = carrying_parents(skeleton, self.joints)
        self.names: dict[int, str] = {}
        self.handles: list[FrameHandle] = []
        for joint, above in zip(self.joints, self.above, strict=True):
            base = root if above < 0 else self.names[self.joints[above]]
            self.names[joint] = f"{base}/{joint}"
            self.handles.append(scene.add_frame(self.names[joint], show_axes=False))
        self._sent_positions = np.zeros((len(self.joints), 3))
        self._sent_wxyz = quat.identity((len(self.joints),))

    def show(self, frame: FigureFrame) -> None:
        positions, wxyz = nested(frame.positions[self.joints], frame.wxyz[self.joints], self.above)
        for i in changed(self._sent_positions, positions):
            _queue_position(self.handles[i], positions[i])
        for i in changed(self._sent_wxyz, wxyz):
            _queue_turn(self.handles[i], wxyz[i])


def carrying_parents(skeleton: Skeleton, joints: Sequence[int]) -> Int[Array, "k"]:
    """For each of `joints`, which of them is its nearest ancestor: an index into `joints`, or -1."""
    places = {joint: i for i, joint in enumerate(joints)}
    above = [next((places[a] for a in reversed(skeleton.chain(j)[:-1]) if a in places), -1) for j in joints]
    return np.array(above, dtype=np.int64)


def nested(
    positions: Float[Array, "k 3"], wxyz: Float[Array, "k 4"], above: Int[Array, "k"]
) -> tuple[Float[Array, "k 3"], Float[Array, "k 4"]]:
    """World transforms to those in the frame of each one's parent; -1 is the world itself."""
    base = np.where(above[:, None] < 0, 0.0, positions[above])
    turned = np.where(above[:, None] < 0, quat.IDENTITY, wxyz[above])
    return quat.inv_apply(turned, positions - base), quat.inv_mul(turned, wxyz)


def changed(sent: Float[Array, "k d"], wanted: Float[Array, "k d"]) -> list[int]:
    """The rows that moved since they were last sent; `sent` is brought up to date."""
    rows = np.flatnonzero(np.abs(wanted - sent).max(axis=1, initial=0.0) > STILL)
    sent[rows] = wanted[rows]
    return rows.tolist()


def _queue_position(handle: FrameHandle, value: Float[Array, "3"]) -> None:
    from viser import _messages

    state = handle._impl
    state.position[:] = value
    state.api._queue_scene_message(_messages.SetPositionMessage(state.name, tuple(value.tolist())))


def _queue_turn(handle: FrameHandle, value: Float[Array, "4"]) -> None:
    from viser import _messages

    state = handle._impl
    state.wxyz[:] = value
    state.api._queue_scene_message(_messages.SetOrientationMessage(state.name, tuple(value.tolist())))
