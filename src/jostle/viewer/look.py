"""How the page looks: light, ground, colours. A calm studio: soft sky, warm key light, one long shadow."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from jostle.controllers.obstacles import Block, Obstacle, Post
from jostle.errors import CommandError
from jostle.maths import quat
from jostle.types import Array, Float, Int
from jostle.viewer.handles import BoxHandle, CylinderHandle, GridHandle, SceneApi, ViserServer

Colour = tuple[int, int, int]  # sRGB, 0..255

GROUND: Colour = (226, 224, 217)
BEAM: Colour = (206, 186, 156)
LINES: Colour = (205, 203, 196)
SECTIONS: Colour = (186, 184, 178)
CONTACT: Colour = (228, 101, 58)
FORCE: Colour = (196, 28, 34)
BRAND: Colour = (206, 86, 46)
TRAILS: tuple[Colour, ...] = ((88, 98, 112), (222, 122, 62), (60, 136, 150), (222, 122, 62), (60, 136, 150))
ACCENTS: tuple[Colour, ...] = (
    (228, 101, 58),
    (47, 128, 148),
    (196, 154, 52),
    (112, 96, 168),
    (82, 142, 88),
    (188, 84, 110),
)
PERSON = 1.7  # metres: what everything here is made for; larger and smaller figures scale it
BEAM_HIGH, BEAM_THICK, BEAM_LONG = 1.5, 0.12, 60.0  # metres: above the page's ground, and of a beam
TRAIL_WIDTH = 0.012  # metres, of a person's trails


def size_of(heights: Iterable[float]) -> float:
    """How large the largest is beside a person."""
    return max(max(heights) / PERSON, 1e-3)


def cell_of(size: float) -> float:
    """Metres of a square of the ground: one for people and horses, ten for a dinosaur."""
    return 10.0 ** round(np.log10(size))


def section_of(size: float) -> float:
    """Metres between the stronger lines: five squares."""
    return 5.0 * cell_of(size)


def dress_stage(server: ViserServer, shadows: bool = True, size: float = 1.0) -> GridHandle:
    """Lights and ground for figures of `size` persons; returns the ground, which slides under whoever is followed."""
    scene = server.scene
    scene.configure_default_lights(enabled=False)
    scene.configure_environment_map(hdri=None)
    scene.world_axes.visible = False
    scene.add_light_hemisphere(
        "/lights/sky", sky_color=(236, 243, 255), ground_color=(196, 180, 164), intensity=1.4, position=(0.0, 0.0, 10.0)
    )
    scene.add_light_directional(
        "/lights/sun", color=(255, 240, 220), intensity=2.2, cast_shadow=shadows, position=(3.0, -4.5, 8.0)
    )
    scene.add_light_directional("/lights/rim", color=(214, 228, 255), intensity=0.5, position=(-5.0, 3.0, 3.0))
    return scene.add_grid(
        "/ground", infinite_grid=True, plane_color=GROUND, plane_opacity=1.0, cell_color=LINES, cell_size=cell_of(size),
        cell_thickness=0.8, section_color=SECTIONS, section_size=section_of(size), section_thickness=1.1,
        fade_distance=26.0 * size, fade_strength=1.6, shadow_opacity=0.32,
    )  # fmt: skip


def add_beam(server: ViserServer, width: float) -> BoxHandle:
    return server.scene.add_box("/beam", dimensions=(BEAM_LONG, width, BEAM_THICK), color=BEAM)


def add_obstacle(scene: SceneApi, name: str, obstacle: Obstacle) -> BoxHandle | CylinderHandle:
    """A post or a block, in the frame of `name`'s parent."""
    if isinstance(obstacle, Block):
        turn = tuple(quat.from_yaw(obstacle.turn).tolist())
        size, middle = tuple((2.0 * obstacle.half).tolist()), tuple(obstacle.centre.tolist())
        return scene.add_box(name, dimensions=size, color=BEAM, wxyz=turn, position=middle)
    if not isinstance(obstacle, Post):
        raise CommandError(f"The page draws posts and blocks, and '{type(obstacle).__name__}' is neither.")
    line = obstacle.end - obstacle.start
    turn = quat.between(np.array([0.0, 0.0, 1.0]), line)
    return scene.add_cylinder(
        name, radius=obstacle.radius, height=float(np.linalg.norm(line)), color=BEAM,
        wxyz=turn, position=0.5 * (obstacle.start + obstacle.end),
    )  # fmt: skip


def dress_panel(server: ViserServer, label: str) -> None:
    server.gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False, brand_color=BRAND)
    server.gui.set_panel_label(label)


def ring(inner: float, outer: float, segments: int = 40) -> tuple[Float[Array, "n 3"], Int[Array, "m 3"]]:
    """A flat ring that looks up: the mark under a planted foot."""
    angle = np.linspace(0.0, 2.0 * np.pi, segments, endpoint=False)
    circle = np.stack([np.cos(angle), np.sin(angle), np.zeros(segments)], axis=1)
    i = np.arange(segments)
    j = (i + 1) % segments
    faces = np.concatenate([np.stack([i, i + segments, j + segments], 1), np.stack([i, j + segments, j], 1)])
    return np.concatenate([inner * circle, outer * circle]), faces


def bytes_of(colour: tuple[float, float, float]) -> Colour:
    """sRGB in 0..1 to 0..255."""
    r, g, b = (round(255 * min(max(c, 0.0), 1.0)) for c in colour)
    return r, g, b
