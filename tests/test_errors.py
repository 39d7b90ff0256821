"""What is raised on purpose stays one sentence, whoever tells it."""

import pickle

import pytest

from jostle.errors import CommandError, FormatError, MissingExtraError


@pytest.mark.parametrize(
    "error",
    [
        FormatError("walk.bvh", "There is no MOTION.", line=3),
        MissingExtraError("walk.fbx", "FBX", "fbx"),
        CommandError("No joint 'Hip'."),
    ],
    ids=["line", "extra", "command"],
)
def test_another_process_tells_it_as_it_was(error):
    told = pickle.loads(pickle.dumps(error))
    assert type(told) is type(error)
    assert (str(told), vars(told)) == (str(error), vars(error))
