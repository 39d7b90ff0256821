"""Pictures: the camera against a pinhole on paper, triangles against a slow loop, films and sheets read back."""

import numpy as np
import pytest
from PIL import Image

from jostle.assets import clip_path
from jostle.clips import Clip, load_clip
from jostle.controllers import LEVEL, Floor
from jostle.errors import FileError, JostleError, MotionError
from jostle.export import Actor, Camera, draw, key_frames, render
from jostle.export.camera import VIEWS, fit_distance, smooth_path, view_direction
from jostle.export.floor import meet_floor, paint_floor
from jostle.export.raster import rasterise
from jostle.export.scene import Figure, build_figure
from jostle.export.shade import cast_shadow, encode, lamp, linear, lit_share
from jostle.export.sheet import layout
from jostle.export.stage import floor_of, set_stage
from jostle.export.video import durations
from jostle.maths import quat
from jostle.runtime import Recording
from jostle.skeleton import Skeleton, build_skeleton
from jostle.skeleton.loft import ball

CAMERA = Camera(np.array([4.0, 1.0, 1.6]), np.array([0.0, 0.2, 0.9]), 0.5)


def ball_figure(radius: float, colour: tuple[float, float, float] = (0.5, 0.5, 0.5)) -> Figure:
    mesh = ball(np.zeros(3), np.full(3, radius), rings=31, segments=48)
    albedo = np.tile(np.array(colour, dtype=np.float32), (len(mesh.faces), 1))
    return Figure(np.zeros(len(mesh.vertices), dtype=int), mesh.vertices, mesh.normals, mesh.faces, albedo)


def ball_at(centre: list[float], radius: float = 0.4, colour: tuple[float, float, float] = (0.5, 0.5, 0.5)) -> Actor:
    return Actor(ball_figure(radius, colour), np.array([centre]), quat.identity((1,)))


def biped() -> Skeleton:
    names = ["Hips", "Spine", "Chest", "Head"]
    parents, offsets = [-1, 0, 1, 2], [(0, 0, 0.95), (0, 0, 0.15), (0, 0, 0.15), (0, 0, 0.3)]
    for side, y in (("Left", 1.0), ("Right", -1.0)):
        for word, parent, offset in (
            ("UpLeg", "Hips", (0, 0.09 * y, -0.05)),
            ("Leg", f"{side}UpLeg", (0, 0, -0.42)),
            ("Foot", f"{side}Leg", (0, 0, -0.4)),
            ("Toe", f"{side}Foot", (0.12, 0, -0.05)),
            ("Arm", "Chest", (0, 0.18 * y, 0.16)),
            ("ForeArm", f"{side}Arm", (0, 0.27 * y, 0)),
            ("Hand", f"{side}ForeArm", (0, 0.24 * y, 0)),
        ):
            names.append(side + word)
            parents.append(names.index(parent))
            offsets.append(offset)
    return build_skeleton(names, parents, np.array(offsets, dtype=float))


def stroll(seconds: float = 2.0, fps: float = 20.0) -> Clip:
    """Legs swing while the hips go ahead at 1 m/s: no good walk, but it moves."""
    skeleton = biped()
    time = np.arange(round(seconds * fps) + 1) / fps
    root = np.stack([time, 0 * time, 0.95 + 0 * time], axis=1)
    wxyz = quat.identity((len(time), skeleton.joint_count))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        swing = 0.5 * sign * np.sin(2 * np.pi * time)
        wxyz[:, skeleton.index(f"{side}UpLeg")] = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), swing)
    return Clip(skeleton, fps, root, wxyz, name="stroll")


# --- camera ----------------------------------------------------------------------------------------------------------


