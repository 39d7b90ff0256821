"""Gaussian-process models of motion: the only door to jax."""
