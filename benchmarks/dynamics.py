# pyright: reportAttributeAccessIssue=false
# mujoco takes its names from compiled modules that have no type stubs.
"""Mass matrix, Jacobian and inverse dynamics of one pose, and many simulations at once beside one after the other."""

from __future__ import annotations

import mujoco
import numpy as np

from benchmarks.timing import Row, median_seconds
from jostle import build_body, load_clip
from jostle.assets import clip_path
from jostle.body import Dynamics, Ground, Options, Simulations, compile_body

COUNT, STEPS = 64, 100


def rows() -> list[Row]:
    clip = load_clip(clip_path("stand"))
    body = build_body(clip.skeleton)
    return [_instant(body, clip), _batch(body, clip)]


def _instant(body, clip) -> Row:
    """Beside MuJoCo's own calls for the same numbers."""
    physics = compile_body(body)
    ours, data = Dynamics(physics), mujoco.MjData(physics.model)
    qpos, chest = physics.to_qpos(clip.pose(0)), body.part("chest")
    matrix, jacobian = np.zeros((physics.model.nv,) * 2), np.zeros((3, physics.model.nv))

    def with_ours() -> None:
        ours.set(qpos)
        ours.mass_matrix()
        ours.jacobian(chest)

    def with_mujoco() -> None:
        data.qpos[:] = qpos
        mujoco.mj_fwdPosition(physics.model, data)
        mujoco.mj_fullM(physics.model, data, matrix)
        mujoco.mj_jacBodyCom(physics.model, data, jacobian, None, int(physics.bodies[chest]))

    return Row(
        "mass matrix and a Jacobian", median_seconds(with_ours), "MuJoCo called plainly", median_seconds(with_mujoco)
    )


def _batch(body, clip) -> Row:
    """Beside a loop over as many MjData."""
    options = Options(armature=0.005, damping=1.0)
    physics = compile_body(body, Ground(), options)
    qpos = physics.to_qpos(clip.pose(0))
    many = Simulations(physics, COUNT)
    datas = [mujoco.MjData(physics.model) for _ in range(COUNT)]

    def with_batch() -> None:
        many.start(qpos)
        for _ in range(STEPS):
            many.step()

    def one_by_one() -> None:
        for data in datas:
            mujoco.mj_resetData(physics.model, data)
            data.qpos[:] = qpos
            for _ in range(STEPS):
                mujoco.mj_step(physics.model, data)

    job = f"{COUNT} simulations of {physics.model.nv} DOFs, {STEPS} steps"
    return Row(job, median_seconds(with_batch, 3), "one after the other", median_seconds(one_by_one, 3))
