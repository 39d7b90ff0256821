"""What the page may say: shapes, limits, rubbish."""

import json
import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jostle.viewer.messages import DROP, MAX_PAGE_BYTES, PASS, REFUSE, Held, clamp, read_held, sift

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1, 0, 0, 0],
    "position": [1.0, 2.0, 3.0],
    "fov": 0.6,
    "near": 0.1,
    "far": 1000,
    "image_height": 500,
    "image_width": 900,
    "look_at": [0, 0, 1],
    "up_direction": [0, 0, 1],
}
DRAG = {
    "type": "SceneNodeDragMessage",
    "phase": "start",
    "name": "/world/0/2/mesh0",
    "instance_index": None,
    "start_position": [0.0, 0.0, 1.0],
    "start_screen_pos": [0.5, 0.5],
    "end_position": [0.1, 0.0, 1.0],
    "end_screen_pos": [0.6, 0.5],
    "button": "left",
    "modifier": None,
    "owner": "",
}


def test_held_keys_point_the_stick():
    assert read_held('{"keys": ["KeyW"]}') == Held(0.0, 1.0)
    assert read_held('{"keys": ["ArrowLeft"], "pad": [0, 0]}') == Held(-1.0, 0.0)
    assert read_held('{"keys": ["KeyW", "KeyS"]}') == Held()
    both = read_held('{"keys": ["KeyW", "KeyD"]}')
    assert both.amount == pytest.approx(1.0)
    assert both.right == pytest.approx(math.sqrt(0.5))


def test_unknown_keys_count_for_nothing():
    assert read_held('{"keys": ["KeyQ", "__proto__"]}') == Held()


@pytest.mark.parametrize(
    "text",
    ["", "x", "[]", "5", "null",
     '{"keys": 5}', '{"keys": [5]}', '{"pad": [0]}', '{"pad": [0, NaN]}', '{"pad": [true, 0]}',
     '{"pad": ["0", 0]}', '{"pad": [1e999, 0]}', "[" * 900, '{"keys": ' + json.dumps(["KeyW"] * 17) + "}", " " * 2000],
)  # fmt: skip
def test_what_is_no_input_is_none(text):
    assert read_held(text) is None


@given(st.text(max_size=300))
def test_any_text_is_held_or_none(text):
    held = read_held(text)
    assert held is None or held.amount <= 1.0 + 1e-9


def test_stick_has_a_dead_zone_and_a_rim():
    assert clamp(0.05, 0.05) == Held()
    assert clamp(3.0, 4.0).amount == pytest.approx(1.0)
    assert clamp(0.3, 0.0) == Held(0.3, 0.0)


CLICK = {
    "type": "ScenePointerMessage", "event_type": "click", "ray_origin": (0.0, 0.0, 1.0), "modifier": None,
    "ray_direction": (0.0, 1.0, -1.0), "screen_pos": [[0.5, 0.5]],
}  # fmt: skip


@pytest.mark.parametrize("message", [CAMERA, DRAG, CLICK, {"type": "CommandTriggerMessage", "uuid": "a"}])
def test_messages_of_the_page_pass(message):
    assert sift(msgspec.msgpack.encode(message)) == PASS


def test_a_control_may_change_only_its_value():
    def update(**updates):
        return sift(msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": "a", "updates": updates}))

    assert update(value=0.5) == PASS
    assert update(value="1x") == PASS
    assert update(update_cb=[]) == REFUSE
    assert update(value=float("nan")) == REFUSE
    assert update(value={"a": 1}) == REFUSE


@pytest.mark.parametrize("key", [k for k in CLICK if k not in ("type", "modifier")])
def test_a_click_with_a_wrong_field_is_refused(key):
    assert sift(msgspec.msgpack.encode({**CLICK, key: "rubbish"})) == REFUSE


@pytest.mark.parametrize("key", [k for k in DRAG if k not in ("type", "instance_index", "modifier", "owner")])
def test_a_drag_with_a_wrong_field_is_refused(key):
    assert sift(msgspec.msgpack.encode({**DRAG, key: "rubbish" if key != "name" else 5})) == REFUSE


def test_other_messages_of_viser_go_no_further():
    assert sift(msgspec.msgpack.encode({"type": "ShareUrlRequest"})) == DROP


@given(st.binary(max_size=400))
def test_any_bytes_are_judged(raw):
    assert sift(raw) in (DROP, REFUSE)


def test_large_messages_are_refused_unread():
    assert sift(b"\x00" * (MAX_PAGE_BYTES + 1)) == REFUSE
