"""`walker`: a simulated person that walks by a state machine of servos, optimised to look like one (Wang 2010, ch. 3).

Bodies (`people`), what is optimised (`parameters`), the batched controller (`walk`), runs of it (`trace`) and what they
show (`gait`). SIMBICON is the same machine with other settings.
"""
