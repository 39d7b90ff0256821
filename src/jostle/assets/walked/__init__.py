"""Clips that a simulated walker walked: `python -m jostle.assets.walked FOLDER --walker walker:NAME` makes them.

Normal walks and turns; walks that are pushed from all around, with the true force beside them; and other pushes, held
out so that what was learned from the first can be judged by them. The same walker and seed give the same files.
"""
