"""Every model: stopped while it learns, it goes on from its journal to the same numbers."""

import numpy as np
import pytest

import jostle
from jostle.assets import clip_path
from jostle.clips.edit import resample, trim_frames
from jostle.models.fit import KNOWN
from jostle.models.learn import Watch

pytestmark = pytest.mark.slow


def stopping(after: int):
    """Progress that ends like ctrl-C."""
    told = iter(range(after))

    def progress(done: float, total: float) -> None:
        if next(told, None) is None:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("model", KNOWN)
@pytest.mark.parametrize("after", [0, 20])
def test_it_goes_on_to_the_same_numbers(tmp_path, model, after):
    clip = trim_frames(resample(jostle.load_clip(clip_path("walk")), 30.0), 0, 40)
    clips = [clip, trim_frames(jostle.load_clip(clip_path("turn_left")), 0, 60).renamed("turn")]
    path, options = tmp_path / "journal", {"iterations": 30}
    whole = jostle.fit(clips, model=model, **options)
    with pytest.raises(KeyboardInterrupt):
        jostle.fit(clips, model=model, watch=Watch(stopping(after), path), **options)
    again = jostle.fit(clips, model=model, watch=Watch(journal=path, resume=True), **options)
    (data, arrays), (others, more) = whole.pack(), again.pack()
    assert data == others
    assert all(np.array_equal(arrays[name], more[name]) for name in arrays)
