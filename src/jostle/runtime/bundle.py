"""A bundle: one file, NAME.jostle, that holds a character or a motion model.

A zip of `jostle.json` and `.npy` members (so NumPy reads it as an .npz too), never pickle. The JSON carries the format
version, what kind of controller is inside, the seed and the recipe that made it, and the names and hashes of the clips
it came from. The same contents give the same bytes.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from jostle.clips.pack import clip_hash
from jostle.controllers import Controller
from jostle.errors import BundleError, JostleError
from jostle.files import read_bytes, write_bytes
from jostle.types import Array, PathLike

FORMAT, VERSION = "jostle-bundle", 1
MAX_UNPACKED = 512 * 2**20  # bytes; a small file that claims more is no bundle of ours

KINDS = {  # what `load_controller` can bring back to life: module and class, opened when a bundle asks for it
    "playback": ("jostle.controllers.playback", "Playback"),
    "walker": ("jostle.controllers.walker.walker", "Walker"),
    "troupe": ("jostle.controllers.walker.troupe", "Troupe"),
    "dynamic": ("jostle.controllers.dynamic.dynamic", "Dynamic"),
    "compliant": ("jostle.controllers.compliant.compliant", "Compliant"),
    "policy": ("jostle.controllers.policy.policy", "Policy"),
    "switch": ("jostle.controllers.policy.switching", "Switch"),
    "motion_field": ("jostle.controllers.policy.peers.fields", "FieldPolicy"),
    "motion_graph": ("jostle.controllers.policy.peers.graph", "GraphPolicy"),
    "graph": ("jostle.controllers.graph.people", "People"),
    "model": ("jostle.controllers.rollout", "Rollout"),
}


@dataclass(frozen=True)
class Source:
    """A clip that a bundle was made from."""

    name: str
    sha256: str


@dataclass(frozen=True, eq=False)
class Bundle:
    kind: str
    data: dict[str, Any]  # what JSON can say
    arrays: dict[str, Array]
    seed: int = 0
    recipe: dict[str, Any] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()


def save_bundle(bundle: Bundle, path: PathLike) -> None:
    head = {
        "format": FORMAT,
        "version": VERSION,
        "kind": bundle.kind,
        "seed": bundle.seed,
        "recipe": bundle.recipe,
        "clips": [{"name": s.name, "sha256": s.sha256} for s in bundle.sources],
        "data": bundle.data,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "jostle.json", json.dumps(head, indent=1, sort_keys=True, allow_nan=False).encode())
        for name in sorted(bundle.arrays):
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(bundle.arrays[name]), allow_pickle=False)
            _add(archive, f"{name}.npy", member.getvalue())
    write_bytes(path, buffer.getvalue())


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name)  # dated 1980, so that equal contents are equal files
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data)


def load_bundle(path: PathLike) -> Bundle:
    raw = read_bytes(path)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if "jostle.json" not in archive.namelist():
                raise BundleError(path, "this zip is no jostle bundle (it holds no jostle.json).")
            if sum(info.file_size for info in archive.infolist()) > MAX_UNPACKED:
                raise BundleError(
                    path, f"it unpacks to more than {MAX_UNPACKED // 2**20} MB; no bundle of jostle's does."
                )
            head = _read_head(archive, path)
            arrays = {
                name.removesuffix(".npy"): _read_array(archive, name)
                for name in archive.namelist()
                if name.endswith(".npy")
            }
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
        OSError,
        ValueError,
    ) as error:
        raise BundleError(path, f"it is no whole jostle bundle ({error}); copy or make it again.") from None
    return _assemble(head, arrays, path)


def _read_head(archive: zipfile.ZipFile, path: PathLike) -> dict:
    head = json.loads(archive.read("jostle.json"))
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise BundleError(path, "this zip is no jostle bundle (its jostle.json says something else).")
    if head.get("version") != VERSION:
        raise BundleError(
            path,
            f"it has bundle version {head.get('version')}, and this jostle reads version {VERSION}; update jostle.",
        )
    return head


def _read_array(archive: zipfile.ZipFile, name: str) -> Array:
    """One .npy member, refused before it is allocated where its header claims more than the member holds."""
    data = io.BytesIO(archive.read(name))
    version = np.lib.format.read_magic(data)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(data)
    if dtype.hasobject or dtype.itemsize * int(np.prod([float(n) for n in shape])) > len(data.getvalue()):
        raise ValueError(f"array '{name}' is not what its header says")
    data.seek(0)
    return np.lib.format.read_array(data, allow_pickle=False)


def _assemble(head: dict, arrays: dict[str, Array], path: PathLike) -> Bundle:
    try:
        sources = tuple(Source(str(c["name"]), str(c["sha256"])) for c in head["clips"])
        return Bundle(str(head["kind"]), dict(head["data"]), arrays, int(head["seed"]), dict(head["recipe"]), sources)
    except (KeyError, TypeError, ValueError) as error:
        raise BundleError(path, f"its jostle.json lacks or garbles {error}; make it again.") from None


def save_controller(controller: Any, path: PathLike, *, seed: int = 0, recipe: dict | None = None) -> None:
    """Any controller with `kind`, `pack` and `sources` as a bundle."""
    data, arrays = controller.pack()
    sources = tuple(Source(clip.name, clip_hash(clip)) for clip in controller.sources)
    save_bundle(Bundle(controller.kind, data, arrays, seed, recipe or {}, sources), path)


def load_controller(path: PathLike, *, task: Any = None) -> Controller:
    """The controller inside a bundle. One trained for a task of your own needs that task: no code is stored."""
    return revive(load_bundle(path), path, task)


def _within(bundle: Bundle, path: PathLike, task: Any) -> tuple[Any, ...]:
    """The controller that this one wraps, if it does."""
    if "source" not in bundle.data:
        return ()
    inner, mark = bundle.data["source"], "source."
    arrays = {name.removeprefix(mark): array for name, array in bundle.arrays.items() if name.startswith(mark)}
    return (revive(Bundle(str(inner["kind"]), dict(inner["data"]), arrays), path, task),)


def revive(bundle: Bundle, path: PathLike, task: Any = None) -> Any:
    """The controller that a bundle holds, or a sentence why it cannot be."""
    if bundle.kind not in KINDS:
        raise BundleError(
            path, f"it holds a '{bundle.kind}', and this jostle knows: {', '.join(KINDS)}; update jostle."
        )
    try:
        module, name = KINDS[bundle.kind]
        within = _within(bundle, path, task)
        own = {"task": task} if task is not None and bundle.kind == "policy" else {}
        return getattr(import_module(module), name).unpack(bundle.data, bundle.arrays, *within, **own)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BundleError(path, f"its '{bundle.kind}' lacks or garbles {error}; make it again.") from None
    except JostleError as error:
        raise BundleError(path, f"its '{bundle.kind}' is not sound: {error}") from None
