"""`evaluate control`: agile control from a few seconds of motion (Levine et al. 2012, section 7)."""