def test_projection_is_a_pinhole():
    points = np.random.default_rng(0).normal(size=(50, 3)) * 0.5
    into = (CAMERA.target - CAMERA.eye) / np.linalg.norm(CAMERA.target - CAMERA.eye)
    right = np.cross(into, [0, 0, 1]) / np.linalg.norm(np.cross(into, [0, 0, 1]))
    up = np.cross(right, into)
    xy, depth = CAMERA.project(points, 640, 360)
    for point, pixel, far in zip(points, xy, depth, strict=True):
        ray = point - CAMERA.eye
        half = np.tan(0.25) * (ray @ into)  # half of the picture's height at this depth
        assert far == pytest.approx(ray @ into)
        np.testing.assert_allclose(pixel, [320 + 180 * (ray @ right) / half, 180 - 180 * (ray @ up) / half])


def test_rays_go_through_the_pixels_they_are_named_after():
    across, along = CAMERA.rays(640, 360)
    points = CAMERA.eye + 3.0 * (across[100] + along[[10, 20, 300]])
    xy, depth = CAMERA.project(points, 640, 360)
    np.testing.assert_allclose(xy, [[100.5, 10.5], [100.5, 20.5], [100.5, 300.5]])
    np.testing.assert_allclose(depth, 3.0)


def test_the_fitted_camera_sees_every_point_and_is_no_further_than_it_must():
    points = np.random.default_rng(1).normal(size=(200, 3))
    towards = view_direction("three-quarter", 0.3)
    distance = fit_distance(points, np.zeros(3), towards, 16 / 9, 0.5)
    xy, _ = Camera(distance * towards, np.zeros(3), 0.5).project(points, 1600, 900)
    share = np.abs(xy / [800, 450] - 1).max()
    assert share == pytest.approx(1.0, abs=1e-9)


def test_a_follower_of_steady_travel_neither_lags_nor_jerks():
    path = np.outer(np.arange(60) / 30, [1.4, 0.3, 0.0])
    np.testing.assert_allclose(smooth_path(path, 1 / 30), path, atol=1e-9)


def test_a_follower_smooths_a_jolt():
    path = np.zeros((90, 3))
    path[45:, 0] = 1.0
    smooth = smooth_path(path, 1 / 30)
    assert np.abs(np.diff(smooth[:, 0])).max() < 0.15
    np.testing.assert_allclose(smooth[[0, -1], 0], [0.0, 1.0], atol=0.02)


def test_an_unknown_view_names_the_known_ones():
    with pytest.raises(JostleError, match=r"No camera view 'sidee'\. Did you mean 'side'\?"):
        view_direction("sidee", 0.0)


def test_three_quarter_shows_the_face_and_side_walks_to_the_right():
    ahead = np.array([1.0, 0.0, 0.0])
    assert view_direction("three-quarter", 0.0) @ ahead > 0.6
    side = Camera(5 * view_direction("side", 0.0), np.zeros(3))
    assert side.axes[0] @ ahead > 0.9
    assert all(np.linalg.norm(view_direction(view, 1.0)) == pytest.approx(1.0) for view in VIEWS)


# --- triangles -------------------------------------------------------------------------------------------------------


def slow_rasterise(xy, nearness, faces, width, height):
    """The textbook loop: every pixel's centre against every triangle."""
    best = np.zeros((height, width))
    owner = np.full((height, width), -1)
    for index, face in enumerate(faces):
        a, b, c = xy[face]
        matrix = np.array([[a[0], b[0], c[0]], [a[1], b[1], c[1]], [1, 1, 1]])
        if np.linalg.det(matrix) > -1e-6:  # seen from behind, y being down
            continue
        for row in range(height):
            for column in range(width):
                weights = np.linalg.solve(matrix, [column + 0.5, row + 0.5, 1.0])
                near = weights @ nearness[face]
                if weights.min() >= 0 and near > best[row, column]:
                    best[row, column], owner[row, column] = near, index
    return owner, best


