"""What the customer is told beyond the total: what it learns then, and whether counts add up."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lotor.core.errors import ProtocolError
from lotor.protocols.leakage import Finding
from lotor.protocols.revealing import BEST, COUNTS, MOST_PULLED, SENTENCES

BEST_ARM, ARM_COUNTS = "best arm", "counts of arms"
"""Secrets, as attacks call them."""

_TELLS: Mapping[str, frozenset[str]] = {
    BEST: frozenset({BEST_ARM}),
    # The arm that was pulled most is the best one, if the policy is any good.
    MOST_PULLED: frozenset({BEST_ARM}),
    COUNTS: frozenset({BEST_ARM, ARM_COUNTS}),
}


def finding_of_customer(usual: Finding, *reveals: str) -> Finding:
    """What it learns in a run that tells it so much, where it `usual`ly learns the total alone."""
    told = " and ".join(SENTENCES[name] for name in reveals)
    return replace(
        usual,
        sees=f"{usual.sees}; {' and '.join(reveals)}, decoded by nobody else",
        measured=f"{usual.measured}; **and {told}**",
        evidence=f"{usual.evidence} What it is told besides is what the owners agreed to.",
        tells=usual.tells.union(*(_TELLS[name] for name in reveals)),
    )


def check_counts(counts: Sequence[int], outcomes: int) -> None:
    """Refuse counts of arms that are not those of the total."""
    if sum(counts) != outcomes:
        raise ProtocolError(
            f"the arms have {sum(counts)} outcomes together, but the total counts {outcomes}: an "
            "owner miscounts, or a message was altered; start a new run"
        )


def the_one(bits: Sequence[int], *, by: str) -> int:
    """Which of all arms it is."""
    if sum(bits) != 1 or max(bits) != 1:
        raise ProtocolError(
            f"what the customer is told names {sum(map(bool, bits))} arms instead of one: {by} "
            "computed something else, or a message was altered; start a new run"
        )
    return bits.index(1)
