"""The README's pictures, drawn by jostle itself: python docs/make_images.py"""

from pathlib import Path

import numpy as np
from PIL import Image

from jostle.assets import policy_path
from jostle.clips import Clip, load_clip
from jostle.controllers import Command
from jostle.controllers.compliant.compliant import compliant_clip
from jostle.controllers.compliant.objectives import Avoid, LookAt
from jostle.controllers.obstacles import Post
from jostle.controllers.policy.policy import Policy
from jostle.evaluate.response.cases import THREE, character
from jostle.export import Actor, Camera, build_figure, draw, render
from jostle.export.camera import fit_distance
from jostle.export.values import plot_policy
from jostle.runtime import Character, load_controller, record
from jostle.runtime.recording import due
from jostle.runtime.wording import read_push

ROOT = Path(__file__).parent.parent
CLIPS = ROOT / "src" / "jostle" / "assets" / "clips"
IMAGES = ROOT / "docs" / "images"
WIDE = (1600, 560)
FIELD = 0.2  # radians: a long lens, so that the near figure is not much larger than the far one


def chronophotograph(
    clip: Clip, seconds: list[float], width: int, height: int, view: float, rise: float
) -> Image.Image:
    """One walk, several moments in one frame: the latest solid, the earlier ones fading, as on an old glass plate."""
    figure = build_figure(clip.skeleton)
    frames = [round(second * clip.fps) for second in seconds]
    fades = np.linspace(0.62, 0.0, len(frames)) ** 1.3
    actors = [
        Actor(figure, clip.positions[frame], clip.globals.wxyz[frame], float(fade))
        for frame, fade in zip(frames, fades, strict=True)
    ]
    points = np.concatenate([figure.place(actor.positions, actor.wxyz)[0] for actor in actors])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    way = clip.root[frames[-1], :2] - clip.root[frames[0], :2]
    angle = np.arctan2(way[1], way[0]) + np.radians(view)
    towards = np.array([np.cos(angle), np.sin(angle), np.tan(np.radians(rise))])
    towards /= np.linalg.norm(towards)
    distance = 1.1 * fit_distance(points, middle, towards, width / height, FIELD)
    camera = Camera(middle + distance * towards, middle, FIELD)
    return Image.fromarray(draw(actors, camera, width, height, scale=0.5, lamp_side=-1.0))


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    walk = load_clip(CLIPS / "walk.bvh")
    moments = [4.37 - 0.62 * k for k in range(6, -1, -1)]  # ends on a landing foot, and no two phases alike
    chronophotograph(walk, moments, *WIDE, view=-70.0, rise=6.0).save(IMAGES / "hero.png", optimize=True)
    gaits = [load_clip(CLIPS / f"{name}.bvh") for name in ("walk", "run", "turn_left")]
    render(gaits, IMAGES / "gaits.png", size=(1400, 900), poses=7)
    render(answers(), IMAGES / "answers.png", size=(1400, 900), poses=7)
    render(giving_way(walk), IMAGES / "compliant.png", size=(1400, 900), poses=7, camera="front")
    policy = load_controller(policy_path("walk"))
    assert isinstance(policy, Policy)
    (IMAGES / "policy").mkdir(exist_ok=True)
    plot_policy(policy.plan, IMAGES / "policy" / "values.png")
    render([steered(policy)], IMAGES / "policy" / "steered.png", size=(1400, 360), poses=9, camera="three-quarter")


def answers() -> list[Clip]:
    """Pushes that nobody recorded, answered by a character that learnt three others."""
    person = character(THREE)
    shown = []
    for name, words in (
        ("back and left", "torso 280N back-left at 0.5s for 0.2s"),
        ("the left arm", "left_arm 250N forward-left at 0.5s for 0.2s"),
        ("the pelvis", "pelvis 280N right at 0.7s for 0.2s"),
    ):
        timed = read_push(words)
        run = Character(person, 30.0)
        shown.append(record(run, 3.0, lambda time, one=timed: Command(pushes=due([one], time, 30.0)), name=name))
    return shown


def steered(policy: Policy) -> Clip:
    """The shipped character that is steered, told to go left, and then back."""
    run = Character(policy, 30.0)
    return record(run, 3.6, lambda time: Command(heading=np.pi / 2 if time < 1.4 else -np.pi / 2), name="steered")


def giving_way(clip: Clip) -> list[Clip]:
    """The same walk, with an arm pushed, a head that looks at something, and a post in the way."""
    post = Post(np.array([1.45, 0.4, 0.0]), np.array([1.45, 0.4, 1.7]), 0.08)
    shown = []
    for name, words, objectives in (
        ("pushed", "left_forearm 150N left at 0.6s for 0.15s", ()),
        ("looks", None, (LookAt(np.array([3.0, 2.0, 1.6])),)),
        ("evades", None, (Avoid((post,), margin=0.25),)),
    ):
        pushes = [] if words is None else [read_push(words)]
        run = Character(compliant_clip(clip, objectives=objectives))
        shown.append(record(run, 1.6, lambda time, all=pushes: Command(pushes=due(all, time, 60.0)), name=name))
    return shown


if __name__ == "__main__":
    main()
