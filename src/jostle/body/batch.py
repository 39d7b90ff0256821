# pyright: reportAttributeAccessIssue=false
# mujoco takes its names from compiled modules that have no type stubs.
"""Many simulations of one body, stepped on threads, controlled with arrays.

    many = Simulations(compile_body(body, Ground(), Options(armature=0.005)), count=100)
    many.start(qpos, qvel)
    while many.running.any():
        many.forces[:] = controller(many.qpos, many.qvel)  # (B, V), one line for all
        many.step()
        many.drop(many.positions[:, head, 2] < 0.8)  # the fallen cost nothing from here on

Arrays are live and have one row a simulation: write `qpos`, `qvel` or `forces` and they count from the next step. What
is read back (`positions`, `site`, `read`) belongs to the same moment as `qpos`. Results are the same, bit for bit, on
any number of threads. A simulation that explodes is taken back to before the step in which it did, and dropped.
"""

from __future__ import annotations

import threading

import mujoco
import mujoco.batch
import numpy as np

from jostle.body.physics import Physics
from jostle.errors import BodyError, unknown_name
from jostle.types import Array, Bool, Float, Int

_CURRENT = mujoco.mjtStage.mjSTAGE_VEL.value  # after a step, positions and velocities are made current
_EXPLODED = slice(mujoco.mjtWarning.mjWARN_BADQPOS.value, mujoco.mjtWarning.mjWARN_BADQACC.value + 1)
_FAST = 1e3  # a generalised velocity beyond this is an explosion


