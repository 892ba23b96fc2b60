"""Runs without a dealer that the tests share."""

from collections.abc import Mapping

import numpy as np

import lotor
from lotor.core.fixed_point import Floats
from lotor.crypto.sharing import to_floats
from lotor.protocols.party import Party
from lotor.protocols.ppcb.shape import INNER_BITS
from lotor.protocols.ppcb.shared.server import PPCBSharedServer
from lotor.protocols.ppcb.terms import FIRST, SECOND

SERVERS = (FIRST, SECOND)


def some_arms(seed: int, *, rounds: int, k: int, d: int) -> lotor.ContextualArms:
    return lotor.ContextualArms.lookalike(rounds=rounds, arms=k, d=d, seed=seed)


def server_of(parties: Mapping[str, Party], name: str) -> PPCBSharedServer:
    party = parties[name]
    assert isinstance(party, PPCBSharedServer)
    return party


def weights_of(parties: Mapping[str, Party]) -> Floats:
    """What both servers have learnt: only both together can say."""
    servers = [server_of(parties, name) for name in SERVERS]
    shape = servers[0]._shape
    total = np.zeros(1, np.uint64)
    for server in servers:
        total = total + server._model.table.share[:, shape.entries :]
    return to_floats(total, shape.bits + INNER_BITS)
