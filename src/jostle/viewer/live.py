"""Characters that answer: a page on which controllers run, are pushed by dragging, steered, recorded.

One loop steps everything. What a page does (a drag, a held key, a slider) arrives on other threads and is only noted;
the loop picks it up at its next beat. So a controller, which is pure, is only ever called from one thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jostle.clips.skin import Skin
from jostle.controllers import Command, Controller, Floor, Push, Start, tasks_of
from jostle.errors import MotionError
from jostle.skeleton import forward, interpolate
from jostle.types import Array, Float
from jostle.viewer import drag as drags
from jostle.viewer import look
from jostle.viewer.clock import Beat
from jostle.viewer.drag import Acting, Drag
from jostle.viewer.frames import Figure, Frame, build_figure, trailed_joints
from jostle.viewer.gusts import Gusts, gust_on
from jostle.viewer.handles import CharacterState, Recorder, Recording
from jostle.viewer.layout import first_view
from jostle.viewer.live_panel import LivePanel
from jostle.viewer.pointing import Pointing
from jostle.viewer.posed import FEET_SHOWN, middle_hips, pose_figure, stood_on
from jostle.viewer.scene import Scene
from jostle.viewer.stage import RATE, Stage, open_stage, run_until_interrupted
from jostle.viewer.steering import Steering, yaw_of_camera
from jostle.viewer.tracks import box_of

LANE = 0.75  # body heights between two characters at the start
TRAIL_SECONDS, TRAIL_RATE = 1.5, 12.0
LONGEST_RECORDING = 10 * 60.0  # seconds; then it stops by itself


def view_controllers(
    controllers: Sequence[Controller],
    names: Sequence[str] | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    open_browser: bool = True,
    skins: Sequence[Skin | None] | None = None,
    shadows: bool = True,
    announce: Callable[[str], object] = print,
) -> None:
    """Run controllers side by side in the browser until interrupted: push them, steer them, record them."""
    page = open_controllers(controllers, names, host, port, skins, shadows)
    run_until_interrupted(page, open_browser, announce)


def open_controllers(
    controllers: Sequence[Controller],
    names: Sequence[str] | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    skins: Sequence[Skin | None] | None = None,
    shadows: bool = True,
) -> Live:
    """The page of `view_controllers`, opened but not yet running: call `run`, and `close` in the end."""
    if not controllers:
        raise MotionError("There is no controller to run; name at least one.")
    names = names or [controller.name for controller in controllers]
    skins = skins or [None] * len(controllers)
    figures = [
        build_figure(name, controller.skeleton, skin, FEET_SHOWN)
        for name, controller, skin in zip(names, controllers, skins, strict=True)
    ]
    steering = Steering()
    steered = any({"heading", "speed"} & set(c.supports) for c in controllers)
    stage = open_stage(" · ".join(names) + " — jostle", host, port, steering.hold if steered else None)
    return Live(stage, controllers, figures, steering, shadows)


class Live:
    """The page of running controllers and its loop."""

    def __init__(
        self,
        stage: Stage,
        controllers: Sequence[Controller],
        figures: Sequence[Figure],
        steering: Steering,
        shadows: bool = True,
    ) -> None:
        from jostle.runtime import Character

        self.stage = stage
        self.figures = list(figures)
        self.steering = steering
        self.characters = [Character(controller, RATE) for controller in controllers]
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.held: Drag | None = None  # by the hand on the page
        self.released: list[tuple[int, Push, Drag]] = []  # waiting for the next beat
        self.acting: list[list[Acting]] = [[] for _ in controllers]
        self.gusts = Gusts()
        self.recorders: list[Recorder] | None = None
        self.recordings: list[Recording] = []
        self._restart = False
        self._credit = 0.0
        self.panel = LivePanel(self)
        self._scenery: list[tuple[str, Any]] = []  # what stands there while a setting is on
        self.begin()
        self.scene = Scene(stage.server, figures, shadows)
        for puppet, controller in zip(self.scene.puppets, controllers, strict=True):
            for i, obstacle in enumerate(getattr(controller, "obstacles", ())):
                look.add_obstacle(stage.server.scene, f"{puppet.root}/obstacle{i}", obstacle)
            for name, things in getattr(controller, "scenery", {}).items():
                for i, thing in enumerate(things):
                    handle = look.add_obstacle(stage.server.scene, f"{puppet.root}/{name}{i}", thing)
                    self._scenery.append((name, handle))
        self._dress()
        self.pointing = Pointing(stage.server, self.scene, controllers)
        self._watch_drags()
        self._look()

    # Beginning

    def begin(self) -> None:
        """Everyone at the start, side by side."""
        height = max(c.skeleton.height for c in self.characters)
        middle = 0.5 * (len(self.characters) - 1)
        starts = [Start(position=(0.0, (i - middle) * LANE * height)) for i in range(len(self.characters))]
        self.states: list[CharacterState] = [c.init(s) for c, s in zip(self.characters, starts, strict=True)]
        self.before = [state.pose for state in self.states]
        self.acting = [[] for _ in self.characters]
        self.history: list[list[Float[Array, "N 3"]]] = [[] for _ in self.characters]
        self.steering.forget()
        self.panel.latents.forget()

    def reset(self) -> None:
        """From any thread: begin again at the next beat."""
        self._restart = True

    def _look(self) -> None:
        frame = self.frame()
        low, high = box_of([f.positions for f in frame.figures], self.figures)
        self.scene.offset = self.middle(frame)
        self.scene.rise = frame.floor.height(float(self.scene.offset[0]))
        shift = self.scene.shift
        height = max(c.skeleton.height for c in self.characters)
        self.scene.look_from(lambda aspect: first_view(low - shift, high - shift, height, aspect=aspect))

    # What the page does

    def _watch_drags(self) -> None:
        for index, puppet in enumerate(self.scene.puppets):

            async def heard(event: Any, index: int = index) -> None:
                self.on_drag(index, event.target.name, event.phase, event.start_position, event.end_position)

            puppet.on_drag(heard)

    def on_drag(self, index: int, node: str, phase: str, start: Sequence[float], end: Sequence[float]) -> None:
        """A hand on the body of character `index` grabs, pulls, lets go. Positions are the page's own."""
        if "pushes" not in self.characters[index].controller.supports:
            if phase == "start":
                self.panel.say(
                    f"{self.figures[index].name} ignores pushes; it {_does(self.characters[index].controller)}."
                )
            return
        pull = np.asarray(end, dtype=float) - np.asarray(start, dtype=float)
        with self.lock:
            if phase == "start":
                at = np.asarray(start, dtype=float) + self.scene.shift
                joint, point = self.scene.puppets[index].grab(node, at, self.shown.figures[index])
                self.held = Drag(index, joint, point, pull)
            elif self.held is not None and self.held.character == index:
                self.held = self.held.pulled(pull)
                if phase == "end":
                    self._let_go(self.held)

    def _let_go(self, held: Drag) -> None:
        self.held = None
        skeleton = self.characters[held.character].skeleton
        push = drags.push_of(held, skeleton, self.panel.strength.value, self.panel.duration.value)
        if push is not None:
            self.released.append((held.character, push, held))
            size = float(np.linalg.norm(push.force))
            self.panel.note(f"{push.part.replace('_', ' ')}, {size:.0f} N for {push.duration:.2f} s")

    def camera_yaw(self) -> float:
        """Of the page that was moved last."""
        clients = list(self.stage.server.get_clients().values())
        if not clients:
            return 0.0
        camera = max(clients, key=lambda c: c.camera.update_timestamp).camera
        return yaw_of_camera(tuple(camera.position), tuple(camera.look_at))

    # Stepping

    def commands(self) -> list[Command]:
        """What every character is asked for at this step; asking takes the released pushes."""
        heading, speed = self.steering.wish(self.camera_yaw(), float(self.panel.pace.value))
        with self.lock:
            released, self.released = self.released, []
        released += self._blown()
        task, out = self.panel.wishes.take_task(), []
        for i, (character, state) in enumerate(zip(self.characters, self.states, strict=True)):
            supports = character.controller.supports
            mine = [(push, held) for index, push, held in released if index == i]
            self.acting[i] += [Acting(held, push.force, state.time + push.duration) for push, held in mine]
            out.append(
                Command(
                    heading=heading if "heading" in supports else None,
                    speed=speed if "speed" in supports else None,
                    target=self.pointing.target if "target" in supports else None,
                    pushes=tuple(push for push, _ in mine),
                    task=task if task in tasks_of(character.controller) else None,
                    settings=self.panel.wishes.settings(character.controller),
                )
            )
        return out

    def _blown(self) -> list[tuple[int, Push, Drag]]:
        """The gusts that begin now, on everyone who can be pushed."""
        force = self.gusts.blow(float(self.panel.wind.value), 1.0 / RATE)
        if force is None:
            return []
        reached = [i for i, c in enumerate(self.characters) if "pushes" in c.controller.supports]
        return [(i, *gust_on(i, self.characters[i].skeleton, force)) for i in reached]

    def step(self) -> None:
        """One sixtieth of a second for everyone."""
        wishes = self.commands()
        recorders = self.recorders  # a page may stop them at any moment
        self.before = [state.pose for state in self.states]
        for i, (character, wish) in enumerate(zip(self.characters, wishes, strict=True)):
            if recorders is not None:
                recorders[i].add(self.states[i], wish.pushes)
            self.states[i] = character.step(self.states[i], wish)
            self.acting[i] = [a for a in self.acting[i] if a.until > self.states[i].time]
            self._remember(i)
        if recorders is not None and len(recorders[0]) >= LONGEST_RECORDING * RATE:
            self.panel.stop_recording()

    def _remember(self, index: int) -> None:
        if self.states[index].frame % round(RATE / TRAIL_RATE / 2) == 0:
            character, state = self.characters[index], self.states[index]
            world = forward(character.skeleton, stood_on(self.floor, state.pose, state.observed))
            self.history[index].append(world.positions[list(trailed_joints(character.skeleton))])
            del self.history[index][: -int(TRAIL_SECONDS * TRAIL_RATE * 2)]

    def tick(self, ticks: int) -> None:
        """One update of the page, `ticks` beats after the last."""
        if self._restart:
            self._restart = False
            self.pointing.forget()
            self.begin()
        if not self.panel.paused:
            self._credit += ticks * self.panel.rate
            while self._credit >= 1.0 - 1e-9:
                self._credit -= 1.0
                self.step()
        frame, follow = self.frame(), self.panel.follow.value
        middle = self.middle(frame) if follow else np.zeros(2)
        rise = frame.floor.height(float(middle[0])) if follow else 0.0
        self.scene.show(frame, middle, ticks / RATE, rise=rise)
        self._dress()

    def _dress(self) -> None:
        """Show the walls and poles that are in use."""
        for name, handle in self._scenery:
            on = self.panel.wishes.is_on(name)
            if handle.visible != on:
                handle.visible = on

    def run(self) -> None:
        """Until `stop` is set."""
        beat, since = Beat(RATE, stop=self.stop), 0
        while ticks := beat.wait():
            self.tick(ticks)
            since += ticks
            if since >= RATE / TRAIL_RATE:
                since = 0
                self.scene.show_tails(self.history if self.panel.trails.value else [])
                self.panel.latents.show(self.states)

    # Showing

    @property
    def floor(self) -> Floor:
        """The ground that is shown: the first character's. The others are shown standing on it where they are."""
        return self.states[0].observed.floor

    def frame(self) -> Frame:
        """What the page shows now: in slow motion between two steps."""
        slow = self.panel.rate < 1.0
        poses = [
            interpolate(before, state.pose, self._credit) if slow else state.pose
            for before, state in zip(self.before, self.states, strict=True)
        ]
        figures, hand, floor = [], self.held, self.floor  # once: a page may let go at any moment
        for i, (character, state, pose) in enumerate(zip(self.characters, self.states, poses, strict=True)):
            held = hand if hand is not None and hand.character == i else None
            stood, seen = stood_on(floor, pose, state.observed), state.observed.contacts
            arrows = (self.acting[i], held, self.panel.strength.value)
            figures.append(pose_figure(character.skeleton, stood, seen, *arrows, floor))
        self.shown = Frame(self.states[0].time, tuple(figures), floor)
        return self.shown

    def middle(self, frame: Frame) -> Float[Array, "2"]:
        """The point of the ground under everyone's hips."""
        return middle_hips(frame, [character.skeleton for character in self.characters])

    def close(self) -> None:
        self.stop.set()
        self.stage.close()


def _does(controller: Controller) -> str:
    supports = sorted(controller.supports)
    return f"answers only {', '.join(supports)}" if supports else "plays a clip and answers nothing"
