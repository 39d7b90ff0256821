"""`jostle fit`: a motion model or a character from clips; after ctrl-C, --resume goes on to the same result."""

from __future__ import annotations

import json as json_module
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import tyro

from jostle.cli.common import load_all, print_json, progress, say, told_to_end, told_warnings
from jostle.errors import CommandError, unknown_name

if TYPE_CHECKING:
    from jostle.models import MotionModel
    from jostle.models.learn import Watch

Output = Annotated[str, tyro.conf.arg(aliases=["-o"])]
Learnt = TypeVar("Learnt")
Several = Annotated[tuple[str, ...], tyro.conf.UseAppendAction]


def fit(
    files: Annotated[list[str], tyro.conf.Positional],
    /,
    *,
    output: Output,
    model: str | None = None,
    controller: str | None = None,
    latent: int | None = None,
    fps: float | None = None,
    iterations: int | None = None,
    subject: Several = (),
    gait: Several = (),
    option: Several = (),
    seed: int = 0,
    resume: bool = False,
    json: bool = False,
) -> None:
    """Learn from clips a motion model (jostle fit walk*.bvh -o walk.jostle --model gpdm), or a character that answers
    pushes (jostle fit walk.bvh push*.bvh -o me.jostle --controller dynamic).

    Args:
        files: clips in any readable format, or shipped clips by name
        output: the model to write (.jostle); while it is learnt, its journal lies beside it
        model: responsive (unless said), gpdm, bgpdm, multifactor, circle or connected
        controller: dynamic: a character, from a clip of its normal motion and others in which it is pushed
        latent: dimensions of the latent space
        fps: frames a second that it learns and plays
        iterations: of learning, at most
        subject: who moves, once for each file in its order (multifactor, circle)
        gait: which gait it is, once for each file in its order (multifactor, circle)
        option: any other option of the model, as NAME=VALUE; `jostle model list NAME` tells which there are
        seed: changes every random choice
        resume: go on from the journal that an interrupted fit left
        json: print one JSON object
    """
    from jostle.models import KNOWN

    if Path(output).suffix.lower() != ".jostle":
        raise CommandError(f"What is learnt is written as a bundle, such as walk.jostle, not as '{output}'.")
    if controller not in (None, "dynamic"):
        raise CommandError(unknown_name("controller", controller, ["dynamic"]))
    if controller is not None and model is not None:
        raise CommandError("A character has models of its own kind; give --controller or --model, not both.")
    model = model or "responsive"
    if model not in KNOWN:
        raise CommandError(unknown_name("model", model, KNOWN))
    given = {"latent": latent, "fps": fps, "iterations": iterations, "subjects": subject, "gaits": gait}
    options = {name: value for name, value in given.items() if value not in (None, ())} | dict(map(_setting, option))
    if controller is not None:
        from jostle.cli.character import fit_dynamic

        fit_dynamic(files, output, options, seed, partial(watched, output, controller, resume), json)
        forget(output)
        return
    begun = time.monotonic()
    learnt = _learn(files, output, model, options, seed, resume)
    from jostle.runtime import save_model

    save_model(learnt, output)
    forget(output)
    _tell(learnt, output, time.monotonic() - begun, json)


def journal_of(output: str) -> Path:
    return Path(f"{output}.journal")


def _setting(text: str) -> tuple[str, Any]:
    name, found, value = text.partition("=")
    if not (found and name):
        raise CommandError(f"--option takes NAME=VALUE, such as latent=3, not '{text}'.")
    try:
        return name, json_module.loads(value)
    except ValueError:
        return name, value


def forget(output: str) -> None:
    """What is learnt needs no journal."""
    with suppress(FileNotFoundError):
        journal_of(output).unlink()


def _learn(
    files: Sequence[str], output: str, model: str, options: dict[str, Any], seed: int, resume: bool
) -> MotionModel:
    from jostle.models import fit as learn

    clips = load_all(files, None)
    return watched(output, model, resume, lambda watch: learn(clips, model, seed=seed, watch=watch, **options))


def watched(output: str, what: str, resume: bool, learning: Callable[[Watch], Learnt]) -> Learnt:
    """Fitted, or stopped with the command that goes on."""
    from jostle.models.learn import Watch

    journal = journal_of(output)
    if resume and not journal.exists():
        raise CommandError(f"There is no {journal} to go on from; fit without --resume.")
    try:
        with told_to_end(), told_warnings(), progress(f"fitting {what}") as report:
            return learning(Watch(report, journal, resume))
    except KeyboardInterrupt:
        again = (
            ""
            if not journal.exists()
            else f" {journal} keeps what was learnt; go on with the same command and --resume."
        )
        say(f"jostle: stopped.{again}")
        raise SystemExit(130) from None


def _tell(model: MotionModel, output: str, seconds: float, as_json: bool) -> None:
    frames, q = model.latent_rows.shape
    size = Path(output).stat().st_size
    if as_json:
        about = {"model": model.kind, "frames": frames, "clips": len(model.lengths), "latent": q, "seconds": seconds}
        print_json(about | {"file": output, "bytes": size, "notes": list(model.notes)})
        return
    say(
        f"{output}: {model.kind} of {frames} frames at {model.features.fps:g} a second, {q} latent dimensions, "
        f"in {seconds:.1f} s; {size / 1024:.0f} KB."
    )
    for note in model.notes:
        say(f"note: {note}")
    if sys.stderr.isatty():
        say(f"See it: jostle model plot {output} latent.png; live: jostle view {output}")
