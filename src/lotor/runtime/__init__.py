"""Drives parties: in one process, with costs and views recorded."""

from lotor.core.result import PartyCost, Result
from lotor.core.views import Exchange
from lotor.runtime.recorder import Recorder
from lotor.runtime.run import run

__all__ = ["Exchange", "PartyCost", "Recorder", "Result", "run"]
