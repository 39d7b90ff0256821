import subprocess
import sys

import jostle.body


def test_building_a_body_does_not_import_mujoco():
    code = "import sys, jostle.body; from jostle.body import build_body; print('mujoco' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_exported_name_is_there():
    assert all(hasattr(jostle.body, name) for name in jostle.body.__all__)
    assert not hasattr(jostle.body, "no_such_name")
