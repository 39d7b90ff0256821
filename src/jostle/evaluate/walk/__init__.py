"""Chapter 3 of Wang 2010, measured: walkers alone, pushed, and beside people."""