def test_triangles_cover_the_pixels_that_a_slow_loop_says():
    rng = np.random.default_rng(2)
    xy, nearness = rng.uniform(-4, 28, size=(30, 2)), rng.uniform(0.1, 1.0, size=30)
    faces = rng.permutation(30).reshape(10, 3)
    owner, best = slow_rasterise(xy, nearness, faces, 24, 20)
    seen = rasterise(xy, nearness, faces, 24, 20)
    found = np.full(24 * 20, -1)
    found[seen.pixel] = seen.face
    np.testing.assert_array_equal(found.reshape(20, 24), owner)
    np.testing.assert_allclose(seen.nearness, best.ravel()[seen.pixel], rtol=1e-5)


def test_weights_interpolate_the_corners():
    xy = np.array([[2.0, 3.0], [5.0, 30.0], [28.0, 9.0]])
    seen = rasterise(xy, np.ones(3), np.array([[0, 1, 2]]), 32, 32)
    at = xy[0] + seen.w1[:, None] * (xy[1] - xy[0]) + seen.w2[:, None] * (xy[2] - xy[0])
    row, column = np.divmod(seen.pixel, 32)
    np.testing.assert_allclose(at, np.stack([column, row], axis=1) + 0.5, atol=1e-4)
    assert len(seen.pixel) == pytest.approx(0.5 * abs(np.linalg.det(xy[1:] - xy[0])), rel=0.03)


def test_neighbouring_triangles_leave_no_gap_and_share_no_pixel():
    xy = np.array([[1.0, 1.0], [1.0, 41.0], [41.0, 41.0], [41.0, 1.0]])
    both = rasterise(xy, np.ones(4), np.array([[0, 1, 2], [0, 2, 3]]), 50, 50)
    assert len(both.pixel) == 1600


def test_a_balls_silhouette_is_where_geometry_says():
    centre, radius = np.array([0.1, 0.3, 0.8]), 0.45
    actor = ball_at(centre.tolist(), radius)
    points, _ = actor.figure.place(actor.positions, actor.wxyz)
    xy, depth = CAMERA.project(points, 320, 240)
    covered = np.zeros(320 * 240, dtype=bool)
    covered[rasterise(xy, 1 / depth, actor.figure.faces, 320, 240).pixel] = True
    across, along = CAMERA.rays(320, 240)
    rays = along[:, None] + across[None]
    towards = centre - CAMERA.eye
    cosine = rays @ towards / (np.linalg.norm(rays, axis=-1) * np.linalg.norm(towards))
    expected = cosine > np.sqrt(1 - (radius / np.linalg.norm(towards)) ** 2)
    wrong = np.sum(covered.reshape(240, 320) ^ expected)
    assert expected.sum() > 3000
    assert wrong < 0.02 * expected.sum()


# --- light -----------------------------------------------------------------------------------------------------------


def test_the_nearer_body_hides_the_farther_whatever_the_order():
    red, blue = ball_at([1.0, 0.35, 1.05], 0.3, (0.6, 0.02, 0.02)), ball_at([-1.0, 0.05, 0.75], 0.6, (0.02, 0.02, 0.6))
    (middle,), _ = CAMERA.project(red.positions, 160, 120)
    for actors in ([red, blue], [blue, red]):
        pixel = draw(actors, CAMERA, 160, 120)[int(middle[1]), int(middle[0])].astype(int)
        assert pixel[0] > 2 * pixel[2]


def test_a_body_casts_a_shadow_on_the_floor_away_from_the_lamp():
    light = lamp(CAMERA.eye - CAMERA.target)
    actor = ball_at([0.0, 0.0, 0.8], 0.3)
    points, _ = actor.figure.place(actor.positions, actor.wxyz)
    shadow = cast_shadow(points, actor.figure.faces, light, LEVEL)
    bare, shaded = paint_floor(CAMERA, 320, 180, LEVEL, []), paint_floor(CAMERA, 320, 180, LEVEL, [shadow])
    lost = 1.0 - (shaded / bare).mean(axis=-1)
    row, column = (lost.sum(axis=i) @ np.arange(n) / lost.sum() for i, n in ((1, 180), (0, 320)))
    (expected,), _ = CAMERA.project(actor.positions - light * 0.8 / light[2], 320, 180)
    np.testing.assert_allclose([column, row], expected, atol=4)
    assert lost[0].max() == 0.0


