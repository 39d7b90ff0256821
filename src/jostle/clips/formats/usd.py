"""A clip to USD (UsdSkel): a skeleton, its animation as time samples, and the mannequin bound to it.

USD keeps jostle's own conventions: metres, Z up, quaternions scalar first. UsdSkel stores matrices for row vectors
(a point times a matrix), so translations stand in the last row. Needs the `usd` extra.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from jostle import __version__
from jostle.clips.clip import Clip
from jostle.clips.formats.gltf.mesh import to_linear
from jostle.clips.skin import Skin, SkinMesh, mannequin_skin
from jostle.errors import FileError, MissingExtraError, MotionError
from jostle.files import replacing
from jostle.maths import quat
from jostle.skeleton import Skeleton
from jostle.types import Array, Float, PathLike

ENDINGS = (".usd", ".usda", ".usdc")


def write_usd(clip: Clip, path: PathLike) -> None:
    """Write a clip as .usda (text), .usdc or .usd (binary) with UsdSkel, dressed in the mannequin."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise FileError(path, "USD files end in .usda, .usdc or .usd; give it one of these endings.")
    pxr = _door(path)
    numbers = [clip.root, clip.wxyz] + ([] if clip.offsets is None else [clip.offsets[:, 1:]])
    if not all(np.all(np.isfinite(values)) for values in numbers):
        raise MotionError(f"Clip '{clip.name}' has frames that are not finite numbers; mend it before writing.")
    with replacing(path) as temporary:
        stage, whole = _stage(pxr, clip), False
        with suppress(pxr.Tf.ErrorException):
            whole = stage.GetRootLayer().Export(str(temporary))
        if not whole:
            raise FileError(path, "USD could not write it; check that there is room on the disk.")


def _door(path: PathLike) -> Any:
    """The `pxr` package with the modules that are used here."""
    try:
        import pxr
        from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdShade, UsdSkel, Vt  # noqa: F401  (attributes of pxr from here on)
    except ImportError:
        raise MissingExtraError(path, "USD", "usd") from None
    return pxr


def _stage(pxr: Any, clip: Clip) -> Any:
    stage = pxr.Usd.Stage.CreateInMemory()
    pxr.UsdGeom.SetStageUpAxis(stage, pxr.UsdGeom.Tokens.z)
    pxr.UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(clip.fps)
    stage.SetFramesPerSecond(clip.fps)
    stage.SetStartTimeCode(0)
    stage.SetEndTimeCode(clip.frame_count - 1)
    stage.GetRootLayer().comment = f"written by jostle {__version__}: {clip.name}"
    figure = pxr.UsdSkel.Root.Define(stage, "/figure")
    stage.SetDefaultPrim(figure.GetPrim())
    joints = joint_paths(clip.skeleton)
    skeleton = _skeleton(pxr, stage, clip.skeleton, joints)
    animation = _animation(pxr, stage, clip, joints)
    pxr.UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([animation.GetPath()])
    skin = mannequin_skin(clip.skeleton)
    for mesh in skin.meshes:
        _mesh(pxr, stage, mesh, skeleton)
    figure.CreateExtentAttr(_points(pxr, _box(clip, skin)))
    return stage


def joint_paths(skeleton: Skeleton) -> list[str]:
    """UsdSkel's names: the way from the root, with slashes. Characters that USD refuses become underscores."""
    paths: list[str] = []
    for joint, name in enumerate(skeleton.names):
        plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
        plain = plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}"
        above = "" if joint == 0 else paths[skeleton.parents[joint]] + "/"
        path = above + plain
        while path in paths:  # two names that only differed in what was replaced
            path += "_"
        paths.append(path)
    return paths


def _translations(at: Float[Array, "J 3"]) -> Float[Array, "J 4 4"]:
    out = np.tile(np.eye(4), (len(at), 1, 1))
    out[:, 3, :3] = at
    return out


def _skeleton(pxr: Any, stage: Any, skeleton: Skeleton, joints: list[str]) -> Any:
    prim = pxr.UsdSkel.Skeleton.Define(stage, "/figure/skeleton")
    matrices = pxr.Vt.Matrix4dArray.FromNumpy
    prim.CreateJointsAttr(joints)
    prim.CreateJointNamesAttr(list(skeleton.names))
    prim.CreateBindTransformsAttr(matrices(_translations(skeleton.rest_positions)))
    prim.CreateRestTransformsAttr(matrices(_translations(skeleton.offsets)))
    return prim


