"""Skins deform as the file says: against skinning with plain matrices, straight from the raw file."""

import io

import numpy as np
import pytest
from PIL import Image
from raw_gltf import Raw
from tiny_gltf import Tiny, matrix

from jostle.clips import Clip
from jostle.clips.formats.gltf import read_gltf, read_skin, write_gltf
from jostle.clips.skin import Skin, deform, mannequin_skin, parts
from jostle.errors import FormatError, JostleWarning, MotionError
from jostle.maths import quat
from jostle.skeleton import build_skeleton, forward, rest_pose

SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
CORNERS = [0, 1, 2, 0, 2, 3]


def file_axes(positions: np.ndarray) -> np.ndarray:
    return positions[..., [1, 2, 0]]


def a_figure(primitive: dict | None = None, **attributes: int) -> Tiny:
    """One joint a metre up, and a square that follows it."""
    tiny = Tiny([{"name": "hips", "translation": [0, 1, 0]}, {"name": "body", "mesh": 0, "skin": 0}])
    tiny.skin([0], [matrix([0, 1, 0])])
    given = {
        "POSITION": tiny.add(SQUARE),
        "JOINTS_0": tiny.add([[0, 0, 0, 0]] * 4, "u1"),
        "WEIGHTS_0": tiny.add([[1, 0, 0, 0]] * 4),
    }
    corners = tiny.add(CORNERS, "u2")
    tiny.json["meshes"] = [{"primitives": [{"attributes": given | attributes, "indices": corners} | (primitive or {})]}]
    return tiny


# Against the raw file


