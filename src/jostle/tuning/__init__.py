"""Experiments with CMA-ES: objectives, recipes, and runs that can be interrupted."""
