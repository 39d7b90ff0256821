"""One HTML file that plays clips offline: viser's page with the frames inside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle.clips import Clip
from jostle.clips.skin import Skin
from jostle.files import write_text
from jostle.types import PathLike
from jostle.viewer.frames import Track, common_end
from jostle.viewer.handles import ViserServer
from jostle.viewer.page import dress
from jostle.viewer.scene import Scene
from jostle.viewer.tracks import Following, figures_of, moment, opening_view, place, travels

MOST_FPS = 30.0  # frames a second in the file: beyond it only its size would grow
MOST_FRAMES = 3000  # a longer motion is kept at a lower rate


def write_page(
    clips: Sequence[Clip],
    path: PathLike,
    names: Sequence[str] | None = None,
    skins: Sequence[Skin | None] | None = None,
    title: str = "jostle",
    trails: bool = True,
    follow: bool | None = None,
    shadows: bool = True,
) -> None:
    """Write one HTML file that plays the clips side by side, with no network and no server."""
    write_text(path, page_text(clips, names, skins, title, trails, follow, shadows))


def page_text(
    clips: Sequence[Clip],
    names: Sequence[str] | None = None,
    skins: Sequence[Skin | None] | None = None,
    title: str = "jostle",
    trails: bool = True,
    follow: bool | None = None,
    shadows: bool = True,
) -> str:
    """The HTML of `write_page`."""
    from jostle.viewer.front import quietly, secret_viser

    tracks = place(clips)
    server, _ = secret_viser()
    try:
        figures = figures_of(tracks, names, skins)
        scene = Scene(server, figures, shadows)
        if trails:
            scene.draw_ways([track.trails for track in tracks])
        follow = travels(tracks) if follow is None else follow
        scene.look_from(lambda aspect: opening_view(tracks, figures, bool(follow), aspect, panel=False))
        return dress(_play_into(server, scene, tracks, follow), title)
    finally:
        with quietly():
            server.stop()


def frame_times(tracks: Sequence[Track]) -> np.ndarray:
    """Evenly spaced moments from the start to the end, at the clips' own rate where that is not too much."""
    end = common_end(tracks)
    fps = min(MOST_FPS, max(track.clip.fps for track in tracks), MOST_FRAMES / max(end, 1e-9))
    return np.linspace(0.0, end, max(1, round(end * fps)) + 1) if end > 0 else np.zeros(1)


def _play_into(server: ViserServer, scene: Scene, tracks: Sequence[Track], follow: bool) -> str:
    times, following = frame_times(tracks), Following(tracks)
    recording = None
    for i, time in enumerate(times):
        frame = moment(tracks, float(time), repeat=True)
        middle, lanes = following.at(frame, follow)
        if i == 0:
            scene.offset, scene.lanes = middle, lanes
        scene.show(frame, middle, float(times[i] - times[i - 1]) if i else 0.0, lanes)
        recording = recording or server.get_scene_serializer()  # from the first whole frame on
        if i + 1 < len(times):
            recording.insert_sleep(float(times[i + 1] - time))
    assert recording is not None
    return recording.as_html()
