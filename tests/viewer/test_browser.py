"""The pages in a real browser."""

import math
import re
import time

import numpy as np
import pytest

from jostle.clips import load_clip
from jostle.controllers import Playback
from jostle.controllers.walker.parameters import WALKER
from jostle.controllers.walker.people import PEOPLE
from jostle.controllers.walker.walker import Walker
from jostle.viewer import write_page
from jostle.viewer.layout import View
from jostle.viewer.live import open_controllers
from jostle.viewer.playing import open_clips

pytestmark = pytest.mark.browser

WIDTH, HEIGHT = 900, 560


def until(condition, seconds: float = 60.0, what: str = "it"):
    """Wait for something that a page does; software GL takes its time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


def on_screen(point, server) -> tuple[float, float]:
    """Where a point of the page's world is on the screen, by the camera with which it opened."""
    camera = server.initial_camera
    view = View(np.array(camera.position), np.array(camera.look_at), camera.fov)
    forward = (view.look_at - view.position) / np.linalg.norm(view.look_at - view.position)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up, ray = np.cross(right, forward), np.asarray(point) - view.position
    focal = 0.5 * HEIGHT / math.tan(0.5 * view.fov)
    return WIDTH / 2 + focal * (ray @ right) / (ray @ forward), HEIGHT / 2 - focal * (ray @ up) / (ray @ forward)


def camera_right(server) -> np.ndarray:
    forward = np.array(server.initial_camera.look_at) - np.array(server.initial_camera.position)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    return right / np.linalg.norm(right)


def visit(tab, page) -> None:
    """Open the page and wait until its camera has reported, which viser takes for being there."""
    tab.goto(page.stage.url)
    until(page.stage.server.get_clients, what="the page to connect")
    tab.get_by_text("jostle", exact=True).first.wait_for()


def middle_of_canvas(tab) -> bytes:
    return tab.screenshot(clip={"x": 250, "y": 60, "width": 380, "height": 440})


def test_clip_page_loads_without_errors_and_shows_a_body(tab, walk, running):
    player = running(open_clips([walk], port=0, shadows=False))
    player.set_playing(False)
    visit(tab, player)
    tab.get_by_role("button", name="Play").wait_for()
    tab.wait_for_timeout(1000)
    shot = np.frombuffer(middle_of_canvas(tab), dtype=np.uint8)
    assert len(shot) > 8000  # an empty sky compresses to much less
    assert tab.problems == []


def test_scrubbing_moves_the_pose(tab, walk, running):
    player = running(open_clips([walk], port=0, shadows=False))
    visit(tab, player)
    tab.get_by_role("button", name="Pause").click()
    until(lambda: not player.playing, what="the pause")
    player.seek(0.0)
    tab.wait_for_timeout(800)
    before = middle_of_canvas(tab)
    box = tab.locator("input[inputmode=decimal], input[inputmode=numeric]").first
    box.fill("1.25")
    box.press("Enter")
    until(lambda: abs(player.time - 1.25) < 1e-3, what="the scrub")
    until(lambda: middle_of_canvas(tab) != before, what="the picture to change")
    shown = player.scene.puppets[0].limbs._sent_positions[0]
    np.testing.assert_allclose(shown, player.tracks[0].at(1.25).positions[0], atol=1e-3)


def test_stepping_is_by_one_frame_both_ways(tab, walk, running):
    player = running(open_clips([walk], port=0, shadows=False))
    visit(tab, player)
    player.set_playing(False)
    player.seek(10 / walk.fps)
    tab.get_by_role("button", name="forward").click()
    until(lambda: abs(player.time * walk.fps - 11) < 1e-6, what="the step forward")
    tab.get_by_role("button", name="back").click()
    until(lambda: abs(player.time * walk.fps - 10) < 1e-6, what="the step back")


def chest_on_screen(live, skeleton) -> tuple[np.ndarray, float, float]:
    chest = live.shown.figures[0].positions[skeleton.index("Chest")] + [0.0, 0.0, 0.1]
    return chest, *on_screen(chest - np.append(live.scene.offset, 0.0), live.stage.server)


def first_push(listener):
    return until(lambda: next((p for c in listener.heard for p in c.pushes), None), what="the push")


