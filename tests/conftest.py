"""Settings and helpers for all tests."""

from hypothesis import settings

# Machines are noisy: a slow example is no failure.
settings.register_profile("lotor", deadline=None)
settings.load_profile("lotor")
