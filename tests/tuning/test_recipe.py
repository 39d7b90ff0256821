"""Recipes are read strictly: what is not understood is said, with its line."""

import json
import math
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jostle.controllers.walker.people import PEOPLE
from jostle.errors import FormatError, JostleError
from jostle.tuning.chance import Chance
from jostle.tuning.recipe import Pushes, Recipe, Stage, read_recipe, recipe_from
from jostle.tuning.schema import Where

UPHILL = """
name = "uphill"
body = "short"
start = "walker:stocky"
seed = 7

[[stage]]
slope_deg = 3
step = 0.65
generations = 60
weights = {stance = 2}

[[stage]]
slope_deg = 6
seconds = 8

[[stage]]
pushes = {force = 100, every = 2}
timestep_ms = [2, 1]
without = ["ratio", "ang"]
"""


def read(tmp_path, text):
    path = tmp_path / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return read_recipe(path)


def test_a_stage_keeps_what_the_one_before_said(tmp_path):
    recipe = read(tmp_path, UPHILL)
    first, second, third = recipe.stages
    assert recipe.person == PEOPLE["short"]
    assert (first.slope_deg, first.seconds) == (3.0, (4.0, 6.0, 10.0))
    assert (second.slope_deg, second.seconds, second.step, second.generations) == (6.0, (8.0,), 0.65, 60)
    assert third.pushes == Pushes(100.0, 2.0)
    assert (second.timestep_ms, third.timestep_ms) == ((2.0,), (2.0, 1.0))
    assert third.ground.slope == pytest.approx(math.radians(6))
    assert third.goal.weights == {"stance": 2.0, "ratio": 0.0, "ang": 0.0}


LIFTED = """
[[stage]]
speed = 1.5
step = 0.7
pushes = {force = [10, 20]}
hold = {c_trans = 0.1}
[[stage]]
speed = "any"
step = "any"
pushes = "none"
hold = {}
"""


def test_an_empty_recipe_walks_on_flat_ground(tmp_path):
    assert read(tmp_path, "# nothing is asked\n") == Recipe()


def test_what_a_bundle_keeps_reads_as_the_same_recipe(tmp_path):
    recipe = read(tmp_path, UPHILL + "\n[[stage]]\nfastest = true\n[[stage]]\nspeed = 2\n")
    assert recipe_from(recipe.to_dict(), Where("a bundle")) == recipe
    lifted = read(tmp_path, LIFTED)
    assert recipe_from(lifted.to_dict(), Where("a bundle")) == lifted
    own = read(tmp_path, "body = {height = 1.9, mass = 60, legs = 1.1}")
    assert recipe_from(own.to_dict(), Where("a bundle")) == own


def test_a_speed_and_the_fastest_walk_replace_each_other(tmp_path):
    text = "[[stage]]\nspeed = 1.5\n[[stage]]\nfastest = true\n[[stage]]\nspeed = 2\n"
    assert [(s.speed, s.fastest) for s in read(tmp_path, text).stages] == [(1.5, False), (None, True), (2.0, False)]


def test_a_stage_can_lift_what_was_asked_before(tmp_path):
    first, second = read(tmp_path, LIFTED).stages
    assert (first.speed, first.step, first.pushes) == (1.5, 0.7, Pushes((10.0, 20.0)))
    assert (second.speed, second.step, second.pushes) == (None, None, None)
    assert (first.hold, second.hold) == ({"c_trans": 0.1}, {})


def test_pushes_and_chance_take_each_others_place(tmp_path):
    text = "[[stage]]\npushes = {force = 9}\n[[stage]]\nchance = {force = 50, trials = 3}\n[[stage]]\n"
    text += '[[stage]]\npushes = {force = 7}\n[[stage]]\nchance = "none"\npushes = "none"\n'
    stages = read(tmp_path, text).stages
    assert [stage.pushes and stage.pushes.force for stage in stages] == [9.0, None, None, 7.0, None]
    assert [stage.chance and stage.chance.force for stage in stages] == [None, 50.0, 50.0, None, None]
    assert stages[1].chance == Chance(trials=3, force=50.0)


