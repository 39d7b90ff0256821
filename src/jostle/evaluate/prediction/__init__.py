"""`evaluate prediction`: tables 6.1 and 6.2 of Wang 2010."""
