"""glTF 2.0 (.glb, .gltf): reading and writing.

The front door. Behind it gltf_file.py, gltf_data.py and gltf_nodes.py open the container, gltf_figure.py finds the
skeleton, gltf_tracks.py and gltf_read.py sample animations, gltf_write.py writes; skin.py reads meshes by way of
gltf_mesh.py. glTF is Y up and looks along Z, jostle is Z up and looks along X: (x, y, z) there is (z, x, y) here.
"""

from jostle.clips.gltf_read import animations, read_gltf
from jostle.clips.gltf_write import write_gltf

__all__ = ["animations", "read_gltf", "write_gltf"]