@pytest.mark.parametrize(
    ("name", "animation", "fps"),
    [
        ("quaternius_cc0/Fox.glb", "Gallop", 24),
        ("quaternius_cc0/Trex.glb", "TRex_Attack", 24),
        ("quaternius_cc0/platformer_Character.glb", "Wave", 24),
        ("kaykit_cc0/Knight.glb", "Running_A", 30),
    ],
)
def test_a_pose_deforms_the_mesh_as_plain_matrices_do(data, name, animation, fps):
    skin, clip, raw = read_skin(data / name), read_gltf(data / name, animation), Raw(data / name)
    assert skin.skeleton.same_as(clip.skeleton)
    for frame in (0, clip.frame_count // 2):
        worlds = raw.worlds(raw.animation(animation), frame / fps)
        nodes = [i for i, node in enumerate(raw.nodes) if "skin" in node]
        wanted = np.concatenate([part for node in nodes for part in raw.skinned(node, worlds)])
        found = deform(
            Skin(skin.skeleton, tuple(m for m in skin.meshes if not m.prop)), forward(clip.skeleton, clip.pose(frame))
        )
        assert np.abs(file_axes(np.concatenate(found)) - wanted).max() < 2e-5 * clip.skeleton.height


@pytest.mark.parametrize("name", ["quaternius_cc0/man_Suit.glb", "quaternius_cc0/Fox.glb"])
def test_at_rest_the_mesh_is_as_it_was_modelled(data, name):
    """Each vertex stands where the mesh's own node puts it: Fox's joints are elsewhere, its bind pose is not."""
    skin, raw = read_skin(data / name), Raw(data / name)
    worlds, at = raw.worlds(), 0
    for node, owner in enumerate(raw.nodes):
        for primitive in raw.json["meshes"][owner["mesh"]]["primitives"] if "skin" in owner else []:
            points = raw.accessor(primitive["attributes"]["POSITION"])
            wanted = points @ worlds[node][:3, :3].T + worlds[node][:3, 3]
            assert np.abs(file_axes(skin.meshes[at].vertices) - wanted).max() < 2e-5 * skin.skeleton.height
            at += 1
    assert at == len(skin.meshes)
    for mesh, found in zip(skin.meshes, deform(skin, forward(skin.skeleton, rest_pose(skin.skeleton))), strict=True):
        assert np.allclose(found, mesh.vertices)


def test_props_hang_from_their_joint_one_for_each_hand(data):
    path = data / "kaykit_cc0/Knight.glb"
    skin, every = read_skin(path), read_skin(path, all_props=True)
    names = [mesh.name for mesh in skin.meshes if mesh.prop]
    assert names == ["1H_Sword_Offhand", "1H_Sword", "Knight_Helmet", "Knight_Cape"]
    assert len([mesh for mesh in every.meshes if mesh.prop]) == 9
    clip, raw = read_gltf(path, "Running_A"), Raw(path)
    world = raw.worlds(raw.animation("Running_A"), 10 / 30)[17]  # the helmet
    primitive = raw.json["meshes"][raw.nodes[17]["mesh"]]["primitives"][0]
    wanted = raw.accessor(primitive["attributes"]["POSITION"]) @ world[:3, :3].T + world[:3, 3]
    found = deform(skin, forward(clip.skeleton, clip.pose(10)))[[m.name for m in skin.meshes].index("Knight_Helmet")]
    assert np.abs(file_axes(found) - wanted).max() < 1e-4


# For viewers


def test_parts_cover_every_face_once_with_only_the_bones_they_use(data):
    skin = read_skin(data / "kaykit_cc0/Knight.glb")
    clip = read_gltf(data / "kaykit_cc0/Knight.glb", "Running_A")
    pose = forward(skin.skeleton, clip.pose(7))
    pieces = parts(skin, colours=6)
    assert len(pieces) <= 6
    assert sum(len(p.faces) for p in pieces) == sum(len(m.faces) for m in skin.meshes)
    whole = deform(skin, pose)
    corners = np.concatenate([at[mesh.faces].reshape(-1, 9) for at, mesh in zip(whole, skin.meshes, strict=True)])
    found = []
    for piece in pieces:
        assert np.allclose(piece.weights.sum(axis=1), 1)
        assert np.all(piece.weights.max(axis=0) > 0)
        at = np.zeros_like(piece.vertices)
        for bone, place, weight in zip(piece.bones, piece.rest, piece.weights.T, strict=True):  # as a viewer does
            moved = pose.positions[bone] + quat.apply(pose.wxyz[bone], piece.vertices - place)
            at += weight[:, None] * moved
        found.append(at[piece.faces].reshape(-1, 9))
    ordered = [np.array(sorted(map(tuple, np.round(rows, 6)))) for rows in (corners, np.concatenate(found))]
    assert np.allclose(*ordered, atol=1e-5)


def test_few_colours_are_kept_exactly(data):
    pieces = parts(read_skin(data / "quaternius_cc0/Fox.glb"))
    assert len(pieces) == 4
    orange = max(pieces, key=lambda piece: len(piece.faces)).colour
    assert np.allclose(orange, [0.645, 0.405, 0.233], atol=0.01)  # linear 0.374, 0.136, 0.045


def test_the_mannequin_is_a_skin_too(data):
    skeleton = read_gltf(data / "quaternius_cc0/man_Suit.glb").skeleton
    skin = mannequin_skin(skeleton)
    top = max(mesh.vertices[:, 2].max() for mesh in skin.meshes)
    assert top == pytest.approx(skeleton.height, abs=0.15)
    for mesh in skin.meshes:
        assert len(np.unique(mesh.colours, axis=0)) == 1
        assert mesh.joints.max() < skeleton.joint_count


def test_a_written_body_comes_back_and_moves_alike(tmp_path, data):
    clip = read_gltf(data / "quaternius_cc0/platformer_Character.glb", "Walk")
    write_gltf(clip, tmp_path / "a.glb")
    skin, own = read_skin(tmp_path / "a.glb"), mannequin_skin(clip.skeleton)
    for found, wanted in zip(deform(skin, clip.globals), deform(own, clip.globals), strict=True):
        assert np.abs(found - wanted).max() < 1e-4
    for found, wanted in zip(skin.meshes, own.meshes, strict=True):
        assert np.allclose(found.colours, wanted.colours, atol=1e-6)
        assert np.abs(found.normals - wanted.normals).max() < 1e-5


def test_a_figure_can_be_written_in_its_own_skin(tmp_path, data):
    path = data / "kaykit_cc0/Knight.glb"
    clip, skin = read_gltf(path, "Walking_A"), read_skin(path)
    write_gltf(clip, tmp_path / "a.glb", skin=skin)
    back = read_skin(tmp_path / "a.glb")
    assert np.allclose(back.meshes[3].colours, skin.meshes[3].colours, atol=1e-3)
    for found, wanted in zip(deform(back, clip.globals), deform(skin, clip.globals), strict=True):
        assert np.abs(found - wanted).max() < 1e-4
    other = build_skeleton(["a"], [-1], [[0, 0, 0]])
    stranger = Clip(other, 30.0, np.zeros((1, 3)), np.array([[[1.0, 0, 0, 0]]]), None, "stranger")
    with pytest.raises(MotionError, match="does not fit clip 'stranger'"):
        write_gltf(stranger, tmp_path / "b.glb", skin=skin)


# Small files


def test_textures_are_looked_up_at_each_vertex(tmp_path):
    picture = Image.new("RGB", (2, 2))
    picture.putdata([(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)])
    png = io.BytesIO()
    picture.save(png, "PNG")
    tiny = a_figure({"material": 0})
    attributes = tiny.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["TEXCOORD_0"] = tiny.add([[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [-0.25, 1.75]])  # the last repeats
    image = tiny.add(np.frombuffer(png.getvalue(), "u1"), "u1")
    tiny.json["images"] = [{"bufferView": tiny.json["accessors"][image]["bufferView"], "mimeType": "image/png"}]
    tiny.json["textures"] = [{"source": 0}]
    surface = {"baseColorTexture": {"index": 0}, "baseColorFactor": [1, 1, 0.2122307, 1]}  # sRGB 0.5
    tiny.json["materials"] = [{"pbrMetallicRoughness": surface}]
    colours = read_skin(tiny.glb(tmp_path / "a.glb")).meshes[0].colours
    assert np.allclose(colours, [[1, 0, 0], [0, 1, 0], [0, 0, 0.5], [1, 1, 0.5]], atol=2e-3)


@pytest.mark.parametrize(
    ("mode", "corners", "faces"),
    [
        (4, [0, 1, 2, 0, 2, 3], [[0, 1, 2], [0, 2, 3]]),
        (5, [0, 1, 2, 3], [[0, 1, 2], [2, 1, 3]]),
        (6, [0, 1, 2, 3], [[0, 1, 2], [0, 2, 3]]),
    ],
)
def test_lists_strips_and_fans(tmp_path, mode, corners, faces):
    tiny = a_figure()
    tiny.json["meshes"][0]["primitives"][0] |= {"mode": mode, "indices": tiny.add(corners, "u1")}
    assert read_skin(tiny.glb(tmp_path / "a.glb")).meshes[0].faces.tolist() == faces


def test_weights_are_made_to_add_up(tmp_path):
    tiny = a_figure()
    attributes = tiny.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["WEIGHTS_0"] = tiny.add(
        [[128, 0, 0, 0], [255, 0, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0]], "u1", normalized=True
    )
    assert np.allclose(read_skin(tiny.glb(tmp_path / "a.glb")).meshes[0].weights.sum(axis=1), 1)


def test_of_eight_influences_the_strongest_four_are_kept(tmp_path):
    tiny = a_figure()
    attributes = tiny.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["WEIGHTS_0"] = tiny.add([[0.1, 0.1, 0.1, 0.1]] * 4)
    attributes["WEIGHTS_1"] = tiny.add([[0.3, 0.3, 0, 0]] * 4)
    attributes["JOINTS_1"] = tiny.add([[0, 0, 0, 0]] * 4, "u1")
    with pytest.warns(JostleWarning, match="four strongest"):
        weights = read_skin(tiny.glb(tmp_path / "a.glb")).meshes[0].weights
    assert np.allclose(weights, [0.375, 0.375, 0.125, 0.125])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"POSITION": ([[0, 0, 0]], "f4")}, "corner beyond its 1 vertices"),
        ({"JOINTS_0": ([[3, 0, 0, 0]] * 4, "u1")}, "follows a joint that its skin does not have"),
        ({"WEIGHTS_0": ([[1, 0, 0, 0]] * 3, "f4")}, "4 positions and 3 entries of WEIGHTS_0"),
    ],
)
def test_meshes_that_do_not_fit_are_refused(tmp_path, change, sentence):
    tiny = a_figure()
    attributes = tiny.json["meshes"][0]["primitives"][0]["attributes"]
    for name, (values, kind) in change.items():
        attributes[name] = tiny.add(values, kind)
    with pytest.raises(FormatError, match=sentence):
        read_skin(tiny.glb(tmp_path / "a.glb"))


def test_what_is_no_picture_and_what_has_no_mesh_is_refused(tmp_path):
    tiny = a_figure({"material": 0})
    attributes = tiny.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["TEXCOORD_0"] = tiny.add([[0, 0]] * 4)
    tiny.json["images"] = [{"uri": "data:image/png;base64,AAAA"}]
    tiny.json["textures"] = [{"source": 0}]
    tiny.json["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    with pytest.raises(FormatError, match="no readable PNG"):
        read_skin(tiny.glb(tmp_path / "a.glb"))
    with pytest.raises(FormatError, match="no mesh"):
        read_skin(Tiny([{"name": "a"}]).skin([0]).glb(tmp_path / "b.glb"))
    tiny.json["extensionsRequired"] = ["KHR_draco_mesh_compression"]
    with pytest.raises(FormatError, match="compressed with Draco"):
        read_skin(tiny.glb(tmp_path / "c.glb"))


def test_meshes_that_hang_from_no_joint_are_told(tmp_path):
    tiny = a_figure()
    tiny.json["nodes"].append({"name": "floor", "mesh": 0})
    with pytest.warns(JostleWarning, match="'floor'.* hangs from no joint"):
        assert len(read_skin(tiny.glb(tmp_path / "a.glb")).meshes) == 1
