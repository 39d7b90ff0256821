"""Walkers in files, in characters and in recordings."""

import json
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from jostle.body import Ground
from jostle.controllers import Command, Push, Setting, Start
from jostle.controllers.walker.parameters import SIMBICON, WALKER
from jostle.controllers.walker.people import PEOPLE, Person
from jostle.controllers.walker.walker import Walker
from jostle.errors import BundleError, CommandError
from jostle.maths import quat
from jostle.runtime import (
    Bundle,
    Character,
    load_bundle,
    load_controller,
    load_recording,
    record,
    save_bundle,
    save_controller,
    save_recording,
)
from jostle.skeleton import Pose, Skeleton, build_skeleton
from terminal import said_of


def make_walker(machine: str = "walker") -> Walker:
    space = {"walker": WALKER, "simbicon": SIMBICON}[machine]
    values = space.decode(space.encode(space.initial) + 0.1 * np.random.default_rng(0).normal(size=len(space)))
    return Walker("odd", Person(1.7, 60.0, arms=1.1), machine, values, Ground(0.05, 0.7))


@pytest.mark.parametrize("machine", ["walker", "simbicon"])
def test_a_walker_comes_back_with_the_same_numbers(tmp_path, machine):
    walker = make_walker(machine)
    save_controller(walker, tmp_path / "a.jostle", seed=4, recipe={"speed": 1.3})
    back = load_controller(tmp_path / "a.jostle")
    assert isinstance(back, Walker)
    assert (back.title, back.person, back.machine, back.ground) == ("odd", walker.person, machine, walker.ground)
    np.testing.assert_array_equal(back.values, walker.values)
    bundle = load_bundle(tmp_path / "a.jostle")
    assert (bundle.kind, bundle.seed, bundle.recipe, bundle.sources) == ("walker", 4, {"speed": 1.3}, ())
    save_controller(back, tmp_path / "b.jostle", seed=4, recipe={"speed": 1.3})
    assert (tmp_path / "a.jostle").read_bytes() == (tmp_path / "b.jostle").read_bytes()


def test_a_walker_from_a_file_walks_to_the_same_bits(tmp_path):
    walker = make_walker()
    save_controller(walker, tmp_path / "a.jostle")
    first, second = (c.step(c.init(Start()), Command()) for c in (walker, load_controller(tmp_path / "a.jostle")))
    np.testing.assert_array_equal(first.moment.simulation, second.moment.simulation)  # type: ignore[attr-defined]


def test_parameters_are_kept_by_name(tmp_path):
    """So that a file can be read, and edited; one that is not there has its usual value."""
    data, arrays = make_walker().pack()
    assert arrays == {}
    assert data["parameters"]["c_trans"] == make_walker().values[WALKER.index["c_trans"]]
    del data["parameters"]["alpha_arm"]
    reordered = dict(sorted(data["parameters"].items(), reverse=True))
    save_bundle(Bundle("walker", data | {"parameters": reordered}, {}), tmp_path / "a.jostle")
    back = load_controller(tmp_path / "a.jostle")
    expected = make_walker().values.copy()
    expected[WALKER.index["alpha_arm"]] = WALKER.initial[WALKER.index["alpha_arm"]]
    np.testing.assert_array_equal(back.values, expected)  # type: ignore[attr-defined]


BAD = {
    "machine": ({"machine": "robot"}, "No kind of walker 'robot'"),
    "parameter": ({"parameters": {"c_wings": 1.0}}, "c_wings"),
    "word": ({"parameters": {"c_trans": "far"}}, "garbles"),
    "list": ({"parameters": [1.0, 2.0]}, "garbles"),
    "tall": ({"person": {"height": 90.0}}, "height"),
    "tail": ({"person": {"tail": 1.0}}, "garbles"),
    "steep": ({"ground": {"slope": 1.5, "friction": 1.0}}, "slope"),
    "slippery": ({"ground": {"slope": 0.0, "friction": -1.0}}, "friction"),
    "flat": ({"ground": 3}, "garbles"),
}


