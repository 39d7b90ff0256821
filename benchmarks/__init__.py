"""Speed beside peers or beside our own slower path, as ratios in one run: `make bench`."""
