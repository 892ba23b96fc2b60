"""Attacks on PPCB that put shares together.

What the arms tell about contexts is in membership_attacks.py.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from lotor.core.fixed_point import Floats
from lotor.core.views import Truth, View
from lotor.crypto.sharing import Bits, PadCipher, Pads, Words, to_floats
from lotor.protocols.attack import Attack, Score
from lotor.protocols.chance import blind
from lotor.protocols.garbled.messages import DecodingTable, ShownOutputs
from lotor.protocols.ppcb.dealt.server import PPCBServer
from lotor.protocols.ppcb.messages import Features, OneHot, Reward
from lotor.protocols.ppcb.shared.messages import step_place
from lotor.protocols.ppcb.shared.server import PPCBSharedServer
from lotor.protocols.ppcb.terms import SEATS, PPCBTerms, terms_from
from lotor.protocols.two_server.checks import ATTEMPT, place_of
from lotor.protocols.two_server.dealer import Dealer
from lotor.protocols.two_server.masks import input_mask
from lotor.protocols.two_server.messages import Opened, PlacedShares

RECEIVER = "receiver"
CHOOSE, FIRST_ROUND = 0, 0
"""Where a context is opened under a pad: what a server sends begins with it."""


class ArmsFromShares(Attack):
    """Puts all shares of the chosen arm together that it has: p' has both, a server its own."""

    name: ClassVar[str] = "arms, from shares"
    secret: ClassVar[str] = "arms"

    def score(self, view: View, truth: Truth) -> Score:
        guesses = arms_from_shares(view)
        right = sum(guess == arm for guess, arm in zip(guesses, truth.arms, strict=True))
        return Score(right, len(truth.arms), blind(truth.arms))


class ContextsFromShares(Attack):
    """Adds up the shares of a context; a dealer takes its pads off what a server sends."""

    name: ClassVar[str] = "contexts, from shares"
    secret: ClassVar[str] = "contexts of others"

    def score(self, view: View, truth: Truth) -> Score:
        terms = terms_from(view.order)
        real: dict[int, Floats] = {t: np.zeros(terms.features) for t in range(1, terms.steps + 1)}
        for name, decision, values in truth.features:
            real[decision.round][slice(*terms.columns()[name])] = values
        others = [
            column
            for name, columns in terms.columns().items()
            for column in range(*columns)
            if name not in view.seats
        ]
        unit = 2.0**-terms.bits
        guesses = _InputShares(view, terms)
        right = sum(
            int((np.abs(guesses.context(t) - context)[others] < unit).sum())
            for t, context in real.items()
        )
        numbers = np.concatenate([context[others] for context in real.values()]).tolist()
        return Score(right, len(numbers), blind(numbers, unit))


class RewardsFromShares(Attack):
    """Adds up the shares of a reward."""

    name: ClassVar[str] = "rewards, from shares"
    secret: ClassVar[str] = "rewards"

    def score(self, view: View, truth: Truth) -> Score:
        terms = terms_from(view.order)
        scale, shares = terms.scale, _InputShares(view, terms)
        # Rewards of the last steps are never shared if they come too late to be learnt from.
        real = list(truth.rewards)[: terms.learnt]
        width = scale.high - scale.low
        guesses = [scale.low + shares.reward(t) * width for t in range(1, len(real) + 1)]
        unit = width * 2.0**-terms.bits
        right = sum(abs(guess - one) < unit for guess, one in zip(guesses, real, strict=True))
        return Score(right, len(real), blind(real, unit))


class RewardsPulled(Attack):
    """p'' pulls the rewards itself."""

    name: ClassVar[str] = "rewards, as they are pulled"
    secret: ClassVar[str] = "rewards"

    def score(self, view: View, truth: Truth) -> Score:
        seen = {decision.round: reward for decision, reward in view.pulls}
        real = list(truth.rewards)
        right = sum(seen.get(t) == reward for t, reward in enumerate(real, start=1))
        return Score(right, len(real), blind(real))