def test_a_sloping_floor_is_met_where_the_rays_meet_it():
    """Points of the plane, projected, come back; level floors are the old ones whatever way they are computed."""
    floor = LEVEL.tilted(np.radians(10.0), 0.5)
    ground = meet_floor(CAMERA, 320, 180, floor)
    rows, columns = np.array([100, 140, 170]) - ground.first, np.array([20, 160, 300])
    x, y = ground.x[rows, columns].astype(float), ground.y[rows, columns].astype(float)
    points = np.stack([x, y, floor.heights(x)], axis=1)
    xy, depth = CAMERA.project(points, 320, 180)
    np.testing.assert_allclose(xy, np.stack([columns, rows + ground.first], axis=1) + 0.5, atol=0.02)
    np.testing.assert_allclose(depth, np.broadcast_to(ground.depth, ground.x.shape)[rows, columns], rtol=1e-4)
    level = meet_floor(CAMERA, 320, 180, Floor(1e-9))
    np.testing.assert_allclose(level.x[-30:], meet_floor(CAMERA, 320, 180, LEVEL).x[-30:], rtol=1e-4, atol=1e-4)


def test_beside_a_beam_is_a_pit():
    plane, beam = (paint_floor(CAMERA, 320, 180, Floor(width=width), []) for width in (0.0, 0.5))
    ground = meet_floor(CAMERA, 320, 180, LEVEL)
    near = np.s_[-40:, 100:220]
    on = (np.abs(ground.y) < 0.2)[near]
    off = (np.abs(ground.y) > 0.3)[near]
    assert on.any()
    assert off.any()
    np.testing.assert_array_equal(beam[near][on], plane[near][on])
    assert np.all(beam[near][off].mean(axis=-1) < 0.6 * plane[near][off].mean(axis=-1))


def test_a_recording_is_drawn_on_the_ground_that_it_stood_on():
    skeleton = build_skeleton(["Hips", "Head"], [-1, 0], np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.5]]), ends=[])
    x = np.linspace(0.0, 5.0, 6)
    floors = tuple(LEVEL.tilted(0.1, 0.0) for _ in x)
    root = np.stack([x, np.zeros(6), 1.0 + floors[0].heights(x)], axis=1)
    run = Recording(skeleton, 1.0, root, quat.identity((6, 2)), contacts={"Hips": x > 2.0}, floors=floors)
    stage = set_stage(run, x, 1.5, contacts=True)
    assert stage.floors == floors
    np.testing.assert_allclose(np.ptp(stage.targets[:, 2] - floors[0].heights(stage.targets[:, 0])), 0.0, atol=0.05)
    assert [len(rings) for rings in stage.markers] == [0, 0, 0, 1, 1, 1]


def test_what_the_lamp_cannot_see_is_dark():
    actor = ball_at([0.0, 0.0, 1.0], 0.3)
    points, _ = actor.figure.place(actor.positions, actor.wxyz)
    light = lamp(np.array([1.0, 0.0, 0.2]))
    shadow = cast_shadow(points, actor.figure.faces, light, LEVEL)
    centre = np.array([0.0, 0.0, 1.0])
    lit = lit_share(
        shadow, np.array([centre + 0.3 * light, centre - 0.3 * light, centre - 0.9 * light], dtype=np.float32)
    )
    assert lit[0] > 0.95
    assert lit[1:].max() < 0.05


def test_colours_survive_the_way_to_light_and_back():
    grey = np.linspace(0.0, 0.85, 20)[:, None] * np.ones(3)
    np.testing.assert_allclose(encode(linear(grey)), np.round(255 * grey), atol=1.0)
    assert np.all(np.diff(encode(np.linspace(0, 5, 300)[:, None] * np.ones(3))[:, 0].astype(int)) >= 0)


