"""Garbled circuits between two parties of a run, made ahead of time in batches.

One party garbles, the other evaluates. A protocol says which circuit it is, how many turns there
are, whose the inputs are and who reads the outputs. What is exchanged and when, and how a restarted
party repeats it, stands here.
"""
