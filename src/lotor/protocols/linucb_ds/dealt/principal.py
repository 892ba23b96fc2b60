"""P, the first of the two servers: it knows the arms and which are pulled, and one share of theta.

Everything in a score but theta is known to P (policies/linear/base.py): B_i = <u_i, theta> + c_i.
With theta = a + b, its share of the scores is u · a + c and a share of u · b, which it computes
with Comp, who knows b, under pads that the dealer knows.
"""

from collections.abc import Mapping

import msgspec
import numpy as np

from lotor.core.effects import BeginRound, Checkpoint, Once, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.sharing import SharedBits, large_to_bytes
from lotor.protocols.linucb_ds.dealt.circuits import DealtCircuits, circuits, no_numbers
from lotor.protocols.linucb_ds.dealt.messages import WIRE, DealtChoice, DealtRewards, DealtUnit
from lotor.protocols.linucb_ds.dealt.terms import SEATS, TOTAL_BYTES, LinUCBDealtTerms
from lotor.protocols.linucb_ds.game import LinearGame, LinearPrincipalMemory
from lotor.protocols.linucb_ds.principal import LinearPrincipal
from lotor.protocols.linucb_ds.relay import hand_out_terms, take_order
from lotor.protocols.linucb_ds.theta.handing_out import in_scores, in_total, relay_model
from lotor.protocols.linucb_ds.theta.messages import ModelShare
from lotor.protocols.two_server.checks import check_place, check_size, place_of
from lotor.protocols.two_server.server import SharingKeys, SharingServer


class LinUCBDealtPrincipalMemory(LinearPrincipalMemory, tag=WIRE + "principal", kw_only=True):
    """P's shares of theta are in the model; the rest of theta is nowhere here."""

    terms: LinUCBDealtTerms | None = None
    model: ModelShare | None = None
    sharing: SharingKeys = msgspec.field(default_factory=lambda: SharingKeys.fresh(0))


class LinUCBDealtPrincipal(LinearPrincipal[LinUCBDealtPrincipalMemory]):
    """Figure 4 (a), with shares in the place of ciphertexts."""

    memory_kind = LinUCBDealtPrincipalMemory
    _server: SharingServer | None = None

    def operations(self) -> Mapping[str, int]:
        return {} if self._server is None else self._server.operations()

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.terms is None or memory.model is None:
            yield Checkpoint(memory.dump)
            memory.terms, memory.model = yield from self._set_up()
        terms, model = memory.terms, memory.model
        self.game = game = LinearGame(memory, self._noise, self._first)
        server, computed = self._sharing(terms, model)
        if memory.t == 0:
            yield from game.begin()  # step 2
        share = np.array(in_scores(model, terms), np.uint64)
        nothing = np.zeros_like(share)
        for t in range(memory.t, terms.places):
            yield Checkpoint(game.snapshot, game.round(t))
            yield BeginRound(game.round(t + 1))
            sigma, rows, addends = game.rows(t)
            u, c = rows.view(np.uint64), np.array(addends, np.uint64)
            # Other rows under the same pads would show the difference of the two.
            yield Once(u.tobytes() + c.tobytes())
            products = yield from server.compute(t, computed.products, u, nothing)  # step 3
            scores = products + (u @ share + c)
            won = yield from server.compute(t, computed.selection, scores)
            position = yield from self._winner(t, won)  # step 4
            yield from game.pull(t + 1, int(sigma[position]))
        yield from self._total(terms, model, game, server, computed)
        self._keep(game)

    def _set_up(self) -> Steps[tuple[LinUCBDealtTerms, ModelShare]]:
        run, announced = self._memory.run, self._order
        terms, order = yield from take_order(
            LinUCBDealtTerms, run, announced, ("comp", "dealer", "owner")
        )
        yield from hand_out_terms(order, terms.parties)
        model = yield from relay_model(terms)
        server, _ = self._sharing(terms, model)
        yield from server.set_up(terms.digest(model.k, model.d), readers=(), sources=())
        return terms, msgspec.structs.replace(model, keys=[])

    def _sharing(
        self, terms: LinUCBDealtTerms, model: ModelShare
    ) -> tuple[SharingServer, DealtCircuits]:
        computed = circuits(model.k, model.d, terms.places)
        self._server = SharingServer(0, SEATS, computed.schedule, self._memory.sharing)
        return self._server, computed

    @staticmethod
    def _winner(t: int, won: SharedBits) -> Steps[int]:
        """The position of the largest score, which P alone learns."""
        message: DealtChoice = yield Receive("comp", DealtChoice)
        check_place(message, place_of(t), "comp")
        check_size(message.shares, len(won.share), "comp", t)
        one_hot = won.share ^ np.frombuffer(message.shares, np.uint8)
        positions = np.flatnonzero(one_hot).tolist()
        if len(positions) != 1 or one_hot.max() != 1:
            raise ProtocolError(
                f"the shares of principal and comp in round {t} do not select one arm: a message "
                "was altered, or they are at different places; nothing was pulled"
            )
        return int(positions[0])

    @staticmethod
    def _total(
        terms: LinUCBDealtTerms,
        model: ModelShare,
        game: LinearGame,
        server: SharingServer,
        computed: DealtCircuits,
    ) -> Steps[None]:
        """Steps 5 to 7: the sum of rewards is <theta, sum of arms> + sum of noise."""
        end, rewards, layout = terms.places, game.rewards, game.layout
        yield Checkpoint(game.snapshot, game.round(end))
        arms = large_to_bytes(rewards.arms, TOTAL_BYTES)
        yield Once(arms.tobytes() + str(rewards.noise).encode())
        product = yield from server.compute(end, computed.total, arms, no_numbers(layout.d))
        share = product + rewards.total(in_total(model, terms))
        blinded = server.blind_number(end, share, TOTAL_BYTES)
        yield Send("customer", DealtUnit(layout.L, layout.k, layout.d))
        yield Send("customer", DealtRewards(place_of(end), blinded.to_bytes(TOTAL_BYTES, "little")))
