"""Attacks on the form with two servers: on each server, and on each with a user's help."""

from typing import ClassVar, TypeVar

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.core.views import Truth, View
from lotor.crypto.derivation import derive_key
from lotor.crypto.garbling import HashKeys
from lotor.crypto.ot import ProductSender
from lotor.crypto.prf import new_key
from lotor.crypto.residues import Numbers, Residues
from lotor.protocols.attack import NOT_TRIED, Attack, Score
from lotor.protocols.helba.form import contexts_of
from lotor.protocols.helba.shared.attacks import (
    beside_random,
    columns_sent,
    fixed_reward,
    gap_of,
    in_halves,
    real_gaps,
    words_sent,
)
from lotor.protocols.helba.shared.pads import unpacked, update_numbers
from lotor.protocols.helba.shared.shares import ChosenShares
from lotor.protocols.helba.shared.wire import from_words, round_place
from lotor.protocols.helba.two_servers.algebra import HiddenModel
from lotor.protocols.helba.two_servers.messages import (
    PaddedEstimate,
    PaddedUpdate,
    RenewalColumns,
    ScoreDifferences,
)
from lotor.protocols.helba.two_servers.pad_server import HelbaTwoServersPadServer
from lotor.protocols.helba.two_servers.pads import OwnPads
from lotor.protocols.helba.two_servers.server import HelbaTwoServersServer
from lotor.protocols.helba.two_servers.setting import RENEWAL_EPOCH, HelbaTwoServersSetting
from lotor.protocols.helba.two_servers.terms import two_servers_terms_from
from lotor.protocols.helba.two_servers.user import HelbaTwoServersUser

P = TypeVar("P")


class OthersUncovered(Attack):
    """Reads what users outside the view told the server, with all keys that somebody in it has.

    Who has none for a user tries its own key, or a fresh one: nothing but noise comes out.
    """

    name: ClassVar[str] = "contexts and rewards of others, uncovered"
    secret: ClassVar[str] = "contexts of others"

    def score(self, view: View, truth: Truth) -> Score:
        setting = _setting(view)
        terms, world = setting.terms, contexts_of(truth.environment)
        pads = {user: OwnPads(_key(view, user), setting) for user in terms.users}
        sent, right, of = words_sent(view, PaddedUpdate), 0, 0
        for t, arm in enumerate(truth.arms[:-1], start=1):
            user = terms.user_of(t)
            if user in view.seats:
                continue
            (x,) = terms.grid.contexts(world.contexts_at(t)[arm][np.newaxis])
            paid = terms.grid.reward(terms.scale.total(fixed_reward(setting, truth, t), 1))
            numbers = update_numbers(setting, x, paid) + pads[user].update(t)
            update = setting.modulus.residues(numbers)
            right += sent.get(round_place(t)) == update.astype("<u8").tobytes()
            of += 1
        return Score(right, of, 0.0)


class GapsFromServerShares(Attack):
    """The server guesses in which rounds the two best indices are closer than in half of them.

    It takes its own shares of scores for the scores. Half of such guesses are right by chance.
    """

    name: ClassVar[str] = "gaps of indices, from the server's shares"
    secret: ClassVar[str] = "gaps"

    def score(self, view: View, truth: Truth) -> Score:
        setting = _setting(view)
        server = _party(view, HelbaTwoServersServer)
        if server is None:
            return NOT_TRIED
        modulus = setting.score_moduli[0]
        key = derive_key(server._memory.evaluator.transfer_key, "chosen shares")
        chosen, told = ChosenShares(key, setting), words_sent(view, ScoreDifferences)
        size = setting.terms.arms * modulus.count * 8
        gaps = []
        for t in range(1, setting.terms.budget + 1):
            difference = from_words(told[round_place(t)][:size], modulus, "server")
            share = modulus.add(difference, modulus.residues(chosen._numbers(0, t - 1)))
            gaps.append(gap_of([float(number) for number in modulus.signed(share)]))
        return in_halves(np.array(gaps), real_gaps(setting, truth))


class GapsFromPaddedEstimates(Attack):
    """The pad server guesses the same from A = V R and e = g + V s, as if it knew contexts.

    Chance is what comes out with random numbers in place of A and e.
    """

    name: ClassVar[str] = "gaps of indices, from hidden estimates"
    secret: ClassVar[str] = "gaps"

    def score(self, view: View, truth: Truth) -> Score:
        setting = _setting(view)
        party = _party(view, HelbaTwoServersPadServer)
        if party is None:
            return NOT_TRIED
        found = hidden_estimates(setting, view, party)
        starts = np.array([*found])
        contexts = contexts_of(truth.environment).contexts[starts - 1]
        known: Floats = np.array([*found.values()]).astype(np.float64)
        return beside_random(known, contexts, real_gaps(setting, truth)[starts - 1])


def hidden_estimates(
    setting: HelbaTwoServersSetting, view: View, party: HelbaTwoServersPadServer
) -> dict[int, Numbers]:
    """A and e of each batch, computed again from the pad server's keys and messages."""
    memory, modulus, d = party._memory, setting.modulus, setting.terms.d
    pads = {user: OwnPads(key, setting) for user, key in memory.user_keys.items()}
    state = memory.garbler
    delta, hashes = state.delta(memory.run), HashKeys(state.hash_key)
    sender = ProductSender(state.seeds, delta, hashes, epoch=RENEWAL_EPOCH)
    columns, answers = columns_sent(view, RenewalColumns), words_sent(view, PaddedEstimate)
    known: Residues = modulus.residues([0] * setting.sums)
    found: dict[int, Numbers] = {}
    for t in range(1, setting.terms.budget + 1):
        if t in columns:
            call = setting.estimate_products(t)
            here = columns[t][: call.column_bytes]
            rows = sender.rows(call.number, call.modulus, here, call.shape)
            all_pads = unpacked(modulus.whole(known), setting)
            vectors = np.broadcast_to(modulus.residues(all_pads[0]), (d + 1, d, d, modulus.count))
            _, share = sender.send(rows, vectors)
            covered = from_words(answers[round_place(t)], modulus, "server")
            _, kept = HiddenModel.opened(setting, t, covered, all_pads, share)
            found[t] = modulus.signed(kept)
        pad = pads[setting.terms.user_of(t)].update(t)
        known = modulus.add(known, modulus.residues(pad))
    return found


def _setting(view: View) -> HelbaTwoServersSetting:
    return HelbaTwoServersSetting.of(two_servers_terms_from(view.order))


def _party(view: View, kind: type[P]) -> P | None:
    return next((one for one in view.parties.values() if isinstance(one, kind)), None)


def _key(view: View, user: str) -> bytes:
    """The pad key of a user, if the view has it; else that of a user in it, or a fresh one."""
    server = _party(view, HelbaTwoServersPadServer)
    if server is not None:
        return server._memory.user_keys[user]
    helper = _party(view, HelbaTwoServersUser)
    return new_key() if helper is None else helper._memory.pad_key