def _animation(pxr: Any, stage: Any, clip: Clip, joints: list[str]) -> Any:
    prim = pxr.UsdSkel.Animation.Define(stage, "/figure/animation")
    prim.CreateJointsAttr(joints)
    prim.CreateScalesAttr(pxr.Vt.Vec3hArray([pxr.Gf.Vec3h(1, 1, 1)] * len(joints)))
    turns, moves = prim.CreateRotationsAttr(), prim.CreateTranslationsAttr()
    xyzw = quat.continuous(quat.normalise(clip.wxyz))[..., [1, 2, 3, 0]].astype(np.float32)  # as Gf lays them out
    offsets = (
        np.repeat(clip.skeleton.offsets[None], clip.frame_count, axis=0)
        if clip.offsets is None
        else clip.offsets.copy()
    )
    offsets[:, 0] = clip.root
    for frame in range(clip.frame_count):
        turns.Set(pxr.Vt.QuatfArray.FromNumpy(xyzw[frame]), frame)
        moves.Set(pxr.Vt.Vec3fArray.FromNumpy(offsets[frame].astype(np.float32)), frame)
    return prim


def _box(clip: Clip, skin: Skin) -> Float[Array, "2 3"]:
    """Opposite corners of what the body fills in all frames: the joints and, around them, the thickest part."""
    rest = clip.skeleton.rest_positions
    thick = max((np.abs(m.vertices - rest[m.joints[:, 0]]).max() * 3**0.5 for m in skin.meshes), default=0.0)
    every = clip.positions.reshape(-1, 3)
    return np.stack([every.min(axis=0) - thick, every.max(axis=0) + thick])


def _points(pxr: Any, values: Float[Array, "n 3"]) -> Any:
    return pxr.Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, dtype=np.float32))


def _mesh(pxr: Any, stage: Any, mesh: SkinMesh, skeleton: Any) -> None:
    prim = pxr.UsdGeom.Mesh.Define(stage, f"/figure/{mesh.name}")
    prim.CreatePointsAttr(_points(pxr, mesh.vertices))
    prim.CreateNormalsAttr(_points(pxr, mesh.normals))
    prim.SetNormalsInterpolation(pxr.UsdGeom.Tokens.vertex)
    prim.CreateFaceVertexCountsAttr([3] * len(mesh.faces))
    prim.CreateFaceVertexIndicesAttr(pxr.Vt.IntArray.FromNumpy(mesh.faces.ravel().astype(np.int32)))
    prim.CreateSubdivisionSchemeAttr(pxr.UsdGeom.Tokens.none)
    prim.CreateExtentAttr(_points(pxr, np.stack([mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)])))
    prim.CreateDisplayColorAttr(_points(pxr, to_linear(mesh.colours[:1])))
    pxr.UsdShade.MaterialBindingAPI.Apply(prim.GetPrim()).Bind(_material(pxr, stage, mesh))
    binding = pxr.UsdSkel.BindingAPI.Apply(prim.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    binding.CreateJointIndicesPrimvar(False, 1).Set(pxr.Vt.IntArray.FromNumpy(mesh.joints[:, 0].astype(np.int32)))
    binding.CreateJointWeightsPrimvar(False, 1).Set(pxr.Vt.FloatArray.FromNumpy(mesh.weights[:, 0].astype(np.float32)))
    binding.CreateGeomBindTransformAttr(pxr.Gf.Matrix4d(1.0))


def _material(pxr: Any, stage: Any, mesh: SkinMesh) -> Any:
    """The colour once more as a preview surface, since many programs do not show display colours."""
    material = pxr.UsdShade.Material.Define(stage, f"/figure/{mesh.name}_material")
    shader = pxr.UsdShade.Shader.Define(stage, material.GetPath().AppendChild("surface"))
    shader.CreateIdAttr("UsdPreviewSurface")
    colour = pxr.Gf.Vec3f(*to_linear(mesh.colours[0]).tolist())
    shader.CreateInput("diffuseColor", pxr.Sdf.ValueTypeNames.Color3f).Set(colour)
    shader.CreateInput("roughness", pxr.Sdf.ValueTypeNames.Float).Set(0.7)
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    return material
