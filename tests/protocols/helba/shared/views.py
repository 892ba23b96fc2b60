"""What views of both forms on shares have in common."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

import lotor
from helpers import Outcome, run_openly
from lotor.core.effects import Message
from lotor.core.fixed_point import Floats
from lotor.environments import LinearContexts
from lotor.protocols.protections import Protection
from protocols.helba.shared.stage import contexts

BUDGET, SEED = 30, 3
# A mean of so many uniform bits is further away once in 10^9 times.
SIGMAS = 6.2


def world(kind: str) -> LinearContexts:
    """Contexts that are all 0, or as long as allowed: nothing could differ more."""
    if kind == "zero":
        return LinearContexts(np.zeros((BUDGET, 2, 2)), [0.1, 0.1], noise_sd=0.0)
    if kind == "short":
        return LinearContexts(np.full((BUDGET, 2, 2), 0.125), [0.0, 0.0])
    if kind == "long":
        return LinearContexts(np.full((BUDGET, 2, 2), -3.5), [0.0, 0.0])
    table = contexts(SEED, rounds=BUDGET, arms=2, d=2, longest=5.5, kind="longest")
    return LinearContexts(table, [0.1, 0.1])


def bits_sent(outcome: Outcome, sender: str, kind: type) -> Floats:
    """All bits of what carries secrets; of words of 61 bits the upper three are always 0."""
    found = []
    for one in outcome.recorder.exchanges:
        if one.sender == sender and type(one.message) is kind:
            data = getattr(one.message, one.message.__struct_fields__[1])
            words = "words" in one.message.__struct_fields__
            rows = np.frombuffer(data, np.uint8).reshape(-1, 8 if words else 1)
            bits = np.unpackbits(rows, axis=1, bitorder="little")
            found.append(bits[:, :61].ravel() if words else bits.ravel())
    return np.concatenate(found).astype(np.float64)


def check_lengths(outcome: Outcome, *of_batches: type[Message]) -> None:
    """Messages have one length each; those of a batch that is not full are shorter, which the terms
    say."""
    sizes: defaultdict[type, set[int]] = defaultdict(set)
    for one in outcome.recorder.exchanges:
        sizes[type(one.message)].add(len(one.payload))
    for kind, lengths in sizes.items():
        assert len(lengths) <= (2 if kind in of_batches else 1), kind


def check_two_worlds(helba: lotor.Helba) -> None:
    """Other contexts change no length; the range of rewards, which is public, is the same."""
    first, second = (
        [
            (one.sender, one.to, type(one.message), len(one.payload))
            for one in run_openly(helba, world(kind), budget=6, seed=SEED).recorder.exchanges
        ]
        for kind in ("short", "long")
    )
    assert first == second


def check_accounts(
    outcome: Outcome, accounts: Mapping[type[Message], Mapping[str, Protection]]
) -> None:
    """Every message that was sent is in the table, with all its fields, and no other one is."""
    for one in outcome.recorder.exchanges:
        assert set(accounts[type(one.message)]) == set(one.message.__struct_fields__)
    assert set(accounts) == {type(one.message) for one in outcome.recorder.exchanges}