def test_another_objective_begins_with_its_own_weights(tmp_path):
    text = '[[stage]]\nweights = {vel = 1}\n[[stage]]\nobjective = "return"\n[[stage]]\nweights = {facing = 2}\n'
    recipe = read(tmp_path, text)
    assert [(s.goal.objective, dict(s.goal.weights)) for s in recipe.stages] == [
        ("energy", {"vel": 1.0}), ("return", {}), ("return", {"facing": 2.0}),
    ]  # fmt: skip
    assert recipe_from(recipe.to_dict(), Where("a bundle")) == recipe


def test_a_walker_to_take_over_from_stands_under_its_name_or_with_its_parameters(tmp_path):
    named = read(tmp_path, '[[stage]]\nchance = {after = "fast.jostle", switch = [0.5, 1]}\n')
    given = read(tmp_path, "[[stage]]\nchance = {after = {c_trans = 0.1}}\n")
    assert [r.stages[0].chance and r.stages[0].chance.after for r in (named, given)] == [
        "fast.jostle",
        {"c_trans": 0.1},
    ]
    for recipe in (named, given):
        assert recipe_from(json.loads(json.dumps(recipe.to_dict())), Where("a bundle")) == recipe


def test_a_beam_ends_where_a_stage_says_so(tmp_path):
    recipe = read(tmp_path, '[[stage]]\nbeam = 0.5\n[[stage]]\nfriction = 0.4\n[[stage]]\nbeam = "none"\n')
    assert [stage.ground.width for stage in recipe.stages] == [0.5, 0.5, 0.0]
    assert recipe_from(recipe.to_dict(), Where("a bundle")) == recipe


def test_a_start_may_be_a_blend(tmp_path):
    recipe = read(tmp_path, 'start = {"walker:stocky" = 1.5, "other.jostle" = -0.5}')
    assert recipe.start == {"walker:stocky": 1.5, "other.jostle": -0.5}
    assert recipe_from(recipe.to_dict(), Where("a bundle")) == recipe


