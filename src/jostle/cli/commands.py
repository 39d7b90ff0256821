"""The commands, by name."""

from __future__ import annotations

from tyro.extras import SubcommandApp

from jostle import __version__
from jostle.cli.character import check as check_character
from jostle.cli.clips import check, info, travel, turn
from jostle.cli.common import run
from jostle.cli.convert import convert
from jostle.cli.evaluate import evaluate
from jostle.cli.fit import fit
from jostle.cli.graph import build as build_graph
from jostle.cli.model import info as model_info
from jostle.cli.model import list_models, plot, predict
from jostle.cli.policy import join, train
from jostle.cli.policy import plot as plot_values
from jostle.cli.push import push
from jostle.cli.show import demo, render, view
from jostle.cli.walk import optimise, parameters, record

_ABOUT = "Responsive characters from a handful of clips."


def build_app() -> SubcommandApp:
    clips = SubcommandApp()
    clips.command(name="info")(info)
    for command in (check, travel, turn):
        clips.command(name=command.__name__)(command)
    walk = SubcommandApp()
    for command in (optimise, record, parameters):
        walk.command(name=command.__name__)(command)
    app = SubcommandApp()
    app.command(walk, name="walk", help="Make simulated walkers and use them: optimise, record, parameters.")
    model = SubcommandApp()
    model.command(name="list")(list_models)
    model.command(name="info")(model_info)
    model.command(name="check")(check_character)
    for command in (plot, predict):
        model.command(name=command.__name__)(command)
    app.command(model, name="model", help="Ask motion models: list, info, check, plot, predict.")
    policy = SubcommandApp()
    policy.command(name="train")(train)
    policy.command(name="plot")(plot_values)
    policy.command(name="join")(join)
    app.command(policy, name="policy", help="Characters that are steered, from a few clips: train, plot, join.")
    graph = SubcommandApp()
    graph.command(name="build")(build_graph)
    app.command(graph, name="graph", help="Characters that answer pushes with recorded responses: build.")
    app.command(clips, name="clips", help="Ask clips about themselves, and bend them: info, check, travel, turn.")
    for command in (fit, push, convert, view, render, demo, evaluate):
        app.command(name=command.__name__)(command)
    return app


def run_commands(given: list[str]) -> None:
    if given == ["--version"]:
        print(f"jostle {__version__}")
        return
    run(lambda: build_app().cli(prog="jostle", description=_ABOUT, args=given or ["--help"]))
