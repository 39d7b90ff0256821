"""glTF 2.0 (.glb, .gltf): reading and writing.

The front door; behind it gltf_file.py and gltf_data.py open the container, gltf_figure.py finds the skeleton,
gltf_read.py samples animations, and gltf_write.py writes. glTF is Y up and looks along Z, in metres; jostle is Z up and
looks along X, so (x, y, z) there is (z, x, y) here.
"""

from jostle.clips.gltf_read import animations, read_gltf
from jostle.clips.gltf_write import write_gltf

__all__ = ["animations", "read_gltf", "write_gltf"]
