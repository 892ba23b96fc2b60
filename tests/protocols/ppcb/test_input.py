"""What cannot be used is refused with a reason, before anything depends on it."""

from collections.abc import Callable, Iterator, Mapping
from math import inf, nan

import msgspec
import numpy as np
import pytest

import lotor
from lotor.core.effects import Decision, Observe, Pull, Receive, Send, Steps
from lotor.core.errors import InputError, ProtocolError, PullError, StalledError, TooLongError
from lotor.core.fixed_point import RewardScale
from lotor.protocols.party import Party, Run
from lotor.protocols.ppcb.dealt.circuits import cheapest_circuits
from lotor.protocols.ppcb.kept_model import ContinuedModel
from lotor.protocols.ppcb.messages import Due, Features, OneHot, Reward
from lotor.protocols.ppcb.receiver import PPCBReceiver
from lotor.protocols.ppcb.shape import SLACK
from lotor.protocols.ppcb.terms import LARGEST_MESSAGE, MOST_STEPS, Alone, PPCBTerms, terms_from
from lotor.protocols.two_server.checks import place_of
from protocols.ppcb.attacks import Left, refused
from protocols.ppcb.stage import SERVERS, Contexts, Watched, play, some_arms, traced_once

ARMS = some_arms(1, rounds=10, k=3, d=3)
GREEDY = lotor.LinearEpsilonGreedy


