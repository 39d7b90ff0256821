"""Runs in Blender's Python: import each file, note where the bones' heads are in every frame, in jostle's axes."""

import json
import sys
from pathlib import Path

import bpy
import numpy as np


def load(task: dict) -> bpy.types.Object:
    """The armature of a file in an otherwise empty scene."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    render = bpy.context.scene.render
    render.fps, render.fps_base = max(1, round(task["fps"])), max(1, round(task["fps"])) / task["fps"]
    if task["way"] == "bvh":
        bpy.ops.import_anim.bvh(filepath=task["file"], global_scale=0.01, axis_forward="-Z", axis_up="Y", frame_start=0)
    elif task["way"] == "usd":
        bpy.ops.wm.usd_import(filepath=task["file"])
    else:
        bpy.ops.import_scene.gltf(filepath=task["file"])
    return next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")


def heads(armature: bpy.types.Object, first: int, frames: int, usd: bool) -> np.ndarray:
    """World positions of the bones' heads, in jostle's axes: Blender made (x, -z, y) of (x, y, z) in BVH and glTF."""
    out = np.empty((frames, len(armature.pose.bones), 3))
    for frame in range(frames):
        bpy.context.scene.frame_set(first + frame)
        for i, bone in enumerate(armature.pose.bones):
            x, y, z = armature.matrix_world @ bone.head
            out[frame, i] = (x, y, z) if usd else (-y, x, z)
    return out


def main() -> None:
    tasks = Path(sys.argv[1])
    for number, task in enumerate(json.loads(tasks.read_text())):
        armature = load(task)
        names = [bone.name for bone in armature.pose.bones]
        first = 1 if task["way"] == "bvh" else 0  # its BVH importer keeps `frame_start` itself for the rest pose
        positions = heads(armature, first, task["frames"], task["way"] == "usd")
        np.savez(tasks.with_name(f"tasks_{number}.npz"), names=names, positions=positions)
        if "export" in task:
            bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, task["frames"] - 1
            bpy.ops.export_scene.gltf(filepath=task["export"], export_format="GLB")


main()
