"""Our BVH and GLB in real Blender: joint positions frame by frame, within a millimetre.

    make check-blender                      (PYTHON=python3.11 where the default python is another)

These ways are measured, each against jostle's own forward kinematics of the clip:

    bvh   our BVH, imported by Blender
    glb   our GLB, imported by Blender
    back  that GLB exported again by Blender, read by jostle
    usd   our USD, imported by Blender (only where the usd extra is installed)
    file  a GLB as its artist left it, imported by Blender and read by jostle (only where JOSTLE_DATA names the mocap)

Blender runs as the `bpy` package in an environment of its own (out/blender, about 1 GB), so it touches nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from jostle import assets
from jostle.clips import Clip, load_clip, save_clip
from jostle.clips.formats.gltf import read_gltf

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "out" / "blender"
LIMIT = 1e-3  # metres

REAL = ["cmu_bvh/16_21.bvh", "snu_ys2010/walk/wd2_WalkForwardNormal00.bvh", "bandai_namco_1/dataset-1_walk_old_001.bvh"]
ARTISTS = [
    ("kaykit_cc0/Knight.glb", "Walking_A"),
    ("quaternius_cc0/Fox.glb", "Gallop"),
    ("quaternius_cc0/Trex.glb", "TRex_Run"),
    ("quaternius_cc0/platformer_Character.glb", "Walk"),
]


def blender_python(python: str) -> Path:
    """A Python that can `import bpy`; made on the first call."""
    inner = HOME / "bin" / "python"
    if not inner.exists():
        try:
            subprocess.run([python, "-m", "venv", HOME], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(
                f"{python} cannot make an environment ({error}); name another: make check-blender PYTHON=python3.11"
            )
    if subprocess.run([inner, "-c", "import bpy"], capture_output=True).returncode == 0:
        return inner
    print("installing bpy into out/blender (about 400 MB to download) ...", flush=True)
    pip = [inner, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "bpy"]
    installed = subprocess.run(pip, capture_output=True, text=True)
    works = subprocess.run([inner, "-c", "import bpy"], capture_output=True, text=True)
    if works.returncode:
        lines = (installed.stderr if installed.returncode else works.stderr).strip().splitlines()
        shutil.rmtree(HOME)
        sys.exit(
            f"Blender's bpy package cannot be had for {python} here ({lines[-1] if lines else 'no reason given'}), so "
            "nothing was compared; name a Python that it is made for: make check-blender PYTHON=python3.11"
        )
    return inner


def gather() -> list[Clip]:
    """The shipped clips, and real ones where there are any."""
    clips = [load_clip(path) for path in sorted((Path(assets.__file__).parent / "clips").glob("*.bvh"))]
    if folder := os.environ.get("JOSTLE_DATA"):
        clips += [load_clip(Path(folder) / name) for name in REAL]
    return clips


def prepare(folder: Path, clips: list[Clip]) -> list[dict[str, object]]:
    """Write the files and say what Blender is to do with them."""
    tasks: list[dict[str, object]] = []
    for number, clip in enumerate(clips):
        for kind in ("bvh", "glb", "usdc")[: 3 if find_spec("pxr") else 2]:
            path = folder / f"{number}.{kind}"
            save_clip(clip, path)
            task = {"way": kind[:3], "clip": number, "file": str(path), "fps": clip.fps, "frames": clip.frame_count}
            tasks.append(task | ({"export": str(folder / f"{number}_back.glb")} if kind == "glb" else {}))
    return tasks


def artists_files(folder: Path, clips: list[Clip]) -> list[dict[str, object]]:
    """Artists' GLBs, appended to the clips as jostle reads them."""
    tasks = []
    for name, animation in ARTISTS if os.environ.get("JOSTLE_DATA") else []:
        path = Path(os.environ["JOSTLE_DATA"]) / name
        clip, alone = read_gltf(path, animation), folder / f"{path.stem}.glb"
        alone.write_bytes(with_one_animation(path.read_bytes(), animation))
        tasks.append(
            {"way": "file", "clip": len(clips), "file": str(alone), "fps": clip.fps, "frames": clip.frame_count}
        )
        clips.append(clip)
    return tasks


def with_one_animation(glb: bytes, name: str) -> bytes:
    """The file without its other animations: in Blender, those leave traces on whatever this one does not move."""
    size = struct.unpack_from("<I", glb, 12)[0]
    document, rest = json.loads(glb[20 : 20 + size]), glb[20 + size :]
    document["animations"] = [a for a in document["animations"] if a["name"].rsplit("|", 1)[-1] == name]
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    return struct.pack("<4sIII4s", b"glTF", 2, 20 + len(text) + len(rest), len(text), b"JSON") + text + rest


def worst(clip: Clip, names: list[str], positions: np.ndarray) -> float:
    """The largest distance between a joint here and the bone of its name there, over all frames."""
    places = {name: i for i, name in enumerate(names)}
    shared = [joint for joint, name in enumerate(clip.skeleton.names) if name in places]
    inner = [joint for joint in range(clip.skeleton.joint_count) if joint not in shared]
    if inner and inner != [0]:  # the node above several roots is an object in Blender, not a bone
        lost = ", ".join(clip.skeleton.names[joint] for joint in inner)
        raise SystemExit(f"Blender has no bone for: {lost}; it has {', '.join(names)}.")
    found = positions[:, [places[clip.skeleton.names[joint]] for joint in shared]]
    return float(np.linalg.norm(found - clip.positions[:, shared], axis=-1).max())


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare our files with what real Blender makes of them.")
    parser.add_argument("--python", default=sys.executable, help="a Python that bpy can be installed for")
    inner = blender_python(parser.parse_args().python)
    clips, failed = gather(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tasks = prepare(folder, clips) + artists_files(folder, clips)
        (folder / "tasks.json").write_text(json.dumps(tasks))
        script = Path(__file__).with_name("inside.py")
        run = subprocess.run([inner, script, folder / "tasks.json"], capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"Blender stopped:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
        for number, task in enumerate(tasks):
            clip = clips[task["clip"]]  # type: ignore[index]
            with np.load(folder / f"tasks_{number}.npz") as found:
                rows = [(task["way"], worst(clip, found["names"].tolist(), found["positions"]))]
            if "export" in task:
                back = read_gltf(str(task["export"]), fps=clip.fps)
                rows.append(("back", worst(clip, list(back.skeleton.names), back.positions)))
            for way, error in rows:
                failed += error > LIMIT
                print(f"{way:5} {clip.name:40} {clip.frame_count:5} frames {error * 1000:9.4f} mm", flush=True)
    print(
        f"{failed} beyond {LIMIT * 1000:g} mm." if failed else f"All joints within {LIMIT * 1000:g} mm in all frames."
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