def test_the_floor_is_at_zero_unless_the_clip_is_elsewhere():
    assert floor_of(0.02, 1.7) == 0.0
    assert floor_of(-0.05, 1.7) == 0.0
    assert floor_of(-0.9, 1.7) == -0.9
    assert floor_of(5.0, 1.7) == 5.0


# --- films and sheets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("follow", [True, False])
def test_the_body_stays_in_the_picture(follow):
    clip = stroll(3.0)
    times = np.arange(46) / 15
    stage = set_stage(clip, times, 16 / 9, follow=follow)
    for frame in range(len(times)):
        points, _ = stage.figure.place(stage.world.positions[frame], stage.world.wxyz[frame])
        xy, _ = stage.camera(frame).project(points, 640, 360)
        assert xy.min() > 0
        assert np.all(xy.max(axis=0) < [640, 360])


def test_key_frames_rise_from_the_first_to_the_last():
    clip = stroll()
    for count in (1, 2, 3, 8, 40, 500):
        frames = key_frames(clip, count)
        assert len(frames) == min(count, clip.frame_count)
        assert np.all(np.diff(frames) > 0)
        assert frames[0] == 0
        assert count == 1 or frames[-1] == clip.frame_count - 1


@pytest.mark.parametrize("count", [100, 200, 256, 257, 1000])
def test_key_frames_may_be_nearly_all_frames(count):
    walk = load_clip(clip_path("walk"))
    frames = key_frames(walk, count)
    assert len(frames) == min(count, walk.frame_count)
    assert np.all(np.diff(frames) > 0)
    assert (frames[0], frames[-1]) == (0, walk.frame_count - 1)


def test_key_frames_pass_over_a_pause():
    moving = stroll(1.0)
    wait = np.repeat(moving.wxyz[-1:], 60, axis=0)
    clip = Clip(
        moving.skeleton,
        moving.fps,
        np.concatenate([moving.root, np.repeat(moving.root[-1:], 60, axis=0)]),
        np.concatenate([moving.wxyz, wait]),
    )
    frames = key_frames(clip, 8)
    assert np.sum(frames <= moving.frame_count) >= 5


def test_layout_has_room_for_all_and_no_empty_row():
    for count in range(1, 20):
        for shape in (0.5, 1.0, 2.0):
            rows, columns = layout(count, 960, 540, shape)
            assert rows * columns >= count > (rows - 1) * columns
    assert layout(8, 1600, 400, 0.5) == (1, 8)
    assert layout(8, 1600, 900, 2.0) == (3, 3)


def bodies(picture: np.ndarray) -> int:
    """How many figures stand beside each other: runs of columns that hold wood-coloured pixels."""
    pixels = picture.astype(int)
    wood = (pixels[..., 0] - pixels[..., 2] > 45).any(axis=0)
    return int(np.sum(np.diff(wood.astype(int)) == 1) + wood[0])


def test_a_sheet_shows_each_pose_once(tmp_path):
    path, seen = tmp_path / "stroll.png", []
    render(stroll(), path, size=(900, 260), poses=5, progress=lambda done, total: seen.append((done, total)))
    with Image.open(path) as image:
        assert image.size == (900, 260)
        assert bodies(np.asarray(image)) == 5
    assert seen == [(i, 5) for i in range(1, 6)]


