"""A small character of shipped clips: eight seconds of walking, and eight pushes of a walker."""

import pytest

from jostle.assets import clip_path, pushed_clips
from jostle.body import build_body
from jostle.clips import load_clip
from jostle.clips.edit import trim
from jostle.controllers.graph.build import build_people
from jostle.controllers.graph.responses import Told, read_responses
from jostle.runtime import load_recording


@pytest.fixture(scope="session")
def stroll():
    return trim(load_clip(clip_path("walk")), 0.0, 8.0)


@pytest.fixture(scope="session")
def answers(stroll):
    body, out = build_body(stroll.skeleton), []
    for path, _ in pushed_clips()[::7]:
        recorded = load_recording(path)
        out += read_responses(recorded, body, [Told(timed.time, None, timed.push) for timed in recorded.pushes])
    return tuple(out)


@pytest.fixture(scope="session")
def people(stroll, answers):
    return build_people([stroll], answers)