def test_a_small_body_may_be_lower_before_it_has_fallen(tmp_path):
    assert read(tmp_path, "body = {height = 1.2}").person.fallen < 0.55  # its centre of mass stands at about 0.66 m
    assert read(tmp_path, "body = {height = 1.8}").person.fallen == 0.7


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("sead = 1", 1, "Did you mean 'seed'?"),
        ('name = "a"\npopulation = 2', 2, "a whole number from 4 to 4096, not 2"),
        ("population = 10.5", 1, "a whole number"),
        ("seed = true", 1, "not true"),
        ("sigma = nan", 1, "a number from"),
        ('body = "stoky"', 1, '"stocky"'),
        ("body = {height = 9}", 1, "between 0.5 and 2.5"),
        ("body = {hight = 2}", 1, "Did you mean 'height'?"),
        ('start = "walkers/mine"', 1, "walker:NAME"),
        ('start = {"mine" = 1}', 1, "'mine' of the start is neither"),
        ('start = {"a.jostle" = "half", "b.jostle" = 0.5}', 1, "'a.jostle' of the start must be a number from -2 to 3"),
        ('start = {"a.jostle" = 0.5, "b.jostle" = 0.4}', 1, "must make 1 together, not 0.9"),
        ("start = {}", 1, "must make 1 together, not 0"),
        ('name = "../x"', 1, "without /"),
        ("[[stage]]\n[[stage]]\nslope = 3", 3, "Did you mean 'slope_deg'?"),
        ("[[stage]]\nfriction = 0.5\n[[stage]]\nfriction = 5", 4, "from 0.05 to 2, not 5"),
        ("[[stage]]\nseconds = [6, 4]", 2, "must grow"),
        ("[[stage]]\nseconds = []", 2, "a list"),
        ("[[stage]]\nweights = {hed = 1}", 2, "a table of user, vel"),
        ('[[stage]]\nwithout = ["fail"]', 2, '"ratio"'),
        ("[[stage]]\npushes = {every = 3}", 2, "'force' is missing"),
        ("[[stage]]\npushes = {force = 9, every = 1, duration = 1}", 2, "leave a pause"),
        ("[[stage]]\npushes = {force = 9, side = 1}", 2, "No key of the pushes of stage 1 'side'"),
        ("[[stage]]\n[stage.pushes]\nforce = -1", 3, "from 0 to 2000, not -1"),
        ("[[stage]]\nspeed = 1\nfastest = true", 3, "keep one of them"),
        ("stage = 3", 1, "a list"),
        ('[parameters]\n"kp0.lhip" = 250', 1, "Did you mean 'kp0.lhip_"),
        ('[parameters]\n"kp0.lhip_y" = -1', 1, "from 0.5 to 5000, not -1"),
        ('[parameters]\n"c_trans" = "far"', 1, "from -0.3 to 0.5, not far"),
        ("[[stage]]\nchance = {force = -1}", 2, "from 0 to 2000, not -1"),
        ("[[stage]]\nchance = {gust = 1}", 2, "Did you mean 'gusts'?"),
        ("[[stage]]\nbeam = 0.01", 2, "from 0.2 to 5"),
        ("[[stage]]\nbeam = 0.5\nchance = {slope_deg = [0, 3]}", 3, "which chance cannot tilt"),
        ("[[stage]]\nchance = {switch = [2, 1]}", 2, "the earliest and the latest time"),
        ('[[stage]]\nchance = {after = "mine"}', 2, "the path of a .jostle file"),
        ("[[stage]]\nchance = {after = {c_tran = 1}}", 2, "Did you mean 'c_trans'?"),
        ("[[stage]]\nchance = {force = 9}\npushes = {force = 9}", 2, "keep one of them"),
        ('[[stage]]\nobjective = "return"\nweights = {vel = 1}', 3, "No term of the return 'vel'"),
        ("[[stage]]\nhold = {c_trans = 9}", 2, "from -0.3 to 0.5, not 9"),
        ("[[stage]]\nhold = {c_tran = 0}", 2, "Did you mean 'c_trans'?"),
        ("seed = " + "9" * 5000, None, "no TOML"),
        ("seed = 1979-05-27", 1, "a whole number"),
        ("name = \n", None, "line 1"),
        ("a = 1\na = 2\n", None, "line 2"),
    ],
)
def test_an_error_names_the_line_and_what_is_allowed(tmp_path, text, line, said):
    with pytest.raises(FormatError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert caught.value.line == line
    assert "\n" not in str(caught.value)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["stocky", "ratio"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["force", "height", "head"]), inner),
    max_leaves=4,
)
STAGE = st.dictionaries(st.sampled_from([field.name for field in fields(Stage)]), PLAIN, max_size=3)
TOP = st.sampled_from(["name", "body", "machine", "seed", "sigma", "population", "start", "other"])


@given(st.dictionaries(TOP, PLAIN, max_size=3), st.lists(STAGE, max_size=3))
def test_whatever_is_given_is_a_recipe_or_one_sentence(top, stages):
    try:
        recipe = recipe_from({**top, "stage": stages}, Where("x.toml"))
    except FormatError:
        return
    assert recipe_from(recipe.to_dict(), Where("x.toml")) == recipe


def test_other_files_are_no_recipes(tmp_path):
    (tmp_path / "recipe.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(JostleError, match="UTF-8"):
        read_recipe(tmp_path / "recipe.toml")
    with pytest.raises(JostleError, match="no such file"):
        read_recipe(tmp_path / "none.toml")


def test_the_objective_of_a_stage_is_the_thesis_s_by_default():
    goal = Stage().goal
    assert (goal.speed, goal.step, dict(goal.weights), goal.fastest) == (None, None, {}, False)
