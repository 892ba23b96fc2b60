"""Policies that take the arm that may pay most, for contexts that change with the round."""

from lotor.policies.optimistic.base import OptimisticPolicy, Width
from lotor.policies.optimistic.batched_oful import BatchedOFUL, Index, Touch
from lotor.policies.optimistic.model import (
    Batch,
    OptimisticModel,
    OptimisticSnapshot,
    log_determinant,
)
from lotor.policies.optimistic.oful import OFUL
from lotor.policies.optimistic.rsoful import RSOFUL
from lotor.policies.optimistic.rsofultr import RSOFULTR

__all__ = [
    "OFUL",
    "RSOFUL",
    "RSOFULTR",
    "Batch",
    "BatchedOFUL",
    "Index",
    "OptimisticModel",
    "OptimisticPolicy",
    "OptimisticSnapshot",
    "Touch",
    "Width",
    "log_determinant",
]
