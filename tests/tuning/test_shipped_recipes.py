"""What is shipped can be made again: every walker has the recipe that it was made with, and that one has a start."""

import pytest

from jostle.assets import walker_folder, walker_names
from jostle.controllers.walker.parameters import SPACES
from jostle.runtime import load_bundle, load_controller
from jostle.tuning.recipe import read_recipe, recipe_from
from jostle.tuning.schema import Where

WALKERS = sorted(
    path.relative_to(walker_folder()).with_suffix("").as_posix() for path in walker_folder().rglob("*.jostle")
)
ASKED = ("long_arm", "thin", "short", "stocky", "overweight", "tall", "simbicon", "uphill", "ice", "slow", "fast")


def test_all_that_were_asked_for_are_there():
    assert set(ASKED) <= set(walker_names())


@pytest.mark.parametrize("name", WALKERS)
def test_its_recipe_lies_beside_it(name):
    recipe = read_recipe(walker_folder() / f"{name}.toml")
    kept = load_bundle(walker_folder() / f"{name}.jostle")
    assert recipe_from(kept.recipe, Where("the bundle")) == recipe
    assert recipe.name == name.rpartition("/")[2]


@pytest.mark.parametrize("name", WALKERS)
def test_it_is_what_its_recipe_makes(name):
    recipe, walker = read_recipe(walker_folder() / f"{name}.toml"), load_controller(walker_folder() / f"{name}.jostle")
    assert (walker.person, walker.machine, walker.ground) == (recipe.person, recipe.machine, recipe.stages[-1].ground)
    assert walker.values.shape == (len(SPACES[recipe.machine]),)


@pytest.mark.parametrize("name", WALKERS)
def test_its_recipe_goes_back_to_the_initial_parameters(name):
    """Those of a blend all do."""
    recipes = {walker_folder() / f"{name}.toml"}
    for _ in WALKERS:  # nobody is met twice on the way
        starts = {path: read_recipe(path).start for path in recipes}
        names = [(p, n) for p, s in starts.items() if s != "initial" for n in ([s] if isinstance(s, str) else s)]
        recipes = {(path.parent / own).with_suffix(".toml").resolve() for path, own in names}
        if not recipes:
            return
        assert all(path.is_file() for path in recipes)
    raise AssertionError("it goes round in circles")
