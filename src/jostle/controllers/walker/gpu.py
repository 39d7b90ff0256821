# pyright: basic, reportMissingImports=false
"""Thousands of walkers at once on a GPU: MuJoCo Warp steps them, `gpu_kernel` controls them and adds up what they do.

It walks as `Walk` does, in single precision, and tells at the end what `tuning.observe` would have seen in a trace: the
sums are enough to judge a walk by, and no trace of thousands has to leave the GPU. Without a GPU it runs on the
processor, slowly: good for a test, for nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jostle.body import Physics
from jostle.controllers.walker.gait import SLOWEST
from jostle.controllers.walker.joints import INDEX, MIRROR, SIGN
from jostle.controllers.walker.parameters import POISED, REACTIVE, SPACES, Gains
from jostle.controllers.walker.people import com_height, foot_corners
from jostle.controllers.walker.senses import half_width
from jostle.controllers.walker.trace import CARRYING
from jostle.controllers.walker.walk import STYLES, Begun, ground_normal, habits_of, start_state
from jostle.errors import CommandError
from jostle.maths import quat
from jostle.types import Array, Float, Int

_RECORDED = 10  # steps that are played at once
_CONTACTS, _ROWS = 24, 150  # of one walker, at most: contacts, and rows of the constraint solver
_ON_A_BEAM = 3  # times as many: boxes on a box, and legs that touch


class GpuWalk:
    """A batch of walkers with one body: `start`, `run`, and `seen` tells how they walked."""

    def __init__(self, physics: Physics, count: int, kind: str, fallen: float, device: str = "cuda:0") -> None:
        if SPACES[kind] is POISED:
            raise CommandError("A poised walker walks on processors only; leave out --gpu.")
        wp, mjw = _libraries()
        self.physics, self.count, self.space, self._style = physics, count, SPACES[kind], STYLES[kind]
        self.dt, self._wp, self._mjw = float(physics.model.opt.timestep), wp, mjw
        self.device = _device(wp, device)
        with wp.ScopedDevice(self.device):
            self._model = mjw.put_model(physics.model)
            more = _ON_A_BEAM if half_width(physics) < np.inf else 1
            self._data = mjw.make_data(physics.model, nworld=count, nconmax=more * _CONTACTS, njmax=more * _ROWS)
            self._make_arrays(fallen)
            self._stream = wp.Stream(self.device) if self.device.is_cuda else None
        self._graph = None

    def _here(self):
        """Where this batch works: on a GPU each has its own stream, so that several walk side by side."""
        return self._wp.ScopedDevice(self.device) if self._stream is None else self._wp.ScopedStream(self._stream)

    def _make_arrays(self, fallen: float) -> None:
        from jostle.controllers.walker import gpu_kernel as kernel
        from jostle.controllers.walker.gpu_body import Body
        from jostle.controllers.walker.gpu_return import Aim
        from jostle.controllers.walker.gpu_tally import COLUMNS

        wp, count, data = self._wp, self.count, self._data
        self._damping = wp.zeros((count, self.physics.model.nv), dtype=float)
        self._model.dof_damping = self._damping  # each walker has its own
        reactive = self.space is REACTIVE
        self._parameters = wp.zeros(((1 + reactive) * count, kernel.WIDTH), dtype=float)
        self._tally = wp.zeros((count, len(COLUMNS)), dtype=float)
        self._state, self._side, self._mode, self._alive = (wp.zeros(count, dtype=int) for _ in range(4))
        self._since, self._clock = wp.zeros(count, dtype=float), wp.zeros(1, dtype=int)
        self._events: list = []
        self._heading, self._wish = wp.zeros(count, dtype=float), wp.zeros(count, dtype=float)
        self._fate = wp.zeros(count, dtype=int)
        self._body = Body()
        for name, field in (
            ("qpos", "qpos"), ("qvel", "qvel"), ("xpos", "xpos"), ("xmat", "xmat"), ("cvel", "cvel"),
            ("xaxis", "xaxis"), ("com", "subtree_com"), ("velocity", "subtree_linvel"), ("spin", "subtree_angmom"),
        ):  # fmt: skip
            setattr(self._body, name, getattr(data, field))
        self._body.heading, self._body.wish, self._body.fate = self._heading, self._wish, self._fate
        self._normal = np.tile(ground_normal(self.physics), (count, 1))
        self._body.normal = wp.array(self._normal.astype(np.float32), dtype=wp.vec3)
        self._aim, self._asked = Aim(), {}
        self._figure = _figure(kernel.ANGLE_ROWS, wp, self.physics, self._style, fallen)
        self._figure.reactive = int(reactive)

    def aim(self, **asked: Any) -> None:
        """What the return asks for, by the names of `gpu_return.Aim`; holds for the next start."""
        told = {name: np.ravel(value).tolist() for name, value in asked.items()}
        if told == self._asked:  # the graph keeps what it was recorded with
            return
        for name, value in told.items():
            setattr(self._aim, name, self._wp.vec3(*value) if len(value) > 1 else value[0])
        self._asked, self._graph = told, None

    def lay_ground(self, slope: Float[Array, "B"], friction: Float[Array, "B"]) -> None:
        """A ground of its own under each walker from the next start on; radians."""
        wp, model = self._wp, self.physics.model
        tilts = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), -slope)
        self._normal = quat.apply(tilts, np.array([0.0, 0.0, 1.0]))
        pairs = "pair_friction" if model.npair else "geom_friction"  # what decides
        frictions = np.tile(getattr(model, pairs), (self.count, 1, 1))
        frictions[:, :, : 2 if model.npair else 1] = friction[:, None, None]
        with self._here():
            self._body.normal.assign(self._normal.astype(np.float32))
            frames = self._data.geom_xmat.numpy()  # of what never moves they are computed once, when data are made
            frames[:, model.geom("ground").id] = quat.to_matrix(tilts)
            self._data.geom_xmat.assign(frames)
            own = getattr(self._model, pairs)
            if own.shape[0] != self.count:
                with wp.ScopedDevice(self.device):
                    setattr(self._model, pairs, wp.zeros(frictions.shape[:2], dtype=own.dtype))
                self._graph = None
            getattr(self._model, pairs).assign(frictions.astype(np.float32))

    def shake(self, noise: float, fates: Int[Array, "B"]) -> None:
        """Motor noise of this strength from the next start on, drawn alike for walkers of one fate."""
        with self._here():
            self._fate.assign(fates.astype(np.int32))
        if noise != self._figure.noise:
            self._figure.noise, self._graph = noise, None

    def head_for(self, middle: float) -> None:
        """From the next start on someone steers towards the middle of the beam so many metres ahead; 0: nobody."""
        if middle != self._figure.middle:
            self._figure.middle, self._graph = middle, None

    def start(
        self,
        values: Float[Array, "B P"],
        push_from: Int[Array, "B n"] | None = None,
        push_until: Int[Array, "B n"] | None = None,
        push_force: Float[Array, "B n 3"] | None = None,
        turn_at: Int[Array, "B m"] | None = None,
        turn_to: Float[Array, "B m"] | None = None,
        begun: Begun | None = None,
    ) -> None:
        """Put every walker into its start state, or where others left off.

        Pushes on the torso act in these steps, turns are wished at those.
        """
        with self._here():
            self._start(values, push_from, push_until, push_force, turn_at, turn_to)
            if begun is not None:
                self._take_over(begun, self.space.unpack(values))

    def _start(self, values: Array, *pushes: Array | None) -> None:
        push_from, push_until, push_force, turn_at, turn_to = pushes
        gains = self.space.unpack(values)
        qpos, qvel = start_state(gains, np.zeros(self.count))
        self._mjw.reset_data(self._model, self._data)
        self._parameters.assign(_packed(gains))
        self._data.qpos.assign(qpos.astype(np.float32))
        self._mjw.kinematics(self._model, self._data)
        qpos[:, 2] += (gains.lift - self._lowest()) / self._normal[:, 2]
        self._data.qpos.assign(qpos.astype(np.float32))
        self._data.qvel.assign(qvel.astype(np.float32))
        for array in (self._tally, self._state, self._side, self._mode, self._since, self._clock):
            array.zero_()
        for array in (self._heading, self._wish):
            array.zero_()
        self._alive.fill_(1)
        self._damping.assign(np.concatenate([np.zeros((self.count, 6)), gains.kd[:, 0]], axis=1).astype(np.float32))
        none = np.zeros((self.count, 1), np.int32)
        begin, end = (none if given is None else given.astype(np.int32) for given in (push_from, push_until))
        force = np.zeros((self.count, 1, 3)) if push_force is None else push_force
        at = none - 1 if turn_at is None else turn_at.astype(np.int32)
        to = np.zeros(at.shape) if turn_to is None else turn_to
        self._set_events(begin, end, force.astype(np.float32), at, to.astype(np.float32))

    def _take_over(self, begun: Begun, gains: Gains) -> None:
        self._data.qpos.assign(begun.qpos.astype(np.float32))
        self._data.qvel.assign(begun.qvel.astype(np.float32))
        for array, values in ((self._state, begun.state), (self._side, begun.side)):
            array.assign(values.astype(np.int32))
        self._since.assign(begun.since.astype(np.float32))
        own = gains.kd[np.arange(self.count), begun.state]  # in the mirror, which sides of the body are swapped in
        damping = np.where(begun.side[:, None] == 0, own, own[:, MIRROR])
        self._damping.assign(np.concatenate([np.zeros((self.count, 6)), damping], axis=1).astype(np.float32))

    def _set_events(self, *events: Array) -> None:
        """When pushes begin and end and their forces, when turns are wished and where to."""
        wp = self._wp
        if [array.shape for array in self._events] == [e.shape[:2] for e in events]:  # the graph keeps their addresses
            for array, values in zip(self._events, events, strict=True):
                array.assign(values)
            return
        with wp.ScopedDevice(self.device):
            self._events = [wp.array(e, dtype=wp.vec3) if e.ndim == 3 else wp.array(e) for e in events]
        self._graph = None

    def _lowest(self) -> Float[Array, "B"]:
        """The height of the lowest corner of the feet above the ground."""
        names, points = self.physics.body.skeleton.names, foot_corners(self.physics.body, "Left")
        places, frames = self._data.xpos.numpy(), self._data.xmat.numpy().reshape(self.count, -1, 3, 3)
        lowest = np.full(self.count, np.inf)
        for side in ("Left", "Right"):
            for part in ("Foot", "Toe"):
                body = int(self.physics.bodies[names.index(side + part)])
                corners = places[:, body, None] + np.einsum("bij,cj->bci", frames[:, body], points[part])
                lowest = np.minimum(lowest, np.einsum("bci,bi->bc", corners, self._normal).min(axis=1))
        return lowest

    def run(self, steps: int) -> None:
        """Walk for so many steps; on a GPU a few are recorded once and played again and again, and nobody waits."""
        wp = self._wp
        self._length = steps
        with self._here():
            if self._stream is not None:
                if self._graph is None:
                    self._graph = self._recorded()
                for _ in range(steps // _RECORDED):
                    wp.capture_launch(self._graph, stream=self._stream)
                steps %= _RECORDED
            for _ in range(steps):
                self._step()

    def _recorded(self):
        with self._wp.ScopedCapture(stream=self._stream, force_module_load=True) as capture:
            for _ in range(_RECORDED):
                self._step()
        return capture.graph

    def wait(self) -> None:
        """Until the steps that were asked for are done."""
        if self._stream is not None:
            self._wp.synchronize_stream(self._stream)

    def _step(self) -> None:
        from jostle.controllers.walker import gpu_kernel as kernel

        data, mjw, wp = self._data, self._mjw, self._wp
        mjw.step1(self._model, data)
        inputs = [
            self._body,
            self._figure,
            self._aim,
            self._parameters,
            *self._events,
            self._clock,
            self._state,
            self._side,
            self._mode,
        ]
        inputs += [self._since, self._alive, data.xfrc_applied, data.qfrc_applied, self._damping, self._tally]
        wp.launch(kernel.control, dim=self.count, inputs=inputs)
        mjw.passive(self._model, data)  # dampers may have changed
        mjw.step2(self._model, data)
        wp.launch(kernel.tick, dim=1, inputs=[self._clock])

    @property
    def headings(self) -> Float[Array, "B"]:
        with self._here():
            return self._heading.numpy().astype(float)

    @property
    def applied(self) -> Float[Array, "B nv"]:
        """The torques of the last step, without dampers."""
        with self._here():
            return self._data.qfrc_applied.numpy().astype(float)

    def returned(self) -> dict[str, Float[Array, "B"]]:
        """The sums of `tuning.returns`."""
        from jostle.controllers.walker.gpu_tally import C

        with self._here():
            tally = self._tally.numpy().astype(float)
        sums = {name.removeprefix("r_"): tally[:, column] for name, column in C.items() if name.startswith("r_")}
        return sums | {"steps": tally[:, C["steps"]]}

    def seen(self) -> dict[str, Float[Array, "B ..."]]:
        """What `tuning.observe` sees in a trace."""
        from jostle.controllers.walker.gpu_tally import C

        with self._here():
            tally = self._tally.numpy().astype(float)

        def of(*names: str) -> Float[Array, "B ..."]:
            columns = tally[:, [C[name] for name in names]]
            return columns[:, 0] if len(names) == 1 else columns

        steps = np.maximum(of("steps"), 1.0)
        travelled = of("com_x", "com_y", "com_z") - of("start_x", "start_y", "start_z")
        velocity = travelled / (steps * self.dt)[:, None]
        x, _, z = self._normal.T[:, :, None]
        shares = of("hip", "knee", "ankle")
        visits = of("visits_0", "visits_1", "visits_2", "visits_3")
        body = self.physics.body
        scale = body.total_mass * com_height(body) * np.maximum(velocity[:, 0], SLOWEST)
        head = of("head") / steps
        cycles, landings = np.maximum(of("cycles"), 1.0), np.maximum(of("landings"), 1.0)
        regular = of("cycles") > 0
        seen = {
            "seconds": of("steps") * self.dt,
            "lasted": of("steps") / self._length,
            "velocity": velocity + velocity[:, :1] * np.array([0.0, 0.0, 1.0]) * x / z,
            "power": of("power") / steps,
            "ratio": shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-9),
            "torque": np.sqrt(of("turning") / steps) / scale,
            "head_speed_sd": np.sqrt(np.maximum(of("head_squares") / steps - head**2, 0.0)),
            "tilted": of("tilted") / self._length,
            "loose": of("loose") / self._length,
            "stubbed": of("stubbed") / self._length,
            "states": of("time_0", "time_1", "time_2", "time_3") * self.dt / np.maximum(visits, 1.0),
            "step_m": of("reach") / landings * regular,
            "cycle_s": of("cycle_steps") / cycles * self.dt,
            "double_support": of("both") / np.maximum(of("last") - of("first"), 1.0) * regular,
            "knee_at_strike": of("knees") / landings * regular,
            "knee_swing": of("bent") / landings * regular,
            "knee_stance": of("stood") / np.maximum(of("paces"), 1.0) * regular,
            "thigh_drop": of("drop") / landings * regular,
            "toe_down": of("tipped") / landings * regular,
            "toe_up": of("raised") / landings * regular,
            "cycles": of("cycles"),
        }
        for name in ("heel_off", "toe_off", "flat"):
            seen[name] = of(name) / cycles
        return seen


def _packed(gains: Gains) -> Array:
    """As the kernel reads them: the walkers, and below them what they do when they recover, where they are reactive."""
    reaction = gains.reaction
    if reaction is None:
        return _rows(gains, np.zeros((len(gains.kp), 9)))
    habits = habits_of(reaction)
    return np.concatenate([_rows(gains, habits), _rows(reaction.gains, habits)])


def _rows(gains: Gains, habits: Float[Array, "B 9"]) -> Array:
    """kp, kd, target, c_d, c_v, alpha_arm, switch, the speed of the start, alpha_hip, habits."""
    tables = [table.reshape(len(table), -1) for table in (gains.kp, gains.kd, gains.target, gains.c_d, gains.c_v)]
    rhythm = [gains.alpha_arm, gains.switch, gains.velocity[:, 0], gains.alpha_hip.reshape(len(gains.kp), -1)]
    return np.column_stack([*tables, *rhythm, habits]).astype(np.float32)


def _figure(servos, wp, physics: Physics, style, fallen: float):
    from jostle.controllers.walker.gpu_body import Figure

    names, model = physics.body.skeleton.names, physics.model
    bodies = {name: int(physics.bodies[i]) for i, name in enumerate(names)}
    sides = (("Left", "Right"), ("Right", "Left"))
    rows = [[bodies["Spine"], *(bodies[a + p] for a, p in _parts(s, t)), bodies["Head"]] for s, t in sides]
    angle = np.array([INDEX[name] for name in servos], np.int32)
    joint_of = {int(at) - 6: joint for joint, at in enumerate(model.jnt_dofadr) if at >= 6}
    corners = foot_corners(physics.body, "Left")
    figure = Figure()
    figure.perm = wp.array(np.stack([np.arange(30), MIRROR]).astype(np.int32))
    figure.sign = wp.array(np.stack([np.ones(30), SIGN]).astype(np.float32))
    figure.part = wp.array(np.array(rows, np.int32))
    figure.angle = wp.array(angle)
    hinges = [[joint_of[int(i)] for i in table[angle[:10]]] for table in (np.arange(30), MIRROR)]
    figure.hinge = wp.array(np.array(hinges, np.int32))
    figure.foot = wp.array(corners["Foot"].astype(np.float32), dtype=wp.vec3)
    figure.toe = wp.array(np.concatenate([corners["Toe"], corners["Tip"]]).astype(np.float32), dtype=wp.vec3)
    figure.half, figure.fallen, figure.dt = half_width(physics), fallen, float(model.opt.timestep)
    figure.timed, figure.world_ankles, figure.early = int(style.timed), int(style.world_ankles), int(style.early)
    figure.guided, figure.carrying = int(style.guided), bodies[CARRYING]
    figure.toe_up = max(style.toe_up, -10.0)
    return figure


def _parts(swing: str, stance: str) -> tuple[tuple[str, str], ...]:
    return (swing, "UpLeg"), (swing, "Foot"), (stance, "Foot"), (swing, "Toe"), (stance, "Toe")


def _device(wp, name: str):
    try:
        return wp.get_device(name)
    except (RuntimeError, ValueError):
        raise CommandError(
            f"There is no '{name}' on this machine; leave out --gpu to walk on its processors."
        ) from None


def _libraries():
    try:
        import mujoco_warp
        import warp
    except ImportError:
        raise CommandError("A GPU needs an extra; install it with: pip install 'jostle[gpu]'.") from None
    warp.config.quiet = True
    return warp, mujoco_warp
