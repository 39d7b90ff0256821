"""Recorded answers to pushes, deformed to the push that came (Arikan, Forsyth and O'Brien 2005)."""
