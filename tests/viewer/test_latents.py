"""The panel's picture of a latent space: where the model is, and how sure, without a browser and in one."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import toy_model
from jostle.assets import clip_path, pushed_clips
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers import Push
from jostle.controllers.dynamic.learn import Example, fit_dynamic
from jostle.controllers.rollout import Rollout
from jostle.runtime import load_example
from jostle.viewer.drag import Drag
from jostle.viewer.latents import TAIL, WIDE
from jostle.viewer.live import open_controllers
from jostle.viewer.look import BRAND


@pytest.fixture(scope="module")
def rollout():
    clips = [trim_frames(load_clip(clip_path(name)), 0, 90) for name in ("walk", "weave")]
    return Rollout(toy_model.fit_toy(clips, iterations=40))


@pytest.fixture
def live(rollout, listener):
    opened = open_controllers([listener, rollout], port=0, shadows=False)
    yield opened
    opened.close()


def _point(picture):
    found = re.search(r'circle cx="([\d.]+)" cy="([\d.]+)" r="[\d.]+" fill="rgb\((\d+), (\d+), (\d+)\)"', picture)
    assert found is not None
    return np.array([float(x) for x in found.groups()])


def test_only_models_have_a_picture(live):
    assert list(live.panel.latents.pictures) == [1]


def test_the_point_is_where_the_model_is(live, rollout):
    (picture,) = live.panel.latents.pictures[1]
    live.panel.latents.show(live.states)
    x, y, *colour = _point(picture.handle.content)
    np.testing.assert_allclose([x, y], picture._placed(live.states[1].next.latent[None])[0], atol=0.06)
    np.testing.assert_allclose(colour, BRAND, atol=60)
    for _ in range(3 * TAIL):
        live.tick(2)
        live.panel.latents.show(live.states)
    assert len(picture.tail) == TAIL
    assert not np.allclose(_point(picture.handle.content)[:2], [x, y])
    live.reset()
    live.tick(1)
    assert picture.tail == []


def test_training_clips_are_inside_the_picture(live, rollout):
    (picture,) = live.panel.latents.pictures[1]
    assert picture.handle.content.count("<polyline") == 2
    placed = picture._placed(rollout.model.latent_rows)
    assert placed.min() > 0
    assert np.all(placed.max(axis=0) < [WIDE, picture.high])


def test_who_is_lost_is_dark_and_still_in_the_picture(live):
    (picture,) = live.panel.latents.pictures[1]

    lost = SimpleNamespace(latent=np.array([1e3, -1e3, 0.0]))
    picture.move(SimpleNamespace(next=lost, observed=SimpleNamespace(quality={"variance": 1e6})))
    x, y, *colour = _point(picture.handle.content)
    assert 0 < x < WIDE
    assert 0 < y < picture.high
    assert sum(colour) < 0.7 * sum(BRAND)


@pytest.mark.browser
def test_the_picture_moves_in_a_browser(rollout, running, tab):
    live = running(open_controllers([rollout], port=0, shadows=False))
    tab.goto(live.stage.url)
    point = tab.locator('svg[data-jostle="latent"] circle')
    point.wait_for()
    before = point.get_attribute("cx")
    tab.wait_for_function(f"document.querySelector('svg[data-jostle=latent] circle').getAttribute('cx') != {before!r}")
    box = tab.locator('svg[data-jostle="latent"]').bounding_box()
    assert box is not None
    assert box["width"] > 150
    assert tab.problems == []


def test_a_character_of_several_models_shows_the_one_it_is_in():
    """Pushed backwards it goes to the model that has such an example."""
    paths = [clip for clip, _ in pushed_clips()]
    examples = [load_example(paths[i]) for i in (1, 29)]
    person = fit_dynamic([Example(load_clip(clip_path("walk"))), *examples], groups=2, iterations=4)
    live = open_controllers([person], port=0, shadows=False)
    try:
        first, second = live.panel.latents.pictures[0]
        live.tick(4)
        live.panel.latents.show(live.states)
        assert (len(first.tail), len(second.tail)) == (1, 0)
        push = Push("torso", np.array([-200.0, 0.0, 0.0]), 0.2)
        live.released.append((0, push, Drag(0, person.body.part("torso"), np.zeros(3), push.force)))
        live.tick(8)
        live.panel.latents.show(live.states)
        assert (len(first.tail), len(second.tail)) == (0, 1)
    finally:
        live.close()
