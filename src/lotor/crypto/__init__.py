"""Primitives, each small, each checked against known answers."""
