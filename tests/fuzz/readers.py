"""Coverage-guided fuzzing of the readers: `make fuzz SECONDS=60`, or `python tests/fuzz/readers.py --reader bvh`.

A reader may give a clip or raise a JostleError. Anything else is a find: it is printed, and the input that caused it
is kept in out/fuzz/. Each reader runs in a process of its own, because libFuzzer never gives its process back.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
FINDS = ROOT / "out" / "fuzz"
sys.path.insert(0, str(ROOT / "tests" / "clips" / "formats"))  # for the seeds

WORDS = {
    "bvh": "HIERARCHY ROOT JOINT End Site OFFSET CHANNELS Xposition Yrotation Zscale MOTION Frames: nan 1e999 { }",
    "amc": ":DEGREES :RADIANS :SAMPLES-PER-SECOND root femur nan 1e999 #",
    "asf": ":units :root :bonedata :hierarchy begin end name direction length axis dof order rx tz l XYZ ZYX angle rad",
    "glb": "glTF JSON BIN asset nodes skins animations samplers channels accessors bufferViews buffers children joints",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="for all readers together")
    parser.add_argument("--reader", choices=tuple(WORDS), help="only this one")
    given = parser.parse_args()
    try:
        import atheris  # noqa: F401
    except ImportError:
        print("atheris is not installed here (it has no build for every Python); use Python 3.11 or 3.12 for fuzzing.")
        return 1
    if given.reader:
        fuzz(given.reader, given.seconds)
    share = max(1, given.seconds // len(WORDS))
    failed = [r for r in WORDS if subprocess.call([sys.executable, __file__, "--reader", r, "--seconds", str(share)])]
    print(f"finds in: {', '.join(failed)}; the inputs are in {FINDS}" if failed else "no finds")
    return 1 if failed else 0


def fuzz(reader: str, seconds: int) -> None:
    """Run one reader until the time is up or something is found; never returns."""
    import atheris

    with atheris.instrument_imports(include=["jostle.clips", "jostle.skeleton"]):
        import jostle.clips.formats.asf
        import jostle.clips.formats.bvh
        import jostle.clips.formats.gltf  # noqa: F401

    folder = FINDS / reader
    corpus = folder / "corpus"  # kept, so that the next run goes on from here
    corpus.mkdir(parents=True, exist_ok=True)
    attempt, seed = targets(folder)[reader]
    (corpus / "seed").write_bytes(seed)
    words = folder / "words"
    words.write_text("\n".join(f'"{word}"' for word in WORDS[reader].split()) + "\n")
    limits = [f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=1500", "-max_len=20000"]
    atheris.Setup(
        [sys.argv[0], str(corpus), f"-dict={words}", f"-artifact_prefix={folder}/", *limits],
        attempt,
    )
    atheris.Fuzz()


def targets(folder: Path) -> dict[str, tuple[Callable[[bytes], None], bytes]]:
    """What to do with each input, and an input to begin with."""
    from toy_text import AMC, ASF, BVH

    from jostle.clips.formats.asf import read_amc
    from jostle.clips.formats.bvh import read_bvh
    from jostle.clips.formats.gltf import read_gltf, write_gltf

    for name, content in (("a.bvh", BVH), ("toy.asf", ASF), ("toy.amc", AMC)):
        (folder / name).write_bytes(content)
    write_gltf(read_bvh(folder / "a.bvh"), folder / "a.glb")
    toy_asf, toy_amc = folder / "toy.asf", folder / "toy.amc"
    return {
        "bvh": (_attempt(folder / "b.bvh", lambda path: read_bvh(path, allow_nan=True)), BVH),
        "amc": (_attempt(folder / "b.amc", lambda path: read_amc(path, asf=toy_asf)), AMC),
        "asf": (_attempt(folder / "b.asf", lambda path: read_amc(toy_amc, asf=path)), ASF),
        "glb": (_attempt(folder / "b.glb", read_gltf), (folder / "a.glb").read_bytes()),
    }


def _attempt(path: Path, read: Callable[[Path], object]) -> Callable[[bytes], None]:
    from jostle.errors import JostleError, JostleWarning

    warnings.simplefilter("error")
    warnings.simplefilter("ignore", JostleWarning)

    def attempt(data: bytes) -> None:
        path.write_bytes(data)
        with suppress(JostleError):
            read(path)

    return attempt


if __name__ == "__main__":
    sys.exit(main())
