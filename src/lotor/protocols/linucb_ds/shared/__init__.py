"""LinUCB-DS and SpectralUCB-DS whose Comp learns nothing: BFV ahead of time, then garbled argmaxes.

docs/security/private-linear.md has the steps and the argument.
"""