def test_bad_walkers_get_one_sentence(tmp_path):
    """In a process of its own, for here the types of fields are checked before jostle sees them."""
    data, _ = make_walker().pack()
    for name, (changes, _) in BAD.items():
        save_bundle(Bundle("walker", data | changes, {}), tmp_path / f"{name}.jostle")
    said_by_each = said_of(tmp_path / f"{name}.jostle" for name in BAD)
    for said, (name, (_, sentence)) in zip(said_by_each, BAD.items(), strict=True):
        assert f"{name}.jostle" in said
        assert sentence in said


def test_a_walker_without_parameters_is_refused(tmp_path):
    data, _ = make_walker().pack()
    del data["machine"]
    save_bundle(Bundle("walker", data, {}), tmp_path / "a.jostle")
    with pytest.raises(BundleError, match="lacks or garbles 'machine'"):
        load_controller(tmp_path / "a.jostle")


POINT = build_skeleton(["Hips"], [-1], np.array([[0.0, 0.0, 1.0]]), ends=[])


@dataclass(frozen=True, eq=False)
class Dial:
    """Steps ten times a second and remembers what its one setting was set to."""

    heard: list[dict[str, float]] = field(default_factory=list)
    dt: float = 0.1
    skeleton: Skeleton = POINT
    name = "dial"
    supports = frozenset({"settings"})
    settings = (Setting("volume", "Volume", 0.0, 11.0, 5.0, "dB"),)

    @dataclass(frozen=True, eq=False)
    class State:
        pose: Pose
        time: float

    def init(self, start: Start) -> State:
        return self.State(Pose(np.array([0.0, 0.0, 1.0]), quat.identity((1,))), 0.0)

    def step(self, state: State, command: Command) -> State:
        self.heard.append(dict(command.settings))
        return replace(state, time=state.time + self.dt)


def test_a_setting_reaches_a_controller_once_at_its_next_step():
    """Also when it comes between two steps; of two that come, the later counts."""
    dial = Dial()
    character = Character(dial, rate=60.0)
    state = character.step(character.init(), Command(settings={"volume": 1.0}))
    assert dial.heard == [{"volume": 1.0}]
    state = character.step(state, Command(settings={"volume": 2.0}))
    state = character.step(state, Command(settings={"volume": 3.0}))
    for _ in range(12):
        state = character.step(state)
    assert dial.heard == [{"volume": 1.0}, {"volume": 3.0}, {}]


@pytest.mark.parametrize(("given", "sentence"), [({"treble": 1.0}, "treble"), ({"volume": 12.0}, "0 and 11 dB")])
def test_a_character_refuses_settings_that_make_no_sense(given, sentence):
    character = Character(Dial())
    with pytest.raises(CommandError, match=sentence):
        character.step(character.init(), Command(settings=given))


def test_a_character_has_the_walkers_own_body():
    walker = Walker("tall", PEOPLE["tall"], "walker", WALKER.initial)
    assert Character(walker).body.total_mass == pytest.approx(79.0)
    assert Character(walker, mass=50.0).body.total_mass == pytest.approx(50.0)


def test_a_recording_of_a_walker_tells_what_happened(tmp_path):
    walker = Walker("stocky", PEOPLE["stocky"], "walker", WALKER.initial)
    push = Push("head", np.array([50.0, 0.0, 0.0]), 0.1)

    def command(time: float) -> Command:
        return Command(settings={"slope": 1.0}, pushes=(push,)) if time == 0.0 else Command()

    save_recording(record(Character(walker), 0.5, command), tmp_path / "run.bvh")
    run = load_recording(tmp_path / "run.bvh")
    assert set(run.contacts) == {"left_foot", "right_foot"}
    assert {"speed", "com_height", "fallen", "slope", "friction", "floor"} <= set(run.quality)
    np.testing.assert_allclose(run.quality["slope"][[0, -1]], [0.0, 1.0])
    assert run.pushes[0].push.part == "head"
    assert np.degrees(run.floors[-1].slope) == pytest.approx(1.0)
    assert json.loads((tmp_path / "run.json").read_text())["pushes"][0]["duration"] == 0.1
