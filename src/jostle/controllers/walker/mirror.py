"""A mirror before each walker, in which it is always the left leg that swings.

Which numbers of a simulation are "the angle of the swing knee" or "the axis of the stance hip" depends on the leg
that swings, so it changes only when a foot strikes. `Mirror` keeps, for each walker, where those numbers stand in
MuJoCo's arrays and with which sign; reading is then one gather from each array. In the mirror X is ahead, Y the side of
the swing leg and Z up: the frame of the heading, reflected where the right leg swings. A reflection turns the other way
round, so what turns (angular velocities, torques) changes sign where what points (positions, directions) does not.

Walkers stand along the *last* axis here, (plane, part, walker), because NumPy is fast along it: 128 walkers are one
long loop, not 128 short ones. All operations are elementwise, so a walker's numbers do not depend on who is beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.body import Physics, Simulations
from jostle.controllers.walker.joints import MIRROR, SIGN, columns
from jostle.types import Array, Float, Int

PARTS = (  # torso, swing thigh, swing and stance foot, swing and stance toe
    ("Spine", "LeftUpLeg", "LeftFoot", "RightFoot", "LeftToe", "RightToe"),
    ("Spine", "RightUpLeg", "RightFoot", "LeftFoot", "RightToe", "LeftToe"),
)
WORLD = columns("lhip", "rhip", "lankle", "rankle")  # the angles that are servoed in the world frame


@dataclass(frozen=True, eq=False)
class _Places:
    """Where a field's numbers stand in a simulation's row of one of MuJoCo's arrays, for either swing leg."""

    source: Float[Array, "n"]  # all rows one after the other, live
    stride: int  # the length of a row
    at: Int[Array, "2 *shape"]


class Mirror:
    """Looks at simulations `rows` with swing legs `side`: `turn` it to some of them, then `see` fields."""

    def __init__(self, many: Simulations) -> None:
        self._places = _places(many)
        self._table = np.concatenate([p.at.reshape(2, -1) for p in self._places.values()], axis=1)
        self._stride = np.concatenate([np.full(p.at[0].size, p.stride) for p in self._places.values()])
        self._signs = np.stack([np.ones(len(SIGN)), SIGN])

    def face(self, rows: Int[Array, "n"], side: Int[Array, "n"], heading: Float[Array, "n"]) -> None:
        """Look at these simulations."""
        self.rows, self._cos, self._sin = rows, np.cos(heading), np.sin(heading)
        self._indices = np.empty((len(self._stride), len(rows)), dtype=np.intp)
        self.sign: Float[Array, "30 n"] = np.empty((len(SIGN), len(rows)))
        self._at, start = {}, 0
        for name, places in self._places.items():
            shape, size = places.at.shape[1:], places.at[0].size
            self._at[name] = self._indices[start : start + size].reshape(*shape, len(rows))
            start += size
        self.turn(np.arange(len(rows)), side)

    def aim(self, heading: Float[Array, "n"]) -> None:
        """Face other headings."""
        self._cos, self._sin = np.cos(heading), np.sin(heading)
        self._flipped_cos, self._flipped_sin = self._flip * self._cos, self._flip * self._sin

    def turn(self, which: Int[Array, "m"], side: Int[Array, "n"]) -> None:
        """The swing legs of these columns have changed."""
        changed = side[which]
        self._indices[:, which] = (self._table[changed] + self.rows[which, None] * self._stride).T
        self.sign[:, which] = self._signs[changed].T
        self._flip = 1.0 - 2.0 * side
        self._flipped_cos, self._flipped_sin = self._flip * self._cos, self._flip * self._sin

    def see(self, field: str) -> Float[Array, "*shape n"]:
        return self._places[field].source[self._at[field]]

    def write(self, field: str, values: Float[Array, "30 n"], which: Int[Array, "m"] | slice = slice(None)) -> None:
        """Into the simulations: an angle's own values, of all walkers or some."""
        self._places[field].source[self._at[field][:, which]] = values

    def points(self, x: Float[Array, "*k n"], y: Float[Array, "*k n"]) -> tuple[Array, Array]:
        """Ahead and aside of vectors that are given in the world."""
        return self._cos * x + self._sin * y, self._flipped_cos * y - self._flipped_sin * x

    def turns(self, v: Float[Array, "3 *k n"]) -> Float[Array, "3 *k n"]:
        """Angular velocities of the world as they are seen."""
        seen = np.empty_like(v)
        seen[0] = self._flipped_cos * v[0] + self._flipped_sin * v[1]
        seen[1] = self._cos * v[1] - self._sin * v[0]
        np.multiply(self._flip, v[2], out=seen[2])
        return seen

    def back(self, v: Float[Array, "3 *k n"]) -> Float[Array, "3 *k n"]:
        """Torques that are meant in the mirror, in the world: the inverse of `turns`."""
        world = np.empty_like(v)
        world[0] = self._flipped_cos * v[0] - self._sin * v[1]
        world[1] = self._flipped_sin * v[0] + self._cos * v[1]
        np.multiply(self._flip, v[2], out=world[2])
        return world


def _places(many: Simulations) -> dict[str, _Places]:
    """The fields: motion, forces and damping of the thirty joints; frames, places and turning of parts; and so on."""
    state, bodies = many.state, _bodies(many.physics)
    angles = np.stack([np.arange(len(SIGN)), MIRROR])
    joints = _joints(many.physics)[angles[:, WORLD]]
    found = {
        "motion": (state, np.stack([many.column("qpos") + 7 + angles, many.column("qvel") + 6 + angles], axis=1)),
        "forces": (state, many.column("qfrc_applied") + 6 + angles),
        "damping": (many.vary("dof_damping", many.physics.model.dof_damping), 6 + angles),
        "frames": (many.read("xmat"), _components(bodies, 9, 9)),  # (9, 6)
        "places": (many.read("xpos"), _components(bodies[:, 2:], 3, 3)),  # (3, 4): of feet and toes
        "turning": (many.read("cvel"), _components(bodies[:, :4], 6, 3)),  # (3, 4): not of the toes
        "axes": (many.read("xaxis"), _components(joints, 3, 3)),  # (3, 10)
        "balance": (many.read("sensordata"), _balance(many)),  # (3, 2): centre of mass and its velocity
    }
    return {name: _Places(array.reshape(-1), array[0].size, at) for name, (array, at) in found.items()}


def _components(items: Int[Array, "2 k"], size: int, count: int) -> Int[Array, "2 c k"]:
    """The first `count` numbers of items that have `size` each."""
    return items[:, None] * size + np.arange(count)[:, None]


def _bodies(physics: Physics) -> Int[Array, "2 6"]:
    """MuJoCo's bodies of PARTS, for a left and for a right swing leg."""
    names = physics.body.skeleton.names
    return np.array([[physics.bodies[names.index(name)] for name in parts] for parts in PARTS])


def _joints(physics: Physics) -> Int[Array, "30"]:
    """MuJoCo's joint of each angle; joint 0 is free and has six velocities."""
    joint_at = {int(at) - 6: joint for joint, at in enumerate(physics.model.jnt_dofadr)}
    return np.array([joint_at[angle] for angle in range(len(SIGN))])


def _balance(many: Simulations) -> Int[Array, "2 3 2"]:
    first = [int(many.physics.model.sensor(name).adr[0]) for name in ("com", "com_velocity")]
    at = np.array(first) + np.arange(3)[:, None]
    return np.stack([at, at])
