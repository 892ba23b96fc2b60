"""Altered, exchanged, cut and foreign messages are refused by name, and nothing goes on.

What nobody can notice is the value of a share that has the right size and place: shares are random,
and between honest parties only the channel guards them.
"""

import numpy as np
import pytest

import lotor
from helpers import Outcome
from lotor.core.effects import Act, Message
from lotor.core.errors import InputError, LotorError, ProtocolError, TooLongError
from lotor.protocols.dealerless.messages import (
    Choices,
    CommonKeys,
    Differences,
    Labels,
    OfferedWords,
    PreparedTables,
)
from lotor.protocols.garbled.messages import DecodingTable, ShownOutputs
from lotor.protocols.ppcb import computing, owner
from lotor.protocols.ppcb.messages import Acted, Due, Features, Next, Reward
from lotor.protocols.two_server.messages import Agreed, InputKey, Opened
from mallory import Change, Mallory, altered, cut, flipped, replaced
from protocols.ppcb.stage import Watched, play, some_arms

ARMS, BUDGET = some_arms(3, rounds=6, k=3, d=3), 6
PPCB = lotor.PPCB(epsilon=0.3)
FIELDS: dict[type[Message], str] = {
    Choices: "columns",
    OfferedWords: "words",
    PreparedTables: "tables",
    Features: "shares",
    Opened: "shares",
    Differences: "words",
    Labels: "labels",
    DecodingTable: "tags",
    ShownOutputs: "tags",
    Reward: "shares",
}
PLACED = [*FIELDS, Next, Acted, Due]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lotor.protocols.dealerless.schedule.MOST_TOGETHER", 3)
    for module in (owner, computing):
        monkeypatch.setattr(module, "TOGETHER", 1)
    monkeypatch.setattr(owner, "AHEAD", 2)
    monkeypatch.setattr(computing, "AHEAD", 2)


def tampered(kind: type[Message], change: Change, after: int = 1) -> Outcome:
    return play(PPCB, ARMS, budget=BUDGET, transport=Mallory(kind, change, after))


def test_nobody_tampers() -> None:
    expected = lotor.run(PPCB.plain(), ARMS, budget=BUDGET, seed=1)
    assert tampered(Opened, replaced(), 0).arms == expected.arms


@pytest.mark.parametrize("kind", [*PLACED, Agreed, InputKey, CommonKeys])
def test_what_is_no_such_message_names_its_sender(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match=f"waits for {kind.__name__} from .*altered"):
        tampered(kind, cut, 0)


@pytest.mark.parametrize("kind", PLACED)
def test_a_message_of_another_place_is_refused(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match=f"sent {kind.__name__}|out of step"):
        tampered(kind, altered("place", lambda place: flipped(place, len(place) - 3)))


@pytest.mark.parametrize(("kind", "field"), FIELDS.items())
@pytest.mark.parametrize("longer", [False, True])
def test_a_message_of_another_size_is_refused(
    kind: type[Message], field: str, longer: bool
) -> None:
    change = altered(field, lambda data: data + b"x" if longer else data[:-1])
    with pytest.raises(ProtocolError, match=r"server-\d|owner-\d|receiver"):
        tampered(kind, change)


@pytest.mark.parametrize("kind", [Agreed, InputKey, CommonKeys])
def test_other_terms_are_refused_before_anything_is_shared(kind: type[Message]) -> None:
    with pytest.raises(ProtocolError, match="keeps other terms"):
        tampered(kind, altered("digest", flipped), 0)


@pytest.mark.parametrize(
    ("kind", "field"), [(InputKey, "key"), (CommonKeys, "hash_key"), (CommonKeys, "blind_key")]
)
def test_keys_of_another_size_are_refused(kind: type[Message], field: str) -> None:
    with pytest.raises(ProtocolError, match="sent a key of 31 bytes"):
        tampered(kind, replaced(**{field: bytes(31)}), 0)


@pytest.mark.parametrize("kind", [DecodingTable, ShownOutputs])
@pytest.mark.parametrize("field", ["colours", "tags"])
def test_the_actor_notices_altered_outputs(kind: type[Message], field: str) -> None:
    change = altered(field, lambda data: bytes([data[0] ^ 0x80]) + data[1:])
    with pytest.raises(ProtocolError, match=r"server-\d or server-\d sent something.*tag"):
        tampered(kind, change)


@pytest.mark.parametrize("kind", [Opened, OfferedWords, Choices, PreparedTables, Labels])
def test_an_altered_share_ends_in_an_error_or_a_finished_run(kind: type[Message]) -> None:
    """It changes what is computed: nobody can notice, and nothing in clear comes out."""
    for after in (3, 11):
        try:
            outcome = tampered(
                kind, altered(FIELDS[kind], lambda data: flipped(data, len(data) // 2)), after
            )
        except LotorError:
            continue
        else:
            assert len(outcome.arms) == BUDGET


@pytest.mark.parametrize("delay", [0, 2])
def test_a_context_that_is_too_long_ends_the_run_before_an_arm_is_pulled(delay: int) -> None:
    watches: dict[str, Watched] = {}
    contexts = np.full((6, 4), 0.4)
    contexts[3] = 0.7  # of two owners, neither of whose parts is too long

    def observed(asked: object) -> tuple[float, ...]:
        t, (low, high) = asked.decision.round, asked.columns  # type: ignore[attr-defined]
        return tuple(contexts[t - 1, low:high].tolist())

    arms = some_arms(1, rounds=6, k=3, d=4)
    with pytest.raises(TooLongError, match="step 4: the features of all parties together"):
        play(
            lotor.PPCB(epsilon=0.3, delay=delay),
            arms,
            budget=6,
            contexts=observed,
            wrap=lambda name, party: watches.setdefault(name, Watched(party)),
        )
    assert sum(isinstance(done.effect, Act) for done in watches["actor"].done) == 3


def test_orders_that_do_not_fit_are_refused() -> None:
    for text, kwargs in (
        ("give 'shares' or 'garbled'", {"reciprocal": "none"}),
        ("leave reciprocal out", {"reciprocal": "garbled", "form": "dealt"}),
    ):
        with pytest.raises(InputError, match=text):
            lotor.PPCB(**kwargs)  # type: ignore[arg-type]
