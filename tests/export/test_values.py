"""The picture of a policy."""

import pytest
from PIL import Image

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers.policy.policy import plan_policy
from jostle.controllers.policy.tasks import Heading
from jostle.export.values import plot_policy
from jostle.models.connected import fit_connected


@pytest.mark.slow
def test_values_and_the_latent_space_are_drawn(tmp_path):
    clips = [trim_frames(load_clip(clip_path(name)), 60, 130) for name in ("walk", "turn_left")]
    policy = plan_policy(fit_connected(clips, latent=3, mirrored=True, iterations=5), Heading(count=8), rounds=0)
    plot_policy(policy.plan, tmp_path / "values.png")
    with Image.open(tmp_path / "values.png") as picture:
        assert picture.size == (1540, 704)
        assert len(picture.convert("RGB").getcolors(2**24) or ()) > 100