def test_dragging_the_torso_pushes_it_where_it_was_dragged(tab, listener, running):
    live = running(open_controllers([listener], port=0, shadows=False))
    visit(tab, live)
    tab.wait_for_timeout(1500)
    chest, x, y = chest_on_screen(live, listener.skeleton)
    tab.mouse.move(x, y)
    tab.mouse.down()
    for step in range(1, 9):
        tab.mouse.move(x + 12 * step, y)
        tab.wait_for_timeout(80)
    held = until(lambda: live.held, what="the grab")
    until(lambda: np.linalg.norm(live.held.pull) > 0.2, what="the pull")
    assert held.character == 0
    tab.mouse.up()
    push = first_push(listener)
    assert push.part in ("chest", "spine")
    assert push.duration == pytest.approx(0.2)
    direction = push.force / np.linalg.norm(push.force)
    assert direction @ camera_right(live.stage.server) > 0.98
    depth = np.linalg.norm(np.array(live.stage.server.initial_camera.position) - chest)
    pulled = 96 * depth * 2 * math.tan(0.5 * live.stage.server.initial_camera.fov) / HEIGHT
    assert np.linalg.norm(push.force) == pytest.approx(400 * pulled, rel=0.25)
    assert np.linalg.norm(push.point) < 0.4
    assert tab.problems == []


def test_a_walker_is_tilted_and_stood_up_from_the_page(tab, running):
    walker = Walker("test", PEOPLE["stocky"], "walker", WALKER.initial)
    live = running(open_controllers([walker], port=0, shadows=False))
    visit(tab, live)
    live.panel.paused = True  # software GL has enough to do
    box = tab.locator("input[inputmode=decimal], input[inputmode=numeric]")
    zero = until(lambda: [b for b in box.all() if b.input_value() == "0"][1:], what="the wind and the slope")
    slope = zero[0]
    slope.fill("6")
    slope.press("Enter")
    until(lambda: live.panel.wishes.sliders["slope"].value == 6.0, what="the slider")
    live.panel.paused = False
    until(lambda: live.floor.slope > 0.0, what="the ground to tilt")
    until(lambda: live.states[0].observed.quality["fallen"] == 1.0, what="the fall")
    tab.get_by_role("button", name="Stand up").click()
    until(lambda: live.states[0].observed.quality["fallen"] == 0.0, what="it to stand up")
    assert tab.problems == []


def test_a_finger_pushes_as_a_mouse_does(browser, listener, running):
    live = running(open_controllers([listener], port=0, shadows=False))
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, has_touch=True)
    tab = context.new_page()
    visit(tab, live)
    tab.wait_for_timeout(1500)
    _, x, y = chest_on_screen(live, listener.skeleton)
    finger = context.new_cdp_session(tab)

    def touch(kind: str, *points: dict) -> None:
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    touch("touchStart", {"x": x, "y": y})
    for step in range(1, 9):
        touch("touchMove", {"x": x, "y": y - 10 * step})
        tab.wait_for_timeout(80)
    until(lambda: live.held is not None and live.held.pull[2] > 0.15, what="the pull")
    touch("touchEnd")
    push = first_push(listener)
    assert push.part in ("chest", "spine")
    assert push.force[2] / np.linalg.norm(push.force) > 0.9  # upwards, in the plane that faces the camera
    context.close()


def test_a_controller_that_ignores_pushes_is_greyed_out_and_says_so(tab, walk, running):
    live = running(open_controllers([Playback(walk)], port=0, shadows=False))
    visit(tab, live)
    tab.get_by_text("playback:walk ignores pushes.").wait_for()
    tab.get_by_text("playback:walk ignores steering.").wait_for()
    assert live.panel.strength.disabled
    assert tab.locator("#jostle-pad").count() == 0
    live.on_drag(0, "/world/0/0/mesh0", "start", (0.0, 0.0, 1.0), (0.5, 0.0, 1.0))
    tab.get_by_text("plays a clip and answers nothing").wait_for()
    assert live.held is None


def test_held_keys_steer_until_they_are_let_go(tab, listener, running):
    live = running(open_controllers([listener], port=0, shadows=False))
    visit(tab, live)
    assert all(c.speed is None for c in listener.heard)
    tab.mouse.click(WIDTH / 2, HEIGHT - 40)
    tab.keyboard.down("KeyD")
    steered = until(lambda: next((c for c in reversed(listener.heard) if c.speed), None), what="the key")
    expected = live.camera_yaw() - math.pi / 2
    assert math.cos(steered.heading - expected) > 0.999
    assert steered.speed == pytest.approx(1.3)
    tab.keyboard.up("KeyD")
    until(lambda: listener.heard[-1].speed == 0.0 and listener.heard[-1].heading is None, what="the release")


