"""`evaluate response`: characters that answer pushes from a few examples (Ye & Liu 2010)."""
