"""Chapter 4 of Wang 2010, measured: walkers in a world that is not known."""