@pytest.fixture(scope="module", autouse=True)
def _traced() -> Iterator[None]:
    with traced_once():
        yield


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"delta": 0.5}, "delta is the probability"),
        ({"bits": 15}, "bits is 15: give a whole number from 16 up"),
        ({"bits": 20.0}, "bits is 20.0"),
        ({"bits": True}, "bits is True"),
        ({"owners": 0}, "owners is 0"),
        ({"owners": "2"}, "owners is '2'"),
        ({"delay": -1}, "delay is -1"),
        ({"epsilon": 1.1}, "epsilon is a probability"),
        ({"epsilon": nan}, "epsilon is a probability"),
        ({"policy": lotor.UCB()}, r"takes LinearEpsilonGreedy\(\)"),
        ({"policy": 0.1}, r"takes LinearEpsilonGreedy\(\)"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, int], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        lotor.PPCB(**{"form": "dealt", **options})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("protocol", "arms", "budget", "complaint"),
    [
        (lotor.PPCB(bits=25, form="dealt"), ARMS, 10, "25 bits: give from 16 to 24"),
        (
            lotor.PPCB(owners=4, form="dealt"),
            ARMS,
            10,
            "3 features cannot be split among 4 parties",
        ),
        (lotor.PPCB(delay=11, form="dealt"), ARMS, 10, "a delay of 11 steps"),
        (
            lotor.PPCB(GREEDY(ridge=5000.0), form="dealt"),
            ARMS,
            10,
            "ridge is 5000: give from 1.*to 4096",
        ),
        (lotor.PPCB(GREEDY(recompute=3), form="dealt"), ARMS, 10, "recompute"),
        (lotor.PPCB(GREEDY(ridge=0.9), form="dealt"), ARMS, 10, "ridge is 0.9: give from 1"),
        (lotor.PPCB(epsilon=1e-25, form="dealt"), ARMS, 10, "cannot tell from 0"),
        (
            lotor.PPCB(form="dealt"),
            some_arms(1, rounds=5, k=1, d=2),
            5,
            "1 arms: ppcb chooses between 2",
        ),
        (lotor.PPCB(form="dealt"), ARMS, 11, "contexts for 10 rounds, fewer than the budget of 11"),
        (lotor.PPCB(form="dealt"), ARMS, 0, "a budget of 0"),
        (
            lotor.PPCB(form="dealt"),
            lotor.BernoulliArms([0.9, 0.1]),
            10,
            "not BernoulliArms: give Contextual",
        ),
        (
            lotor.PPCB(privacy_budget=1.0, form="dealt"),
            ARMS,
            10,
            "one step tells 3.33, more than the privacy",
        ),
        (
            lotor.PPCB(privacy_budget=-1.0, form="dealt"),
            ARMS,
            10,
            "the privacy budget is .*: give a number of at least 0",
        ),
        (
            lotor.PPCB(privacy_budget=nan, form="dealt"),
            ARMS,
            10,
            "the privacy budget is .*: give a number of at least 0",
        ),
        (lotor.PPCB(epsilon=0.0, privacy_budget=1e9, form="dealt"), ARMS, 10, "one step tells inf"),
    ],
)
def test_runs_that_cannot_be_are_refused(
    protocol: lotor.PPCB, arms: lotor.ContextualArms, budget: int, complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        lotor.run(protocol, arms, budget=budget, seed=1)


def ordered(
    protocol: lotor.PPCB | None = None,
    *,
    budget: int = 10,
    arms: int = 3,
    owners: Mapping[str, int] | None = None,
) -> PPCBTerms:
    asked = protocol or lotor.PPCB(form="dealt")
    features = {"a": 2, "b": 1} if owners is None else owners
    return asked.terms("aa", budget=budget, arms=arms, owners=features, scale=RewardScale())


@pytest.mark.parametrize(
    ("order", "complaint"),
    [
        ({"owners": {}}, "each must bring at least one feature"),
        ({"owners": {"a": 1, "b": 0}}, "each must bring at least one feature"),
        ({"owners": {"a": 1025}}, "1025 features: ppcb computes with up to 1024"),
        ({"arms": 4097}, "4097 arms: ppcb chooses between 2 and 4096"),
        ({"arms": 1}, "1 arms"),
        ({"budget": 0}, "a budget of 0"),
        ({"budget": 2**31}, "a budget of 2147483648"),
        # 48 bits behind the point, 12 for ranks, and a sign
        (
            {"arms": 4096, "protocol": lotor.PPCB(bits=24, form="dealt"), "budget": 40},
            r"scores of 4096 arms after 40 steps need 6\d\.\d bits.*fewer bits",
        ),
        (
            {"arms": 512, "protocol": lotor.PPCB(bits=24, form="dealt"), "budget": 500_000},
            "after 500000 steps",
        ),
    ],
)
def test_orders_that_no_run_can_do_are_refused(order: dict[str, int], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        ordered(**order)  # type: ignore[arg-type]


@pytest.mark.parametrize(("bits", "arms"), [(24, 10), (20, 100)])
def test_there_is_room_for_what_the_paper_did(bits: int, arms: int) -> None:
    ordered(lotor.PPCB(bits=bits, form="dealt"), budget=60_000, arms=arms, owners={"a": 20})


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"arms": 1}, "cannot be: 1 arms"),
        ({"bits": 30}, "cannot be: 30 bits"),
        ({"owners": {}}, "cannot be: a run needs at least one feature party"),
        ({"low": 1.0, "high": 0.0}, "cannot be: reward_range"),
        ({"low": nan}, "cannot be: reward_range"),
        ({"policy": "ucb"}, "cannot be"),
        ({"policy": "linear-epsilon-greedy:ridge=0.5"}, "cannot be: ridge is 0.5"),
        ({"policy": "linear-epsilon-greedy:epsilon=2"}, "cannot be: epsilon"),
        ({"privacy_budget": 0.0}, "cannot be: one step tells"),
        ({"delta": 2.0}, "cannot be: delta"),
        ({"delta": 0.9999999999999999}, "cannot be: delta is the probability that"),
        ({"delta": 0.011}, "cannot be: delta is the probability that"),
        ({"delta": nan}, "cannot be: delta is the probability that"),
        ({"delta": -0.0}, "cannot be: delta is the probability that"),
        ({"delay": -1}, "cannot be: a delay of -1"),
        ({"budget": -5}, "cannot be: a budget of -5"),
        ({"budget": "many"}, "this version cannot read"),
    ],
)
def test_terms_that_were_ordered_are_checked_by_who_gets_them(
    fields: dict[str, object], complaint: str
) -> None:
    terms = ordered()
    assert terms_from(terms.to_bytes()) == terms
    altered = msgspec.structs.asdict(terms) | fields
    with pytest.raises(ProtocolError, match=f"^receiver (ordered|sent) an? .*{complaint}"):
        terms_from(msgspec.msgpack.encode(altered))


@pytest.mark.parametrize("junk", [b"", b"junk", b"\x80", b"\xff" * 9])
def test_junk_is_no_order(junk: bytes) -> None:
    with pytest.raises(
        ProtocolError, match=r"^receiver sent an order that this version cannot read"
    ):
        terms_from(junk)


def test_any_other_terms_have_another_digest() -> None:
    terms = ordered()
    others: list[dict[str, object]] = [
        {"run": "bb"}, {"budget": 11}, {"arms": 4}, {"owners": {"a": 1, "b": 2}},
        {"owners": {"b": 1, "a": 2}}, {"policy": "linear-epsilon-greedy:epsilon=0.2"},
        {"bits": 21}, {"delay": 1}, {"low": -1.0}, {"high": 2.0}, {"privacy_budget": 9.0},
        {"delta": 1e-5}, {"keep": True}, {"predicts": True}, {"alone": Alone()},
        {"continued": ContinuedModel("cc", 5, 1.5, 1e-6)},
        {"continued": ContinuedModel("cc", 5, 1.0, 1e-6)},
    ]  # fmt: skip
    assert {name for other in others for name in other} == set(PPCBTerms.__struct_fields__)
    digests = {msgspec.structs.replace(terms, **other).digest for other in others}
    assert len(digests | {terms.digest}) == len(others) + 1