def arms_from_shares(view: View) -> list[int]:
    """The arm of each step that the shares in a view make up, right if both are there."""
    terms = terms_from(view.order)
    found: dict[bytes, Bits] = {}
    for seen in view.exchanges:
        if isinstance(seen.message, OneHot):
            place, share = seen.message.place, np.frombuffer(seen.message.shares, np.uint8)
        elif isinstance(seen.message, DecodingTable | ShownOutputs):
            colours = np.frombuffer(seen.message.colours, np.uint8)
            place, share = seen.message.place, np.unpackbits(colours, count=terms.arms)
        else:
            continue
        found[place] = found.get(place, np.zeros(terms.arms, np.uint8)) ^ share
    place_at = place_of if terms.alone is None else step_place
    nothing = np.zeros(terms.arms, np.uint8)
    return [int(found.get(place_at(t), nothing).argmax()) for t in range(1, terms.steps + 1)]


class _InputShares:
    """The shares of inputs that the parties of a view have; what they lack counts as 0."""

    def __init__(self, view: View, terms: PPCBTerms) -> None:
        self._terms = terms
        kinds: tuple[type[PlacedShares], ...] = (Features, Reward, Opened)
        self._sent = {kind: _shares(view, kind) for kind in kinds}
        self._servers = [_server(view, seat) for seat in SEATS[:2]]
        dealer = view.parties.get(SEATS.dealer)
        self._pads = dealer._memory.pad_keys if isinstance(dealer, Dealer) else None
        self._ciphers: dict[bytes, PadCipher] = {}

    def context(self, t: int) -> Floats:
        """The context of step t; no number of one is beyond 1."""
        owners = self._terms.owners
        parts = [self._input(Features, name, t, count) for name, count in owners.items()]
        whole = np.concatenate(parts)
        if self._pads is not None:
            for number, server in enumerate(self._servers):
                if server is None:
                    whole = whole + self._under_pads(self._pads[number], number, t)
        return np.clip(to_floats(whole, self._terms.bits), -1, 1)

    def reward(self, t: int) -> float:
        """The reward of step t, between 0 and 1."""
        words = self._input(Reward, RECEIVER, t + self._terms.late, 1)
        return float(np.clip(to_floats(words, self._terms.bits), 0, 1)[0])

    def _input(self, kind: type[PlacedShares], name: str, t: int, count: int) -> Words:
        """The first server's share, from the key it was given, and what the second was sent."""
        first, second = self._servers
        total: Words = np.zeros(count, np.uint64)
        if first is not None:
            total = total + input_mask(self._cipher(first._memory.keys.inputs[name]), t, count)
        if second is not None:
            data = self._sent[kind].get(place_of(t), {}).get(name, bytes(8 * count))
            total = total + np.frombuffer(data, "<u8").astype(np.uint64)
        return total

    def _under_pads(self, key: bytes, number: int, t: int) -> Words:
        """A server's share of a context, from what it opens to the other and its pads."""
        count = self._terms.features
        place = place_of(t, CHOOSE, FIRST_ROUND)
        data = self._sent[Opened].get(place, {}).get(SEATS[number])
        if data is None:
            return np.zeros(count, np.uint64)
        pads = Pads(self._cipher(key), 8 * count, t=t, attempt=ATTEMPT, circuit=CHOOSE)
        return np.frombuffer(data[: 8 * count], "<u8").astype(np.uint64) + pads.words((count,))

    def _cipher(self, key: bytes) -> PadCipher:
        return self._ciphers.setdefault(key, PadCipher(key))


def _server(view: View, seat: str) -> PPCBServer | PPCBSharedServer | None:
    party = view.parties.get(seat)
    return party if isinstance(party, PPCBServer | PPCBSharedServer) else None


def _shares(view: View, kind: type[PlacedShares]) -> Mapping[bytes, Mapping[str, bytes]]:
    """The shares of a kind of message: by its place, then by who sent them."""
    found: dict[bytes, dict[str, bytes]] = {}
    for seen in view.exchanges:
        if isinstance(seen.message, kind):
            found.setdefault(seen.message.place, {})[seen.sender] = seen.message.shares
    return found
