"""glTF 2.0 (.glb, .gltf): reading and writing.

The front door. Behind it file.py, data.py and nodes.py open the container, figure.py finds the
skeleton, tracks.py and read.py sample animations, write.py writes; skins.py reads meshes by way of
mesh.py. glTF is Y up and looks along Z, jostle is Z up and looks along X: (x, y, z) there is (z, x, y) here.
"""

from jostle.clips.formats.gltf.read import animations, read_gltf
from jostle.clips.formats.gltf.skins import has_mesh, read_skin
from jostle.clips.formats.gltf.write import write_gltf

__all__ = ["animations", "has_mesh", "read_gltf", "read_skin", "write_gltf"]
