"""`jostle policy`: characters that are steered, from a few seconds of motion."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from jostle.cli.common import load_all, print_json, progress, say
from jostle.cli.fit import forget, watched
from jostle.errors import CommandError, unknown_name

if TYPE_CHECKING:
    from jostle.controllers.policy.tasks import Task
    from jostle.models.connected_model import Connected
    from jostle.models.learn import Watch

LONGEST = 100  # rounds


def train(
    files: Annotated[list[str], tyro.conf.Positional],
    /,
    *,
    output: Annotated[str, tyro.conf.arg(aliases=["-o"])],
    task: str = "heading",
    method: str = "latent",
    joint: str | None = None,
    rounds: int = 4,
    constants: tuple[str, ...] = (),
    iterations: int | None = None,
    seed: int = 0,
    resume: bool = False,
    plot: str | None = None,
    json: bool = False,
) -> None:
    """Learn to steer a character by a few clips: jostle policy train walk*.bvh -o walk.jostle --task heading

    Args:
        files: clips in any readable format, or shipped clips by name; some in which it turns
        output: the character to write (.jostle); `jostle view` steers it
        task: what it is asked for: heading, strike, goto, path
        method: latent, or what it is compared with: fields (motion fields), graph (a policy on a motion graph)
        joint: what strikes: right_hand, left_foot, ...
        rounds: of refinement; each looks where the policy is wrong, and learns more there
        constants: of planning that are to be others, such as jolt=0.3 reach=0.3 for who is to be smoother
        iterations: of learning the motion model, at most
        seed: changes every random choice
        resume: go on from the journal that an interrupted training left
        plot: a picture to write (.png) of the latent space and of values in it; also `jostle policy plot`
        json: print one JSON object
    """
    from jostle.controllers.policy.constants import Constants
    from jostle.controllers.policy.policy import TASKS, plan_policy, task_of
    from jostle.models.connected import ITERATIONS, fit_connected
    from jostle.runtime import save_controller

    if Path(output).suffix.lower() != ".jostle":
        raise CommandError(f"What is learnt is written as a bundle, such as walk.jostle, not as '{output}'.")
    if task not in TASKS:
        raise CommandError(unknown_name("task", task, TASKS))
    if not 0 <= rounds <= LONGEST:
        raise CommandError(f"A policy is refined in 0 to {LONGEST} rounds, not {rounds}.")
    _check_picture(plot)
    if joint is not None and task != "strike":
        raise CommandError(f"--joint is for --task strike, and the task is '{task}'.")
    wanted = task_of(task) if joint is None else task_of(task, joint=joint)
    planning = Constants(**wanted.constants).told(constants)
    if method != "latent":
        _train_peer(method, files, output, wanted, seed, json)
        return
    begun, clips = time.monotonic(), wanted.chosen(load_all(files, None))
    learn = partial(fit_connected, clips, seed=seed, iterations=iterations or ITERATIONS, **wanted.learnt_with)

    def learnt(watch: Watch) -> Connected:
        return learn(watch=watch)

    model = watched(output, "a model of the motion", resume, learnt)
    with progress("planning") as report:
        policy = plan_policy(model, wanted, constants=planning, rounds=rounds, seed=seed, told=report)
    save_controller(policy, output, seed=seed, recipe={"task": task, "rounds": rounds, "constants": list(constants)})
    forget(output)
    if plot is not None:
        from jostle.export.values import plot_policy

        plot_policy(policy.plan, plot)
    frames, samples, seconds = len(model.latent_rows), len(policy.plan.samples.x), time.monotonic() - begun
    if json:
        print_json({"file": output, "frames": frames, "samples": samples, "seconds": seconds})
    else:
        also = " (mirrored ones included)" if wanted.mirrored else ""
        say(f"{output}: {frames} frames{also}, {samples} samples; {seconds:.0f} s.")
        say(f"Steer it with: jostle view {output}")


def _train_peer(method: str, files: list[str], output: str, task: Task, seed: int, json: bool) -> None:
    """The same task by another method, in seconds."""
    from jostle.controllers.policy.peers.fields import train_fields
    from jostle.controllers.policy.peers.graph import train_graph
    from jostle.runtime import save_controller

    methods = {"fields": train_fields, "graph": train_graph}
    if method not in methods:
        raise CommandError(unknown_name("method", method, ("latent", *methods)))
    begun = time.monotonic()
    learnt = methods[method](load_all(files, None), task)
    save_controller(learnt, output, seed=seed, recipe={"task": task.name, "method": method})
    seconds = time.monotonic() - begun
    if json:
        print_json({"file": output, "method": method, "seconds": seconds})
    else:
        say(f"{output}: {learnt.name}; {seconds:.0f} s.")
        say(f"Steer it with: jostle view {output}")


def plot(
    policy: Annotated[str, tyro.conf.Positional],
    target: Annotated[str, tyro.conf.Positional],
    /,
) -> None:
    """Draw a policy: its latent space, and what states are worth there: jostle policy plot walk.jostle walk.png

    Args:
        policy: a character that `jostle policy train` made (.jostle)
        target: the picture to write (.png)
    """
    from jostle.controllers.policy.policy import Policy
    from jostle.export.values import plot_policy
    from jostle.runtime import load_controller

    _check_picture(target)
    controller = load_controller(policy)
    if not isinstance(controller, Policy):
        raise CommandError(f"'{policy}' holds a '{getattr(controller, 'kind', 'controller')}', which has no values.")
    with progress(f"drawing {target}"):
        plot_policy(controller.plan, target)
    say(f"{target} is written.")


def join(
    policies: Annotated[list[str], tyro.conf.Positional],
    /,
    *,
    output: Annotated[str, tyro.conf.arg(aliases=["-o"])],
    names: list[str] | None = None,
) -> None:
    """Make several policies one character: jostle policy join walk.jostle run.jostle -o both.jostle

    Args:
        policies: characters that `jostle policy train` made (.jostle), of one skeleton; the first begins
        output: the character to write (.jostle); `jostle view` has a button for each
        names: what to call them; the files' names, unless given
    """
    from jostle.controllers.policy.policy import Policy
    from jostle.controllers.policy.switching import Switch
    from jostle.runtime import load_controller, save_controller

    if Path(output).suffix.lower() != ".jostle":
        raise CommandError(f"What is joined is written as a bundle, such as both.jostle, not as '{output}'.")
    titles = names or [Path(path).stem for path in policies]
    if len(titles) != len(policies) or len(set(titles)) != len(titles):
        raise CommandError(f"{len(policies)} policies need as many different names, not: {', '.join(titles)}.")
    parts = {}
    for title, path in zip(titles, policies, strict=True):
        controller = load_controller(path)
        if not isinstance(controller, Policy):
            raise CommandError(f"'{path}' holds a '{getattr(controller, 'kind', 'controller')}' and no policy to join.")
        parts[title] = controller
    save_controller(Switch(parts), output, recipe={"joined": titles})
    say(f"{output}: {', '.join(titles)}. Change between them with: jostle view {output}")


def _check_picture(path: str | None) -> None:
    if path is not None and Path(path).suffix.lower() != ".png":
        raise CommandError(f"A picture is written as .png, not as '{path}'.")