def bringing(*features: float, at: int = 3, to: tuple[int, int] | None = None) -> Contexts:
    """Contexts like those of the arms, but for one of them."""

    def contexts(asked: Observe) -> tuple[float, ...]:
        low, high = asked.columns
        if asked.decision.round == at and to in (None, asked.columns):
            return features if to else features[low:high]
        return tuple(ARMS.context(asked.decision.round)[low:high].tolist())

    return contexts


def with_contexts(contexts: Contexts) -> Callable[[Left], object]:
    def run(left: Left) -> object:
        def wrap(name: str, party: Party) -> Party:
            return left.parties.setdefault(name, Watched(party))

        return play(lotor.PPCB(form="dealt"), ARMS, budget=10, wrap=wrap, contexts=contexts)

    return run


@pytest.mark.parametrize(
    "features",
    [
        (0.5,),
        (),
        (0.5, 0.5, 0.5),
        (0.9, 0.9),
        (1.0 + 1e-8, 0.0),
        (nan, 0.0),
        (0.0, inf),
        (-inf, inf),
        (1e200, 1e200),
        (1e-200, -1e308),
    ],
)
def test_an_owner_refuses_features_that_do_not_fit(features: tuple[float, ...]) -> None:
    """Before it shares them, and without saying what they are."""
    contexts = bringing(*features, to=(1, 3))
    complaint = "^owner-2 must bring 2 finite features for step 3, of length at most 1 as a vector"
    left = refused(complaint, "owner-2", with_contexts(contexts))
    assert len(left.parties["owner-2"].sent(Features)) == 2


class Catching(Party):
    """Ends in peace where its party ends in an error about contexts, and keeps that."""

    def __init__(self, party: Party) -> None:
        self.watch = Watched(party)
        self.error: TooLongError | None = None
        self.operations = party.operations  # type: ignore[method-assign]

    def steps(self) -> Steps[object]:
        try:
            return (yield from self.watch.steps())
        except TooLongError as error:
            self.error = error
            return None


@pytest.mark.parametrize("delay", [0, 1])
@pytest.mark.parametrize("context", [(0.8, 0.5, 0.5), (1.0, 1.0, 0.0), (-1.0, 0.0, 0.07)])
def test_features_that_are_too_long_together_are_refused_by_both_servers(
    delay: int, context: tuple[float, ...]
) -> None:
    """Though each part fits: before p' is sent anything, and nothing is learnt."""
    servers: dict[str, Catching] = {}

    def wrap(name: str, party: Party) -> Party:
        return servers.setdefault(name, Catching(party)) if name in SERVERS else party

    protocol = lotor.PPCB(delay=delay, form="dealt")
    with pytest.raises(StalledError, match="actor waits for OneHot from server-0"):
        play(protocol, ARMS, budget=10, wrap=wrap, contexts=bringing(*context))
    for party in servers.values():
        assert str(party.error).startswith("step 3: the features of all parties together are long")
        assert len(party.watch.sent(OneHot)) == 2
        left = Left({name: other.watch for name, other in servers.items()})
        assert all(left.untouched(name) for name in SERVERS)


def test_it_is_the_square_of_the_length_that_is_compared() -> None:
    """A little is left for what fixed point rounds; a little more is too much."""
    fits, exceeds = (np.sqrt(1 + SLACK + change - 0.64) for change in (-1e-4, 1e-4))
    play(lotor.PPCB(form="dealt"), ARMS, budget=3, contexts=bringing(0.8, fits, 0.0))
    with pytest.raises(TooLongError, match=r"^step 3: "):
        play(lotor.PPCB(form="dealt"), ARMS, budget=3, contexts=bringing(0.8, exceeds, 0.0))


@pytest.mark.parametrize("bits", [16, 24])
def test_contexts_of_length_1_always_fit(bits: int) -> None:
    x = np.random.default_rng(1).normal(size=(6, 40))
    x /= np.sqrt(np.square(x).sum(axis=1, keepdims=True))
    arms = lotor.ContextualArms(x, np.ones((6, 2)))
    assert len(play(lotor.PPCB(bits=bits, owners=40, form="dealt"), arms, budget=6).arms) == 6


class Odd(lotor.ContextualArms):
    """Pays what its range does not hold."""

    def start(self, seed: int) -> Callable[[Decision], float]:
        return lambda decision: 0.5 if decision.round < 3 else self.odd

    odd = 7.125


@pytest.mark.parametrize("reward", [7.125, -1e-9, nan, inf])
def test_rewards_out_of_range_are_refused(reward: float) -> None:
    class Paying(Odd):
        odd = reward

    arms = Paying(ARMS.contexts, ARMS.rewards)
    with pytest.raises(PullError, match=r"in round 3 did not answer with a number in") as error:
        lotor.run(lotor.PPCB(form="dealt"), arms, budget=10, seed=1)
    assert "7.125" not in str(error.value)