class _Quiet:
    """MuJoCo writes a log into the working folder when a simulation explodes; here its counters tell.

    Batches may be stepped on several threads at once: the first to come silences MuJoCo, the last to go gives its word
    back.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = mujoco.get_mju_user_warning()
                mujoco.set_mju_user_warning(_silent)
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                mujoco.set_mju_user_warning(self._before)


def _silent(message: str) -> None:
    pass


_QUIET = _Quiet()


class Simulations:
    """B simulations; `threads` 0 means all processors."""

    def __init__(self, physics: Physics, count: int, threads: int = 0) -> None:
        if count < 1:
            raise BodyError(f"A batch needs at least one simulation, not {count}.")
        self.physics = physics
        self._batch = mujoco.batch.Batch(physics.model, count, threads, persistent=True)
        self.running: Bool[Array, "B"] = np.ones(count, dtype=bool)
        self._bound: set[str] = set()
        self._qpos, self._qvel, self._forces = (self._batch.bind(f) for f in ("qpos", "qvel", "qfrc_applied"))
        self._explosions: Int[Array, "B 3"] = self._batch.warning[:, _EXPLODED, 1]
        self._moved = self._batch.state[:, : self.column("ctrl")]  # what a step changes: positions, velocities, …
        self._before = self._moved.copy()
        model = physics.model
        self._sites = {model.site(i).name: i for i in range(model.nsite)}
        self._sensors = {model.sensor(i).name: int(model.sensor(i).adr[0]) for i in range(model.nsensor)}

    @property
    def count(self) -> int:
        return self._batch.nsim

    @property
    def time(self) -> Float[Array, "B"]:
        """Seconds since the start; those of dropped simulations stand still."""
        return self._batch.time

    @property
    def qpos(self) -> Float[Array, "B nq"]:
        return self._qpos

    @property
    def qvel(self) -> Float[Array, "B nv"]:
        return self._qvel

    @property
    def positions(self) -> Float[Array, "B J 3"]:
        """Where the joints are."""
        return self.read("xpos")[:, self.physics.bodies]

    @property
    def forces(self) -> Float[Array, "B nv"]:
        """Generalised forces of the controller: stay until they are written again."""
        return self._forces

    def start(
        self,
        qpos: Float[Array, "*n nq"],
        qvel: Float[Array, "*n nv"] | None = None,
        which: Bool[Array, "B"] | Int[Array, "n"] | None = None,
    ) -> None:
        """Begin anew (all, or `which`) at these positions, at rest unless velocities are given, without forces."""
        rows = np.arange(self.count) if which is None else np.arange(self.count)[which]
        self._batch.reset(rows, stage=mujoco.mjtStage.mjSTAGE_NONE.value)
        self._batch.qpos[rows] = qpos
        self._batch.qvel[rows] = 0.0 if qvel is None else qvel
        self.running[rows] = True
        self._batch.forward(rows, stage=_CURRENT)

    @property
    def state(self) -> Float[Array, "B n"]:
        """All of it in one array, for who gathers much at once: see `column` for what is where."""
        return self._batch.state

    def column(self, field: str) -> int:
        """Where a field of the state ("qpos", "qvel", "qfrc_applied", …) begins in a row of `state`."""
        bit = getattr(mujoco.mjtState, f"mjSTATE_{field.upper()}").value
        return mujoco.mj_stateSize(self.physics.model, mujoco.mjtState.mjSTATE_INTEGRATION.value & (bit - 1))

    def snapshot(self) -> Float[Array, "B n"]:
        """What the next step depends on, beside the model: positions, velocities, forces, the solver's last guess."""
        return self._batch.state.copy()

    def restore(self, snapshot: Float[Array, "B n"]) -> None:
        """Go on from a snapshot, to the same bits whatever was simulated in between; all run again."""
        self._batch.state[:] = snapshot
        self.running[:] = True
        self._batch.forward(stage=_CURRENT)

    def step(self, substeps: int = 1) -> None:
        """Advance the running ones by `substeps` time steps."""
        if not self.running.any():
            return
        np.copyto(self._before, self._moved)
        counts = self._explosions.copy()
        with _QUIET:
            self._batch.step(self.running, nstep=substeps, stage=_CURRENT)
        calm = self._qvel.min() > -_FAST and self._qvel.max() < _FAST  # false where there is a NaN
        if not calm or (self._explosions != counts).any():
            self._take_back(np.any(self._explosions > counts, axis=1))

    def _take_back(self, reset: Bool[Array, "B"]) -> None:
        """MuJoCo resets what explodes to the rest pose without a word; go back to before the step instead."""
        exploded = reset | ~np.all(np.abs(self._qvel) < _FAST, axis=1)
        self._moved[exploded] = self._before[exploded]
        self._batch.forward(exploded, stage=_CURRENT)
        self.drop(exploded)

    def drop(self, which: Bool[Array, "B"] | Int[Array, "n"]) -> None:
        """Stop stepping these; their state stays as it was."""
        self.running[which] = False

    def push(
        self,
        joint: int,
        force: Float[Array, "*n 3"],
        point: Float[Array, "3"] | None = None,
        which: Bool[Array, "B"] | Int[Array, "n"] | None = None,
        add: bool = False,
    ) -> None:
        """Push a part with a force in the world (newtons), at a point of its frame (None: its centre of mass).

        It lasts until it is set anew; zero ends it. Off the centre it turns the part as it is turned now: set it anew
        every step. With `add` it joins the pushes that act on the part; otherwise it takes their place.
        """
        rows = np.arange(self.count) if which is None else np.arange(self.count)[which]
        body = int(self.physics.bodies[joint])
        strength = np.broadcast_to(force, (len(rows), 3))
        arm = np.zeros(3) if point is None else point - self.physics.body.com[joint]
        turned = self.read("xmat")[rows, body].reshape(-1, 3, 3) @ arm
        applied = self._batch.xfrc_applied
        wrench = np.concatenate([strength, np.cross(turned, strength)], axis=1)  # MuJoCo: at the centre of mass
        applied[rows, body] = wrench + (applied[rows, body] if add else 0.0)

    def read(self, field: str) -> Array:
        """A field of MuJoCo's MjData, one row a simulation, such as "xpos" or "sensordata": live and read-only."""
        if field not in mujoco.batch.DATA_FIELDS:
            raise BodyError(unknown_name("field of a simulation", field, sorted(mujoco.batch.DATA_FIELDS)))
        values = self._batch.bind(field)
        if field not in self._bound:  # a newly bound field is empty until the next call
            self._bound.add(field)
            self._batch.forward(stage=_CURRENT)
        return values

    def site(self, name: str) -> Float[Array, "B 3"]:
        """Where a site is, such as a corner of a sole: "left_heel_in"."""
        if name not in self._sites:
            raise BodyError(unknown_name("site", name, self._sites))
        return self.read("site_xpos")[:, self._sites[name]]

    def touch(self, name: str) -> Float[Array, "B"]:
        """What the ground pressed with in the last step: newtons on "left_heel" (heel to ball), "left_toe", …"""
        if name not in self._sensors:
            raise BodyError(unknown_name("touch sensor", name, self._sensors))
        return self.read("sensordata")[:, self._sensors[name]]

    @property
    def com(self) -> Float[Array, "B 3"]:
        """Where the centre of mass of the whole body is."""
        return self._balance("com")

    @property
    def com_velocity(self) -> Float[Array, "B 3"]:
        return self._balance("com_velocity")

    @property
    def angular_momentum(self) -> Float[Array, "B 3"]:
        """About the centre of mass, in the world frame (N m s)."""
        return self._balance("angular_momentum")

    def _balance(self, name: str) -> Float[Array, "B 3"]:
        at = self._sensors.get(name)
        if at is None:
            raise BodyError("This model has no ground, so it watches no balance; compile the body with a Ground.")
        return self.read("sensordata")[:, at : at + 3]

    def set_friction(self, friction: Float[Array, "B"] | float) -> None:
        """Change the ground under each simulation; may be done at any step."""
        model = self.physics.model
        if model.npair:
            self._batch.expand("pair_friction")[:, :, :2] = np.reshape(friction, (-1, 1, 1))
        else:
            self._batch.expand("geom_friction")[:, model.geom("ground").id, 0] = friction

    def vary(self, field: str, values: Float[Array, "..."] | float) -> Array:
        """Give each simulation its own values of an MjModel field ("body_mass", "geom_friction", "dof_damping", …).

        `values` broadcasts to one row a simulation; constants that MuJoCo derives from the field follow. Returns the
        live values: those of fields that nothing is derived from ("dof_damping") may be written again at any step.
        """
        if field not in mujoco.batch.MODEL_FIELDS:
            raise BodyError(unknown_name("field of a model", field, sorted(mujoco.batch.MODEL_FIELDS)))
        own = self._batch.expand(field)
        own[:] = values
        if field in mujoco.MjModel._setconst_inputs or field.startswith("opt."):
            self._batch.set_const()
        return own
