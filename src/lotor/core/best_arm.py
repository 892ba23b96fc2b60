"""The arm that a policy takes for the best one."""

import msgspec


class BestArm(msgspec.Struct, frozen=True):
    """Which arm it is, and how sure that is.

    The chance that another arm is better, by more than the policy tolerates, is at most
    1 - `confidence`. `sure` says whether that is as much as the policy was asked for.
    """

    arm: int
    confidence: float
    sure: bool
