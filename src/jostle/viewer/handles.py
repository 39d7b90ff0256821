"""Types of viser, starlette and the runtime for annotations, without opening any of them before a page does."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket
    from viser import (
        BoxHandle,
        CylinderHandle,
        FrameHandle,
        GridHandle,
        GuiApi,
        LabelHandle,
        LineSegmentsHandle,
        MeshHandle,
        MeshSkinnedHandle,
        SceneApi,
        ViserServer,
    )

    from jostle.runtime import CharacterState, Recorder, Recording
else:
    Starlette = Request = Response = WebSocket = Any
    BoxHandle = CylinderHandle = FrameHandle = GridHandle = GuiApi = LabelHandle = LineSegmentsHandle = Any
    MeshHandle = MeshSkinnedHandle = SceneApi = ViserServer = CharacterState = Recorder = Recording = Any

__all__ = [
    "BoxHandle",
    "CharacterState",
    "CylinderHandle",
    "FrameHandle",
    "GridHandle",
    "GuiApi",
    "LabelHandle",
    "LineSegmentsHandle",
    "MeshHandle",
    "MeshSkinnedHandle",
    "Recorder",
    "Recording",
    "Request",
    "Response",
    "SceneApi",
    "Starlette",
    "ViserServer",
    "WebSocket",
]
