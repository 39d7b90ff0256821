"""The papers' tables, measured: one experiment a name, each giving a `Report` with our figures beside the paper's."""

from jostle.evaluate.experiments import EXPERIMENTS, Request, evaluate
from jostle.evaluate.report import Report

__all__ = ["EXPERIMENTS", "Report", "Request", "evaluate"]
