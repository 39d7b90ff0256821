"""`walker`: a simulated person that walks by a state machine of servos, optimised to look like one (Wang 2010, ch. 3).

Bodies (`people`), what is optimised (`parameters`), the batched controller (`walk`), runs of it (`trace`) and what they
show (`gait`); one of them live, as a controller (`walker`, its simulation in `world`, its way in `course`). SIMBICON is
the same machine with other settings.
"""
