"""Sliders, ticks and buttons for what the controllers themselves offer: settings of their world, and tasks by name.

One slider or tick serves everybody who has a setting of that name, for all stand on the one ground that is shown.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from jostle.controllers import Controller, Setting, settings_of, tasks_of
from jostle.viewer.handles import GuiApi

_BUTTONS = 3  # tasks with a button of their own; more share a row


class Wishes:
    """`settings(controller)` is what the sliders say to it; `take_task` what a button asked for since the last time."""

    def __init__(self, gui: GuiApi, controllers: Sequence[Controller]) -> None:
        """With a button for each task that anyone here knows."""
        self.gui, self.controllers = gui, controllers
        self.sliders: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._asked: str | None = None
        tasks = tuple(dict.fromkeys(task for controller in controllers for task in tasks_of(controller)))
        if len(tasks) <= _BUTTONS:
            for task in tasks:
                self._add_button(task)
        else:
            self._add_choice(tasks)

    def _add_button(self, task: str) -> None:
        button = self.gui.add_button(task.capitalize(), color="gray", hint="Where they are")

        @button.on_click
        async def _(event: Any) -> None:
            self.ask(task)

    def _add_choice(self, tasks: tuple[str, ...]) -> None:
        """Many buttons close together."""
        group = self.gui.add_button_group("Do", [task.capitalize() for task in tasks])

        @group.on_click
        async def _(event: Any) -> None:
            self.ask(next(task for task in tasks if task.capitalize() == group.value))

    def add_settings(self) -> None:
        """A slider or a tick for each setting that anyone here has; it begins at the first one's."""
        known: dict[str, Setting] = {}
        for setting in (s for controller in self.controllers for s in settings_of(controller)):
            known.setdefault(setting.name, setting)
        for title, toggle in (("Ground", False), ("Body", True)):
            own = {name: setting for name, setting in known.items() if setting.toggle is toggle}
            if own:
                with self.gui.add_folder(title):
                    self.sliders |= {name: self._tick(s) if toggle else self._slider(s) for name, s in own.items()}

    def _tick(self, setting: Setting) -> Any:
        return self.gui.add_checkbox(
            setting.label.capitalize(), setting.default > 0.5, hint="Change it while they walk"
        )

    def _slider(self, setting: Setting) -> Any:
        label = f"{setting.label} ({setting.unit})" if setting.unit else setting.label
        step = float(10.0 ** np.floor(np.log10((setting.high - setting.low) / 15.0)))  # 31 to 300 of them
        first = float(np.clip(np.round(setting.default / step) * step, setting.low, setting.high))
        return self.gui.add_slider(label, setting.low, setting.high, step, first, hint="While they walk")

    def ask(self, task: str) -> None:
        """From any thread: at the next beat."""
        with self._lock:
            self._asked = task

    def take_task(self) -> str | None:
        with self._lock:
            asked, self._asked = self._asked, None
        return asked

    def is_on(self, name: str) -> bool:
        """Whether a setting is more than half on."""
        return float(self.sliders[name].value) > 0.5

    def settings(self, controller: Controller) -> dict[str, float]:
        """What every slider says, to those who have such a setting, within their limits."""
        return {s.name: float(np.clip(self.sliders[s.name].value, s.low, s.high)) for s in settings_of(controller)}