def test_a_sheet_of_two_clips_has_two_bands(tmp_path):
    path = tmp_path / "two.png"
    render([stroll(), stroll(1.0)], path, size=(601, 401), poses=3, names=["one", "two"], contacts=True)
    with Image.open(path) as image:
        picture = np.asarray(image)
    assert picture.shape == (401, 601, 3)
    assert bodies(picture[:180]) == 3
    assert bodies(picture[200:380]) == 3


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # of jax, when the film is read back by a fork
def test_a_film_has_its_frames_and_its_size(tmp_path):
    from imageio_ffmpeg import count_frames_and_secs, read_frames

    path = tmp_path / "stroll.mp4"
    render(stroll(0.5), path, fps=12.0, size=(161, 91))
    frames, seconds = count_frames_and_secs(str(path))
    assert frames == 7
    assert seconds == pytest.approx(7 / 12, abs=0.05)
    reader = read_frames(str(path), pix_fmt="rgb24")
    about = next(reader)
    assert about["size"] == (162, 92)
    assert about["codec"] == "h264"
    assert "yuv420p" in about["pix_fmt"]
    first = np.frombuffer(next(reader), dtype=np.uint8).reshape(92, 162, 3)
    reader.close()
    assert bodies(first) == 1


def test_a_loop_parses_and_lasts_as_long_as_the_clip(tmp_path):
    path = tmp_path / "stroll.gif"
    render([stroll(0.5), stroll(0.2)], path, fps=10.0, size=(200, 120))
    with Image.open(path) as image:
        assert image.size == (200, 120)
        assert image.n_frames == 6
        lasts = 0
        for frame in range(image.n_frames):
            image.seek(frame)
            lasts += image.info["duration"]
        assert bodies(np.asarray(image.convert("RGB"))) == 2
    assert lasts == 600


def test_hundredths_of_a_second_add_up():
    steps = durations(30.0, 90)
    assert sum(steps) == 3000
    assert set(steps) == {30, 40}


@pytest.mark.parametrize("ending", [".mp4", ".gif", ".png"])
def test_an_interrupted_film_leaves_the_old_file_alone(tmp_path, ending):
    path = tmp_path / f"good{ending}"
    path.write_bytes(b"a good film")

    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render(stroll(0.5), path, fps=10.0, size=(96, 64), progress=interrupt)
    assert path.read_bytes() == b"a good film"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_rendered_is_said_in_one_sentence(tmp_path):
    clip = stroll(0.2)
    with pytest.raises(FileError, match=r"\.avi.* these can: \.mp4, \.gif, \.png"):
        render(clip, tmp_path / "film.avi")
    with pytest.raises(MotionError, match="no clip"):
        render([], tmp_path / "film.mp4")
    with pytest.raises(JostleError, match="pixels"):
        render([clip] * 9, tmp_path / "film.mp4", size=(160, 90))
    with pytest.raises(JostleError, match="frames a second"):
        render(clip, tmp_path / "film.mp4", fps=0.0)
    with pytest.raises(JostleError, match="2 names were given for 1 clips"):
        render(clip, tmp_path / "film.mp4", names=["a", "b"])
    with pytest.raises(FileError, match="does not exist"):
        render(clip, tmp_path / "nowhere" / "film.mp4", size=(96, 64))
    with pytest.raises(JostleError, match="No camera view"):
        render(clip, tmp_path / "film.mp4", camera="above", size=(96, 64))
    broken = Clip(clip.skeleton, 20.0, np.full_like(clip.root, np.nan), clip.wxyz, name="broken")
    with pytest.raises(MotionError, match="'broken' holds NaN"):
        render(broken, tmp_path / "film.mp4", size=(96, 64))
    assert not list(tmp_path.iterdir())


def test_a_figure_is_built_once_for_a_skeleton():
    skeleton = biped()
    assert build_figure(skeleton) is build_figure(skeleton)
    assert len(build_figure(skeleton).albedo) == len(build_figure(skeleton).faces)


def test_a_steady_gait_is_shown_in_different_phases():
    clip = stroll(6.0)  # six cycles and a pose for each: even places would show one phase six times
    frames = key_frames(clip, 7)
    phase = (frames[1:-1] / clip.fps) % 1.0
    gaps = np.abs(phase[:, None] - phase)
    assert np.minimum(gaps, 1 - gaps).max() > 0.35
