"""What every command needs: finding files, printing results, and turning errors into one sentence."""

from __future__ import annotations

import json
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from jostle import assets
from jostle.clips import Clip, load_clip
from jostle.errors import BundleError, CommandError, FileError, JostleError, JostleWarning, unknown_name

if TYPE_CHECKING:
    from jostle.clips.skin import Skin
    from jostle.controllers import Controller
    from jostle.controllers.walker.walker import Walker

GLTF = (".glb", ".gltf")
WAYS = ("playback", "compliant")  # controllers that need nothing but what they move
WALKER = "walker:"  # before the name of a shipped one
SHIPPED = {WALKER: assets.walker_path, "policy:": assets.policy_path}  # characters, by what comes before their names


def find(name: str) -> Path:
    """A file by its path, a shipped clip by its name, or a shipped character: walker:stocky, policy:walk."""
    for prefix, path_of in SHIPPED.items():
        if name.startswith(prefix):
            return path_of(name.removeprefix(prefix))
    path, exists = Path(name), False
    with suppress(OSError, ValueError):  # names that no file can have
        exists = path.exists()
    if not exists and name in assets.clip_names():
        return assets.clip_path(name)
    if not exists:
        raise FileError(
            name, f"there is no such file, and no shipped clip of that name ({', '.join(assets.clip_names())})."
        )
    return path


def is_character(name: str) -> bool:
    """Whether this names something that runs, not a clip: a bundle or a shipped character."""
    return name.startswith(tuple(SHIPPED)) or name.endswith(".jostle")


def load_walker(name: str) -> Walker:
    """A walker named on the command line."""
    from jostle.controllers.walker.walker import Walker
    from jostle.runtime import load_controller

    walker = load_controller(find(name))
    if not isinstance(walker, Walker):
        raise BundleError(name, f"it holds a '{walker.name}', not a walker.")
    return walker


def load(name: str, **options: object) -> Clip:
    """Read a clip named on the command line; what could not be kept is told on standard error."""
    with told_warnings():
        return load_clip(find(name), **{key: value for key, value in options.items() if value is not None})


def run_under(
    name: str, kind: str, animation: str | None = None, keep: Sequence[str] = (), obstacle: Sequence[str] = ()
) -> Controller:
    """A clip or a character named on the command line, under a controller that needs nothing else."""
    if kind not in WAYS:
        raise CommandError(unknown_name("controller", kind, WAYS))
    if kind == "playback":
        from jostle.controllers import Playback

        if keep or obstacle:
            raise CommandError("A clip that is only played keeps nothing and hits nothing; add --controller compliant.")
        if is_character(name):
            raise CommandError(f"'{name}' is a character, not a clip to be played.")
        return Playback(load(name, animation=animation))
    from jostle.controllers.compliant.compliant import compliant_clip, compliant_over
    from jostle.controllers.compliant.objectives import Avoid, Objective
    from jostle.runtime import load_controller
    from jostle.runtime.wording import read_objective, read_obstacle

    objectives: list[Objective] = [read_objective(text) for text in keep]
    objectives += [Avoid(tuple(read_obstacle(text) for text in obstacle))] if obstacle else []
    if is_character(name):
        return compliant_over(load_controller(find(name)), objectives=objectives)
    return compliant_clip(load(name, animation=animation), objectives=objectives)


def load_all(names: Sequence[str], animation: str | None) -> list[Clip]:
    """Read several clips; where some of them are glTF, the animation is theirs alone."""
    chooses = [find(name).suffix.lower() in GLTF for name in names]
    everyone = not any(chooses)  # then the reader says that it knows no animations
    return [load(n, animation=animation if own or everyone else None) for n, own in zip(names, chooses, strict=True)]


def find_skin(name: str) -> Skin | None:
    """The mesh that a glTF file brings with its skeleton; None where there is none."""
    if find(name).suffix.lower() not in GLTF:
        return None
    from jostle.clips.formats.gltf import has_mesh, read_skin

    return read_skin(find(name)) if has_mesh(find(name)) else None


@contextmanager
def told_warnings() -> Iterator[None]:
    """Show jostle's warnings as sentences, not as Python's two lines."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", JostleWarning)
        yield
    for sentence in dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, JostleWarning)):
        say(f"note: {sentence}")


def say(text: str) -> None:
    """A line for the person at the terminal; standard output stays clean for results."""
    print(text, file=sys.stderr)


def print_json(result: dict) -> None:
    print(json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False))


def print_table(rows: Sequence[Sequence[object]], head: Sequence[str] = ()) -> None:
    """Plain columns that read well in a terminal and in a file."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*head, show_header=bool(head), box=None, pad_edge=False)
    if not head:
        for _ in rows[0]:
            table.add_column()
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    Console(soft_wrap=not sys.stdout.isatty(), highlight=False).print(table)


@contextmanager
def progress(title: str) -> Iterator[Callable[[float, float], None]]:
    """A bar with the time left, on standard error; yields `report(done, total)`."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f}%"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def told_to_end() -> Iterator[None]:
    """What a shell or a cluster sends to end a job (SIGTERM) is heard as ctrl-C is."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def run(command: Callable[[], object]) -> None:
    """Run a command; an error on purpose is one sentence and exit code 1, ctrl-C is 130 and quiet."""
    try:
        command()
    except JostleError as error:
        say(f"jostle: {error}")
        raise SystemExit(1) from None
    except MemoryError:
        say("jostle: this needs more memory than there is; cut the clip or ask for fewer frames.")
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        say("jostle: stopped.")
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(0) from None
