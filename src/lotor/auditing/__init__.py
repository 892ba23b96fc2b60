"""Attacks on recorded views, held against what a form says that it leaks."""
