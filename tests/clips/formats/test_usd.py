"""USD files say what the clip says, by USD's own reckoning."""

import builtins
from pathlib import Path

import numpy as np
import pytest

from jostle.clips import Clip
from jostle.clips.formats.usd import joint_paths, write_usd
from jostle.clips.skin import deform, mannequin_skin
from jostle.errors import FileError, MissingExtraError, MotionError
from jostle.maths import quat
from jostle.skeleton import build_skeleton

pxr = pytest.importorskip("pxr", reason="needs the usd extra")


def a_clip(frames: int = 5, moving_bones: bool = False) -> Clip:
    skeleton = build_skeleton(
        ["Hips", "Spine.1", "Left Arm"],
        [-1, 0, 1],
        [[0, 0, 1], [0, 0, 0.5], [0, 0.2, 0.1]],
        [(2, [0, 0.5, 0])],
    )
    rng = np.random.default_rng(1)
    offsets = None
    if moving_bones:
        offsets = skeleton.offsets + 0.1 * rng.standard_normal((frames, 3, 3))
    root = rng.uniform(-50, 50, (frames, 3))
    return Clip(skeleton, 29.97, root, quat.exp(rng.standard_normal((frames, 3, 3))), offsets, "a walk")


def positions_by_usd(path: Path, times: range) -> np.ndarray:
    """Joint positions in the world as UsdSkel's own cache computes them."""
    from pxr import Usd, UsdGeom, UsdSkel

    stage = Usd.Stage.Open(str(path))
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    query = UsdSkel.Cache().GetSkelQuery(UsdSkel.Skeleton(stage.GetPrimAtPath("/figure/skeleton")))
    return np.array([[m.ExtractTranslation() for m in query.ComputeJointSkelTransforms(t)] for t in times])


@pytest.mark.parametrize("ending", ["usda", "usdc", "usd"])
@pytest.mark.parametrize("moving_bones", [False, True])
def test_joints_stand_where_the_clip_has_them(tmp_path, ending, moving_bones):
    clip = a_clip(moving_bones=moving_bones)
    write_usd(clip, tmp_path / f"walk.{ending}")
    found = positions_by_usd(tmp_path / f"walk.{ending}", range(clip.frame_count))
    assert np.abs(found - clip.positions).max() < 1e-4


def test_rest_pose_rate_and_length_are_kept(tmp_path):
    from pxr import Usd, UsdSkel

    clip = a_clip()
    write_usd(clip, tmp_path / "walk.usda")
    stage = Usd.Stage.Open(str(tmp_path / "walk.usda"))
    assert stage.GetFramesPerSecond() == stage.GetTimeCodesPerSecond() == 29.97
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, 4)
    skeleton = UsdSkel.Skeleton(stage.GetPrimAtPath("/figure/skeleton"))
    rest = [m.ExtractTranslation() for m in skeleton.GetBindTransformsAttr().Get()]
    assert np.allclose(rest, clip.skeleton.rest_positions)
    assert list(skeleton.GetJointNamesAttr().Get()) == ["Hips", "Spine.1", "Left Arm"]
    assert UsdSkel.Topology(skeleton.GetJointsAttr().Get()).Validate()[0]


def test_the_mannequin_follows_the_joints_by_usds_own_skinning(tmp_path, data):
    from pxr import Usd, UsdSkel

    from jostle.clips.formats.bvh import read_bvh

    clip = read_bvh(data / "snu_ys2010/walk/wd2_WalkForwardVFast00.bvh")
    write_usd(clip, tmp_path / "walk.usdc")
    stage = Usd.Stage.Open(str(tmp_path / "walk.usdc"))
    cache, root = UsdSkel.Cache(), UsdSkel.Root(stage.GetPrimAtPath("/figure"))
    assert cache.Populate(root, Usd.PrimDefaultPredicate)
    skeleton = cache.GetSkelQuery(UsdSkel.Skeleton(stage.GetPrimAtPath("/figure/skeleton")))
    binding = cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate)[0]
    bound = {str(t.GetPrim().GetName()): t for t in binding.GetSkinningTargets()}
    skin, frame = mannequin_skin(clip.skeleton), 60
    wanted = deform(skin, clip.globals)
    assert len(bound) == len(skin.meshes)
    for mesh, at in zip(skin.meshes, wanted, strict=True):
        query = bound[mesh.name]
        points = query.GetPrim().GetAttribute("points").Get()
        assert query.ComputeSkinnedPoints(skeleton.ComputeSkinningTransforms(frame), points, frame)
        assert np.abs(np.array(points) - at[frame]).max() < 1e-4


def test_names_become_paths_that_usd_takes():
    skeleton = build_skeleton(["Hüfte", "1.L", "1_L"], [-1, 0, 0], np.zeros((3, 3)))
    assert joint_paths(skeleton) == ["H_fte", "H_fte/_1_L", "H_fte/_1_L_"]


def test_without_the_extra_one_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    real = builtins.__import__

    def no_pxr(name, *args):
        if name.split(".")[0] == "pxr":
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", no_pxr)
    with pytest.raises(MissingExtraError, match=r"pip install 'jostle\[usd\]'"):
        write_usd(a_clip(), tmp_path / "walk.usda")


def test_what_cannot_be_written_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "walk.usda"
    path.write_text("precious")
    clip = a_clip()
    clip.root[2, 1] = np.nan
    with pytest.raises(MotionError, match="not finite"):
        write_usd(clip, path)
    with pytest.raises(FileError, match=r"end in \.usda"):
        write_usd(a_clip(), tmp_path / "walk.fbx")
    assert path.read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["walk.usda"]