@pytest.mark.parametrize("reward", [7.125, -1e-9, nan, inf])
def test_a_receiver_shares_no_reward_out_of_range(reward: float) -> None:
    party = PPCBReceiver(ordered())
    steps = party.steps()
    effect = next(steps)
    while not isinstance(effect, Pull):
        effect = steps.send(Due(place_of(1)) if isinstance(effect, Receive) else None)
        assert not (isinstance(effect, Send) and isinstance(effect.message, Reward))
    with pytest.raises(InputError, match=r"reward lies outside the public reward_range") as error:
        steps.send(reward)
    assert "7.125" not in str(error.value)
    assert party._memory.total == 0


class Ending(Party):
    """A dealer that stops dealing after some messages."""

    def __init__(self, party: Party, messages: int) -> None:
        self._party = party
        self._messages = messages
        self.operations = party.operations  # type: ignore[method-assign]

    def steps(self) -> Steps[object]:
        steps, value, sent = self._party.steps(), None, 0
        while sent < self._messages:
            effect = steps.send(value)
            sent += isinstance(effect, Send)
            value = yield effect
        return None


@pytest.mark.parametrize("messages", [2, 3, 8, 9])
def test_an_exhausted_dealer_is_named(messages: int) -> None:
    """Two keys, then a message for each step: nothing goes on without its own."""
    left = Left()

    def wrap(name: str, party: Party) -> Party:
        wrapped = Ending(party, messages) if name == "dealer" else party
        return left.parties.setdefault(name, Watched(wrapped))

    with pytest.raises(StalledError, match="server-1 waits for Corrections from dealer"):
        play(lotor.PPCB(form="dealt"), ARMS, budget=10, wrap=wrap)
    assert left.acts == messages - 2
    assert all(left.untouched(name) for name in SERVERS)


def test_a_run_without_an_environment_is_refused() -> None:
    with pytest.raises(InputError, match="NoneType: give ContextualArms"):
        lotor.PPCB(form="dealt").parties(Run("aa", 2, 10, RewardScale(), 1))


@pytest.mark.parametrize(
    ("arms", "features"),
    [(2, 1), (10, 20), (20, 2), (21, 2), (159, 20), (160, 2), (1000, 20), (3000, 1), (2, 600)],
)
@pytest.mark.parametrize("delay", [0, 1])
def test_no_message_is_longer_than_stated(arms: int, features: int, delay: int) -> None:
    ppcb = lotor.PPCB(bits=16, delay=delay, form="dealt")
    terms = ppcb.terms("run", budget=9, arms=arms, owners={"a": features}, scale=RewardScale())
    for circuit in cheapest_circuits(terms).schedule.circuits:
        assert max(circuit.recipe.correction_bytes, circuit.recipe.opened) < LARGEST_MESSAGE


@pytest.mark.parametrize(
    ("arms", "features"), [(2, 624), (8, 424), (14, 338), (20, 288), (160, 105)]
)
@pytest.mark.parametrize("delay", [0, 1])
def test_the_largest_messages_fit_a_frame(arms: int, features: int, delay: int) -> None:
    """What is dealt for a step is one message: of all scanned the first four come nearest.

    One feature more is refused.
    """
    ppcb = lotor.PPCB(bits=16, delay=delay, form="dealt")
    with pytest.raises(InputError, match="take fewer of either"):
        ordered(ppcb, arms=arms, owners={"a": features + 1})
    circuits = cheapest_circuits(ordered(ppcb, arms=arms, owners={"a": features})).schedule.circuits
    dealt = sum(circuit.recipe.correction_bytes for circuit in circuits)
    assert dealt < (16 << 20) - (1 << 16)


@pytest.mark.parametrize(("arms", "features"), [(4096, 13), (300, 80), (2, 1024)])
def test_what_would_not_fit_a_message_is_refused(arms: int, features: int) -> None:
    ppcb = lotor.PPCB(bits=16, form="dealt")
    with pytest.raises(InputError, match="take fewer of either"):
        ppcb.terms("run", budget=9, arms=arms, owners={"a": features}, scale=RewardScale())


def test_longer_runs_than_rounding_allows_are_refused() -> None:
    ppcb, owners = lotor.PPCB(bits=16, form="dealt"), {"a": 3}
    ppcb.terms("run", budget=MOST_STEPS, arms=2, owners=owners, scale=RewardScale())
    with pytest.raises(InputError, match="order several runs"):
        ppcb.terms("run", budget=MOST_STEPS + 1, arms=2, owners=owners, scale=RewardScale())
