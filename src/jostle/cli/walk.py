"""`jostle walk`: make walkers, record them, and read their parameters."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import tyro

from jostle.cli.common import load_walker, print_json, print_table, progress, say
from jostle.errors import CommandError, FileError, unknown_name

if TYPE_CHECKING:
    from jostle.runtime import TimedPush

Output = Annotated[str, tyro.conf.arg(aliases=["-o"])]
DIRECTIONS = ("forward", "forward_left", "left", "back_left", "back", "back_right", "right", "forward_right")
_PUSH = "SECONDS:DIRECTION:NEWTONS, and where wanted :LASTING:PART, such as 4:left:150 or 4:back:200:0.4:head"


def optimise(
    recipe: Annotated[str | None, tyro.conf.Positional] = None,
    /,
    *,
    output: Output,
    by_recipe: Annotated[str | None, tyro.conf.arg(name="recipe")] = None,
    body: str | None = None,
    machine: Literal["walker", "simbicon", "guided", "paced", "poised", "reactive"] | None = None,
    start: str | None = None,
    speed: float | None = None,
    step: float | None = None,
    seed: int | None = None,
    population: int | None = None,
    sigma: float | None = None,
    minutes: float | None = None,
    generations: int | None = None,
    threads: int = 0,
    cluster: str | None = None,
    gpu: bool = False,
    resume: bool = False,
) -> None:
    """Teach a body to walk; ctrl-C stops it, and --resume goes on as if nothing had happened.

    Args:
        recipe: recipe to follow (.toml); what is said below counts more than what it says
        output: walker to write (.jostle); checkpoint (.run), log (.csv) and plot (.png) lie beside it
        by_recipe: the recipe, where it is to stand among the options
        body: who walks: long_arm, thin, short, stocky, overweight, tall
        machine: the state machine that walks
        start: where to start: initial, walker:NAME or a .jostle file
        speed: metres a second that are asked; without, the cheapest speed is found
        step: metres from foot to foot that are asked
        seed: of every random choice
        population: walkers in a generation
        sigma: spread of the first generation, in units that matter
        minutes: stop after this long; --resume goes on
        generations: stop after this many in all; --resume goes on
        threads: processors to use on this machine (0: all)
        cluster: scheduler of a Dask cluster to walk on, such as tcp://head:8786
        gpu: walk on this machine's GPU, all of the population at once
        resume: go on with the run that lies beside the output
    """
    from jostle.cli.optimising import Limits, Order, follow

    given = {"body": body, "machine": machine, "start": start, "seed": seed, "population": population, "sigma": sigma}
    wishes = {"speed": speed, "step": step}
    if recipe is not None and by_recipe is not None:
        raise CommandError(f"Two recipes are given, {recipe} and {by_recipe}; keep one of them.")
    order = Order(recipe or by_recipe, _given(given), _given(wishes), output, threads, cluster, gpu, resume)
    follow(order, Limits(minutes, generations))


def _given(options: dict) -> dict:
    return {key: value for key, value in options.items() if value is not None}


def record(
    walker: Annotated[str, tyro.conf.Positional],
    /,
    *,
    output: Output,
    seconds: float = 20.0,
    fps: float = 60.0,
    push: tuple[str, ...] = (),
) -> None:
    """Let a walker walk and write its motion: jostle walk record walker:stocky -o walk.bvh --push 4:left:150

    Args:
        walker: a .jostle file, or a shipped walker: walker:stocky
        output: file to write: .bvh .glb .gltf .usd .usda .usdc .npz …; pushes and contacts go into a .json beside it
        seconds: how long it walks
        fps: frames a second
        push: SECONDS:DIRECTION:NEWTONS[:LASTING[:PART]], such as 4:left:150; several may follow each other
    """
    from jostle.clips.io import WRITABLE
    from jostle.controllers import Command
    from jostle.runtime import Character, record, save_recording
    from jostle.runtime.recording import due

    if not (math.isfinite(seconds) and 0 < seconds <= 3600):
        raise CommandError(f"A recording lasts more than 0 and at most 3600 seconds, not {seconds:g}.")
    if Path(output).suffix.lower() not in WRITABLE:  # said before it walks, not after
        raise FileError(output, f"its ending names no format that can be written: {' '.join(WRITABLE)}.")
    who, pushes = load_walker(walker), [parse_push(text) for text in push]
    for timed in pushes:
        who.body.part(timed.push.part)
    with progress(f"recording {output}") as report:

        def command(time: float) -> Command:
            report(int(time * 10), int(seconds * 10))
            return Command(pushes=due(pushes, time, fps))

        recording = record(Character(who, rate=fps), seconds, command, name=who.title)
    save_recording(recording, output)
    fell = recording.quality["fallen"].nonzero()[0]
    end = f"it fell after {fell[0] / fps:.1f} s" if len(fell) else f"it walked {recording.root[-1, 0]:.1f} m"
    say(f"{output}: {recording.frame_count} frames at {fps:g} a second; {end}.")


def parse_push(text: str) -> TimedPush:
    """`4:left:150:0.4:torso`: when, where to, how hard, how long, and which part."""
    from jostle.controllers import Push
    from jostle.runtime import TimedPush

    words = text.split(":")
    if not 3 <= len(words) <= 5:
        raise CommandError(f"A push is written {_PUSH}, not '{text}'.")
    time, newtons, lasting = (_number(word, text) for word in (words[0], words[2], (words[3:4] or ["0.4"])[0]))
    if words[1] not in DIRECTIONS:
        raise CommandError(unknown_name("direction", words[1], DIRECTIONS))
    angle = 0.25 * math.pi * DIRECTIONS.index(words[1])
    force = newtons * np.array([math.cos(angle), math.sin(angle), 0.0])
    return TimedPush(time, Push((words[4:] or ["torso"])[0], force, lasting))


def _number(word: str, text: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise CommandError(f"'{word}' in the push '{text}' is no positive number; a push is written {_PUSH}.")
    return value


def parameters(walker: Annotated[str, tyro.conf.Positional], /, json: bool = False) -> None:
    """The parameters of a walker, in the shape of table 3.1 of the thesis.

    Args:
        walker: a .jostle file, or a shipped walker: walker:stocky
        json: print one JSON object
    """
    from dataclasses import asdict

    from jostle.controllers.walker.parameters import BASE, SPACES, table_rows

    who = load_walker(walker)
    space = SPACES[who.machine]
    if json:
        named = {p.name: {"value": float(v), "unit": p.unit} for p, v in zip(space.parameters, who.values, strict=True)}
        ground = {"slope": who.ground.slope, "friction": who.ground.friction}
        about = {"title": who.title, "machine": who.machine, "person": asdict(who.person), "ground": ground}
        print_json({**about, "parameters": named})
        return
    person = who.person
    slope = math.degrees(who.ground.slope)
    print(f"{who.title}: {who.machine}, {person.height:g} m, {person.mass:g} kg; ", end="")
    print(f"slope {slope:g} degrees, friction {who.ground.friction:g}\n")
    print("kp in N m/rad, kd in N m s/rad, targets in rad; the left leg swings\n")
    states = [f"{name} {state}" for state in (0, 1) for name in ("kp", "kd", "target")]
    print_table(table_rows(space, who.values), ["angle", *states])
    rest = [
        (p.name, f"{value:.4g}", p.unit)
        for p, value in zip(space.parameters, who.values, strict=True)
        if not p.name.startswith(("kp", "kd", "target", BASE))
    ]
    print()
    print_table(rest, ["parameter", "value", "unit"])


__all__ = ["optimise", "parameters", "parse_push", "record"]
