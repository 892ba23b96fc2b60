"""Federations on this machine, every party a process: for demonstrations, tests and benchmarks."""

from lotor.sandbox.federation import Federation

__all__ = ["Federation"]
