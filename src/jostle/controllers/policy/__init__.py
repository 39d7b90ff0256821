"""`policy`: agile task control from a few seconds of motion (Levine et al. 2012)."""
