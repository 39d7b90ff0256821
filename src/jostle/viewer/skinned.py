"""A skinned figure in viser: one mesh per colour, each with only the bones that it uses."""

from __future__ import annotations

import numpy as np

from jostle.clips.skin import Skin, SkinPart, parts
from jostle.maths import quat
from jostle.types import Array, Float
from jostle.viewer.frames import FigureFrame
from jostle.viewer.handles import MeshSkinnedHandle, SceneApi
from jostle.viewer.limbs import changed
from jostle.viewer.look import bytes_of

MOST_COLOURS = 8


class Skinned:
    """The meshes of a skin below `root`; `show` sets their bones to the joints of a frame."""

    def __init__(self, scene: SceneApi, skin: Skin, root: str) -> None:
        self.pieces = [(part, self._add(scene, part, f"{root}/{part.name}")) for part in parts(skin, MOST_COLOURS)]
        self._sent = [(part.rest.copy(), quat.identity((len(part.bones),))) for part, _ in self.pieces]

    def _add(self, scene: SceneApi, part: SkinPart, name: str) -> MeshSkinnedHandle:
        return scene.add_mesh_skinned(
            name,
            part.vertices,
            part.faces,
            bone_wxyzs=quat.identity((len(part.bones),)),
            bone_positions=part.rest,
            skin_weights=part.weights,
            color=bytes_of(part.colour),
            side="double",
        )

    @property
    def handles(self) -> list[MeshSkinnedHandle]:
        return [handle for _, handle in self.pieces]

    def show(self, frame: FigureFrame) -> None:
        from viser import _messages

        for (part, handle), (sent_positions, sent_wxyz) in zip(self.pieces, self._sent, strict=True):
            queue = handle._impl.api._queue_scene_message
            positions, wxyz = frame.positions[part.bones], frame.wxyz[part.bones]
            for i in changed(sent_positions, positions):
                queue(_messages.SetBonePositionMessage(handle.name, i, tuple(positions[i].tolist())))
            for i in changed(sent_wxyz, wxyz):
                queue(_messages.SetBoneOrientationMessage(handle.name, i, tuple(wxyz[i].tolist())))

    def joint_at(self, name: str, point: Float[Array, "3"], frame: FigureFrame) -> tuple[int, Float[Array, "3"]]:
        """The joint that moves the piece `name` most where it is nearest to `point`, and that place in its frame."""
        part = next(part for part, handle in self.pieces if handle.name == name)
        placed = skin_vertices(part, frame)
        nearest = int(np.argmin(np.sum((placed - point) ** 2, axis=1)))
        joint = int(part.bones[np.argmax(part.weights[nearest])])
        return joint, quat.inv_apply(frame.wxyz[joint], placed[nearest] - frame.positions[joint])


def skin_vertices(part: SkinPart, frame: FigureFrame) -> Float[Array, "n 3"]:
    """Where the vertices of a piece are: the weighted mean of where its bones take them."""
    at: Array = np.zeros_like(part.vertices)
    for k, joint in enumerate(part.bones):
        moved = frame.positions[joint] + quat.apply(frame.wxyz[joint], part.vertices - part.rest[k])
        at += part.weights[:, k, None] * moved
    return at
