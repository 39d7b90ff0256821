"""Latent dynamics at run time, against the same Gaussian process written plainly."""

import numpy as np
import pytest

from jostle.controllers.dynamic.flow import KEPT, NOISY, Flow
from jostle.models import gp
from jostle.models.kernels import second_order


@pytest.fixture(scope="module")
def model(person):
    return person.models[0]


def test_on_the_data_it_is_the_mean_of_the_process(model):
    flow, log_alpha = model.flow, model.model.log_alpha
    known = gp.condition(
        second_order(flow.steps.shape[1]), np.exp(log_alpha[:3]), NOISY * np.exp(log_alpha[3]), flow.inputs, flow.steps
    )
    q = flow.steps.shape[1]
    for pair in flow.inputs[::40]:
        ahead, lost = flow.next(pair[:q], pair[q:])
        assert lost == pytest.approx(float(known.variance(pair)) / np.exp(log_alpha[0]), abs=1e-3)
        np.testing.assert_allclose(ahead, pair[q:] + known.mean(pair), atol=0.05 * flow.stride)


def test_far_from_everything_it_moves_beside_the_nearest_and_comes_nearer(model, rng):
    flow = model.flow
    q = flow.steps.shape[1]
    i = 50
    aside = 30.0 * rng.normal(size=q)
    before, now = flow.inputs[i, :q] + aside, flow.inputs[i, q:] + aside
    ahead, lost = flow.next(before, now)
    nearest = int(np.argmin(np.sum(((flow.inputs - np.concatenate([before, now])) * flow.lengths) ** 2, axis=1)))
    assert lost == pytest.approx(1.0)
    off = now - flow.inputs[nearest, q:]
    np.testing.assert_allclose(ahead - now, flow.steps[nearest] - (1.0 - KEPT) * off, atol=1e-9)


def test_steps_hold_no_push(model):
    """What a push did is not what happens by itself: without it, targets are as recorded."""
    plain = Flow.of(model.model, model.normal, np.zeros_like(model.forced))
    changed = np.linalg.norm(plain.steps - model.flow.steps, axis=1) > 1e-12
    pushed = sum(round(push.duration * 30) for clip in model.pushes for push in clip)
    assert pushed <= np.sum(changed) <= pushed + 2 * len(model.pushes)


def test_the_normal_motion_goes_on_and_on(model):
    flow, x = model.flow, model.model.poses.x[model.usual]
    path = [*x[40:42]]
    for _ in range(1500):
        path.append(flow.next(path[-2], path[-1])[0])
    assert np.max(flow.distance(np.array(path[1000:]))) < 1.5
