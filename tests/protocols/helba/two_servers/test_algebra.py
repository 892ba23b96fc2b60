"""How sums under pads become shares of a model, and those become shares of scores."""

import secrets

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lotor
from lotor.core.errors import ProtocolError
from lotor.crypto.residues import Modulus, Numbers, Residues, ResidueSource, multiplied
from lotor.policies.optimistic import BatchedOFUL, Grid, WholeModel
from lotor.policies.optimistic.whole_model import dot, times
from lotor.protocols.helba.shared.pads import first_numbers, unpacked, update_numbers
from lotor.protocols.helba.two_servers.algebra import HelbaModelShare, HiddenModel, HidingModel
from lotor.protocols.helba.two_servers.form import HelbaTwoServers
from lotor.protocols.helba.two_servers.pads import OwnPads, padded_contexts
from lotor.protocols.helba.two_servers.setting import HelbaTwoServersSetting
from protocols.helba.shared.stage import POLICIES, QUADRATIC, contexts

seeds = st.integers(0, 2**32)
USERS = 3


def setting_of(policy: BatchedOFUL, *, arms: int, d: int) -> HelbaTwoServersSetting:
    world = lotor.LinearContexts.random(1, arms=arms, d=d, length=policy.L, seed=1)
    helba = lotor.Helba(policy, servers=2, users=USERS)
    return HelbaTwoServers().costs(helba, world, 130).setting


def split(whole: Numbers, modulus: Modulus) -> tuple[Residues, Residues]:
    """Shares as transfers would give them."""
    key = secrets.token_bytes(32)
    mine = ResidueSource(key, modulus).numbers(0, 0, whole.size).reshape(whole.shape)
    return modulus.residues(mine), modulus.residues(whole - mine)


class TwoServers:
    """Both servers after some rounds of several users."""

    def __init__(self, policy: BatchedOFUL, seed: int, *, d: int, rounds: int) -> None:
        self.setting = setting = setting_of(policy, arms=3, d=d)
        self.users = [OwnPads(secrets.token_bytes(32), setting) for _ in range(USERS)]
        self.model = WholeModel(policy, Grid(), d)
        self.start = rounds + 1
        modulus = setting.modulus
        self.sums = modulus.residues(first_numbers(setting))
        self.pads = modulus.residues([0] * setting.sums)
        table = contexts(seed, rounds=rounds, arms=1, d=d, longest=policy.L)
        for t, (x,) in enumerate(table, start=1):
            reward = (seed * t) % 9 - 4.0
            self.model.update(x, reward)
            (row,) = Grid().contexts(x[np.newaxis])
            pad = self.users[t % USERS].update(t)
            update = update_numbers(setting, row, Grid().reward(reward)) + pad
            self.sums = modulus.add(self.sums, modulus.residues(update))
            self.pads = modulus.add(self.pads, modulus.residues(pad))
        self.model._estimate()
        self.hiding = HidingModel(secrets.token_bytes(32), setting, self.start)

    def hidden(self, sums: Residues) -> HiddenModel:
        modulus = self.setting.modulus
        pads = unpacked(modulus.whole(self.pads), self.setting)
        whole = (pads[0] @ modulus.whole(self.hiding.estimate_numbers()).T).T % modulus.product
        of_pads, of_server = split(whole, modulus)
        covered = self.hiding.covered(sums, of_server)
        found, _ = HiddenModel.opened(self.setting, self.start, covered, pads, of_pads)
        return found

    def shares(self) -> tuple[HelbaModelShare, HelbaModelShare]:
        """The server's and the pad server's."""
        numbers, vectors = self.hiding.model_numbers(), self.hidden(self.sums).model_vectors()
        both: tuple[list[Residues], list[Residues]] = ([], [])
        for call, a, b in zip(
            self.setting.model_products(self.start), numbers, vectors, strict=True
        ):
            modulus = call.modulus
            assert (a.shape[:2], b.shape[:2]) == (call.shape, (call.shape[1], call.length))
            whole = multiplied(modulus.whole(a), modulus.whole(b), modulus)
            for part, share in zip(both, split(whole, modulus), strict=True):
                part.append(share)
        first, second = (HelbaModelShare(self.setting, self.start, part) for part in both)
        return first, second


@settings(max_examples=40, deadline=None)
@given(seeds, st.sampled_from(POLICIES), st.integers(1, 4), st.integers(0, 9))
def test_models_and_contexts_give_the_numbers_of_plain(
    seed: int, policy: BatchedOFUL, d: int, rounds: int
) -> None:
    servers = TwoServers(policy, seed, d=d, rounds=rounds)
    setting, index, t = servers.setting, servers.setting.index, rounds + 1
    (table,) = contexts(seed + 1, rounds=1, arms=3, d=d, longest=policy.L)
    rows, model = Grid().contexts(table), servers.model
    pads = servers.users[0].contexts(t)
    padded = padded_contexts(setting, [setting.features(row, t, t) for row in rows], pads)
    found = []
    for modulus, c, pad, m1, m2 in zip(
        setting.score_moduli,
        padded,
        pads,
        *(share.weights for share in servers.shares()),
        strict=True,
    ):
        features = modulus.whole(c) - pad
        total = features @ modulus.whole(modulus.add(m1, m2))
        found.append(modulus.signed(modulus.residues(total)).tolist())
    a = [dot(row, model._weights) for row in rows]
    z = [dot(row, times(model._inverse, row)) for row in rows]
    if index.rooted:
        b, e = index.squares(t, t)
        det = model._scale
        assert found == [a, [(b * each + e * det) * det for each in z]]
    else:
        q = index.factor(t, t)
        assert found == [[one + q * other for one, other in zip(a, z, strict=True)]]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_share_is_read_as_it_was_written(policy: BatchedOFUL) -> None:
    share, _ = TwoServers(policy, 3, d=2, rounds=2).shares()
    again = HelbaModelShare.from_bytes(share._setting, share.start, share.to_bytes())
    for one, other in zip(share.weights, again.weights, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("change", ["lost", "doubled"])
def test_an_update_that_was_not_counted_once_stops_the_run(change: str) -> None:
    servers = TwoServers(QUADRATIC, 5, d=2, rounds=4)
    modulus = servers.setting.modulus
    numbers = update_numbers(servers.setting, [1, 2], 3) + servers.users[1].update(4)
    moved = modulus.subtract if change == "lost" else modulus.add
    with pytest.raises(ProtocolError, match="has not summed each of 5 updates once"):
        servers.hidden(moved(servers.sums, modulus.residues(numbers)))


def test_pads_are_used_once_and_are_another_user_s_own() -> None:
    setting = setting_of(POLICIES[1], arms=3, d=2)
    words: list[int] = []
    for _ in range(2):
        pads = OwnPads(secrets.token_bytes(32), setting)
        for t in range(1, 6):
            words += [int(n) for n in pads.update(t)]
            words += [int(n) for part in pads.contexts(t) for n in part.ravel()]
        words += [int(n) for n in pads.total()]
    assert len(set(words)) == len(words)


def test_nothing_secret_is_in_a_repr() -> None:
    servers = TwoServers(QUADRATIC, 5, d=2, rounds=2)
    assert repr(servers.users[0]) == "<OwnPads>"
    assert repr(servers.shares()[0]) == "<HelbaModelShare of the batch from round 3>"
