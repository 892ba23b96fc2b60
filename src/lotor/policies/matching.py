"""Probability matching as an argmax: each arm adds its own Gumbel draw to the log of its weight."""

# Draws.uniform() lies in [2^-53, 1 - 2^-53], so Gumbel draws lie in [-3.61, 36.74].
ABOVE_LOWEST_GUMBEL = 4.0
