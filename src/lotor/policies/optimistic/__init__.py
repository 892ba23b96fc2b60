"""Policies that take the arm that may pay most, for contexts that change with the round."""

from lotor.policies.optimistic.base import OptimisticPolicy, Width
from lotor.policies.optimistic.batched_oful import BatchedOFUL, Index, Touch
from lotor.policies.optimistic.grid import Grid, WholeIndex
from lotor.policies.optimistic.model import (
    Batch,
    OptimisticModel,
    OptimisticSnapshot,
    log_determinant,
)
from lotor.policies.optimistic.oful import OFUL
from lotor.policies.optimistic.rsoful import RSOFUL
from lotor.policies.optimistic.rsofultr import RSOFULTR
from lotor.policies.optimistic.whole_model import WholeModel
from lotor.policies.optimistic.windows import IndexWindows

__all__ = [
    "OFUL",
    "RSOFUL",
    "RSOFULTR",
    "Batch",
    "BatchedOFUL",
    "Grid",
    "Index",
    "IndexWindows",
    "OptimisticModel",
    "OptimisticPolicy",
    "OptimisticSnapshot",
    "Touch",
    "WholeIndex",
    "WholeModel",
    "Width",
    "log_determinant",
]