def test_the_pad_on_the_page_steers(tab, listener, running):
    live = running(open_controllers([listener], port=0, shadows=False))
    visit(tab, live)
    box = tab.locator("#jostle-pad").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x, y - 50)
    steered = until(lambda: next((c for c in reversed(listener.heard) if c.speed), None), what="the pad")
    assert math.cos(steered.heading - live.camera_yaw()) > 0.999
    tab.mouse.up()
    until(lambda: listener.heard[-1].speed == 0.0, what="the release")


def recorded(tab, live, frames: int):
    """Record through the page; the button that downloads it."""
    tab.get_by_role("button", name="Record", exact=True).click()
    until(lambda: live.recorders and len(live.recorders[0]) > frames, what="some frames")
    tab.get_by_role("button", name="Stop").click()
    button = tab.get_by_role("button", name=re.compile(r"Download \d"))
    button.wait_for()
    return button


def test_a_recording_downloads_and_parses(tab, walk, running, tmp_path):
    live = running(open_controllers([Playback(walk)], port=0, shadows=False))
    visit(tab, live)
    button = recorded(tab, live, 40)
    with tab.expect_download() as download:
        button.click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == "playback-walk.bvh"
    clip = load_clip(path)
    assert clip.fps == pytest.approx(60.0, rel=1e-3)
    assert clip.frame_count == live.recordings[0].frame_count > 40
    assert set(walk.skeleton.names) <= set(clip.skeleton.names)


@pytest.mark.slow
def test_a_film_downloads_while_the_character_goes_on(tab, walk, running, tmp_path):
    live = running(open_controllers([Playback(walk)], port=0, shadows=False))
    visit(tab, live)
    button = recorded(tab, live, 20)
    live.panel._form.value = "MP4"
    begun = live.states[0].frame
    with tab.expect_download(timeout=180_000) as download:
        button.click()
        tab.get_by_role("button", name=re.compile(r"Rendering \d+ %")).wait_for()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == "recording.mp4"
    assert path.read_bytes()[4:8] == b"ftyp"
    assert live.states[0].frame > begun + 60  # a second and more went by on the page
    tab.get_by_role("button", name=re.compile(r"Download \d")).wait_for()  # and it can be asked for again


def test_the_saved_page_plays_offline(tab, walk, tmp_path):
    path = tmp_path / "walk.html"
    write_page([walk], path, shadows=False)
    asked = []
    tab.on("request", lambda r: asked.append(r.url) if not r.url.startswith(("file:", "data:", "blob:")) else None)
    tab.context.set_offline(True)
    tab.goto(path.as_uri())
    clock = tab.locator("input").first
    clock.wait_for()
    first = clock.input_value()
    until(lambda: clock.input_value() != first, what="the clock to run")
    tab.keyboard.press("Space")
    tab.wait_for_timeout(1000)
    assert len(middle_of_canvas(tab)) > 8000
    assert asked == []
    assert tab.problems == []
    assert tab.evaluate("document.documentElement.dataset.studio") == "3"  # every change to viser's program was made


def test_a_foreign_page_reaches_neither_door(tab, walk, running):
    player = running(open_clips([walk], port=0, shadows=False))
    tab.route("http://evil.test/*", lambda route: route.fulfill(body="<p>evil</p>", content_type="text/html"))
    tab.goto("http://evil.test/")
    attempt = """(port) => new Promise((done) => {
        const socket = new WebSocket(`ws://127.0.0.1:${port}/`, ["viser-v1.1.1"]);
        socket.onopen = () => done("open");
        socket.onerror = () => done("refused");
    })"""
    assert tab.evaluate(attempt, player.stage.port) == "refused"
    assert tab.evaluate(attempt, player.stage.server.get_port()) == "refused"
    assert player.stage.server.get_clients() == {}


def test_on_a_phone_the_panel_starts_closed_and_all_fit_in(browser, listener, running):
    live = running(open_controllers([listener, listener], port=0, shadows=False))
    context = browser.new_context(viewport={"width": 390, "height": 780}, has_touch=True)
    tab = context.new_page()
    tab.goto(live.stage.url)
    until(live.stage.server.get_clients, what="the page to connect")
    tab.locator("#jostle-pad").wait_for()
    tab.get_by_text("jostle", exact=True).first.wait_for()
    tab.wait_for_timeout(1500)
    until(lambda: not tab.get_by_text("Strength (N/m)").is_visible(), 20.0, "the panel to close by itself")
    [client] = live.stage.server.get_clients().values()
    usual = live.stage.server.initial_camera
    across = [np.linalg.norm(np.subtract(c.position, c.look_at)) for c in (client.camera, usual)]
    assert across[0] > 1.3 * across[1]  # it stands back, so that nothing is cut off at the sides
    context.close()
