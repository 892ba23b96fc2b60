"""Altered, truncated, exchanged and foreign messages are refused by name, and nothing goes on."""

from collections.abc import Iterator

import msgspec
import numpy as np
import pytest

from lotor.core.effects import Message
from lotor.core.errors import LotorError, ProtocolError
from lotor.crypto.paillier.encoding import CIPHERTEXT
from lotor.protocols.linucb_ds.messages import LinUCBOrder, LinUCBSetup
from lotor.protocols.linucb_ds.paper import messages
from lotor.protocols.linucb_ds.paper.wire import place_of, position_of
from mallory import Change
from protocols.linucb_ds.attacks import (
    ARMS,
    another_kind,
    attack,
    cut,
    flip,
    number,
    packed,
    previous,
    replaced,
)
from protocols.linucb_ds.stage import BITS, known_keys, small_key

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with known_keys(small_key("comp"), small_key("customer")):
        yield


# Every message: who sends it, and who reads it.
WAY = [
    (LinUCBOrder, 0, "customer", "principal"),
    (LinUCBSetup, 0, "principal", "comp"),
    (LinUCBSetup, 1, "principal", "owner"),
    (messages.CompKey, 0, "comp", "principal"),
    (messages.CompKey, 1, "principal", "owner"),
    (messages.Model, 0, "owner", "principal"),
    (messages.LinUCBShape, 0, "principal", "comp"),
    (messages.PackedScores, 2, "principal", "comp"),
    (messages.Winner, 2, "comp", "principal"),
    (messages.MaskedSum, 0, "principal", "comp"),
    (messages.SwitchedSum, 0, "comp", "principal"),
    (messages.LinUCBTotal, 0, "principal", "customer"),
]


@pytest.mark.parametrize(("kind", "after", "sender", "reader"), WAY)
@pytest.mark.parametrize("change", [cut, another_kind], ids=["cut", "other kind"])
def test_what_is_no_such_message_names_its_sender(
    kind: type[Message], after: int, sender: str, reader: str, change: Change
) -> None:
    with pytest.raises(
        ProtocolError, match=f"^{reader} waits for {kind.__name__} from {sender}"
    ) as error:
        attack(kind, change, after=after)
    assert error.value.__notes__ == [f"(raised at {reader})"]


def test_the_list_of_messages_is_complete() -> None:
    outcome = attack(messages.LinUCBTotal, lambda message, _: message)
    assert {type(seen.message) for seen in outcome.recorder.exchanges} == {way[0] for way in WAY}


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (messages.PackedScores, "^principal sent scores of a round other than 3"),
        (messages.Winner, "^comp named the winner of a round other than 3"),
    ],
)
@pytest.mark.parametrize(
    "change", [previous, replaced(t=place_of(4)), replaced(t=b"")], ids=["old", "later", "none"]
)
def test_messages_of_another_round_name_sender_and_round(
    kind: type[Message], complaint: str, change: Change
) -> None:
    with pytest.raises(ProtocolError, match=complaint):
        attack(kind, change, after=2)


WIDTH = CIPHERTEXT.width(BITS)


@pytest.mark.parametrize(
    "change",
    [
        packed(lambda body: body[:-1]),
        packed(lambda body: body[:-WIDTH]),
        packed(lambda body: body + body[:WIDTH]),
        packed(lambda body: b"\xff" * len(body)),
        packed(lambda body: bytes(len(body))),
        packed(lambda body: int(small_key("comp").p).to_bytes(WIDTH, "big") + body[WIDTH:]),
        packed(lambda body: body[:60] + bytes([body[60] ^ 1]) + body[61:]),
        flip("packed", 3),
        replaced(packed=b""),
    ],
    ids=[
        "cut",
        "one too few",
        "one too many",
        "out of range",
        "zero",
        "not invertible",
        "one bit",
        "foreign key",
        "empty",
    ],
)
def test_scores_that_are_none_name_sender_and_round(change: Change) -> None:
    with pytest.raises(
        ProtocolError, match=r"^principal sent unusable scores in round 3: "
    ) as error:
        attack(messages.PackedScores, change, after=2)
    assert error.value.__notes__ == ["(raised at comp)"]


@pytest.mark.parametrize(
    "position", [position_of(ARMS.k), position_of(2**32 - 1), b"", b"\0", bytes(8)]
)
def test_a_position_out_of_range_names_sender_and_round(position: bytes) -> None:
    with pytest.raises(ProtocolError, match=r"^comp named a position in round 3 that none of 9"):
        attack(messages.Winner, replaced(position=position), after=2)


def floats(*values: float) -> bytes:
    return np.array(values, "<f8").tobytes()


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"k": 8}, "malformed model of 8 arms"),
        ({"k": 1, "vectors": floats(1, 2)}, "malformed model of 1 arms"),
        ({"k": -9}, "malformed model of -9 arms"),
        ({"d": 0, "vectors": b"", "theta": []}, "in 0 dimensions"),
        ({"d": 3}, "in 3 dimensions"),
        ({"vectors": floats(*[np.nan] * 18)}, "malformed model of 9 arms"),
        ({"vectors": floats(*[np.inf] * 18)}, "malformed model of 9 arms"),
        ({"vectors": floats(*[1e300] * 18)}, "malformed model of 9 arms"),
        (
            {"vectors": floats(*[0.0] * 18)},
            "does not fit the order: a slot could overflow",
        ),
        ({"vectors": b"x"}, "malformed model of 9 arms"),
        ({"eigenvalues": floats(1.0)}, "malformed model of 9 arms"),
        ({"eigenvalues": floats(np.nan, 1.0)}, "malformed model of 9 arms"),
        ({"noise_sd": -1.0}, "malformed model of 9 arms"),
        ({"noise_sd": float("nan")}, "malformed model of 9 arms"),
        ({"noise_sd": float("inf")}, "malformed model of 9 arms"),
        ({"theta": []}, "malformed model of 9 arms"),
    ],
)
def test_a_model_that_is_none_is_refused(fields: dict[str, object], complaint: str) -> None:
    with pytest.raises(ProtocolError, match=f"^owner sent .*{complaint}") as error:
        attack(messages.Model, replaced(**fields))
    assert error.value.__notes__ == ["(raised at principal)"]


@pytest.mark.parametrize("kind", ["foreign", "out of range", "not invertible", "cut", "zero"])
@pytest.mark.parametrize(
    ("message", "field", "holder", "sender"),
    [
        (messages.Model, "theta", "comp", "owner"),
        (messages.MaskedSum, "masked", "comp", "principal"),
        (messages.SwitchedSum, "switched", "customer", "comp"),
        (messages.LinUCBTotal, "total", "customer", "principal"),
    ],
)
def test_what_is_no_ciphertext_under_the_right_key_names_its_sender(
    kind: str, message: type[Message], field: str, holder: str, sender: str
) -> None:
    key, foreign = small_key(holder), small_key("mallory")
    data = {
        "foreign": foreign.public.encrypt(1).to_bytes(),
        "out of range": number(int(key.public.n_squared) + 1, key),
        "not invertible": number(int(key.p) * 5, key),
        "cut": key.public.encrypt(1).to_bytes()[:-1],
        "zero": number(0, key),
    }[kind]
    value: object = [data] * ARMS.d if field == "theta" else data
    with pytest.raises(ProtocolError, match=f"^{sender} sent something that is not a ciphertext"):
        attack(message, replaced(**{field: value}))


@pytest.mark.parametrize("k", [0, -1, 1, 2**31, 2**63])
def test_a_shape_that_no_run_has_is_refused(k: int) -> None:
    with pytest.raises(ProtocolError, match=r"^principal sent an impossible number of arms"):
        attack(messages.LinUCBShape, replaced(k=k))


@pytest.mark.parametrize("k", [2, 7, 15, 1000])
def test_a_shape_of_another_run_is_noticed(k: int) -> None:
    with pytest.raises(ProtocolError, match=r"^principal sent unusable scores in round 1"):
        attack(messages.LinUCBShape, replaced(k=k))


def junk(message: Message, holder: str, field: str) -> Message:
    """A ciphertext whose plaintext nobody knows: one that was altered on its way."""
    key = small_key(holder).public
    value = int(key.n) // 2 - 10**9
    return msgspec.structs.replace(message, **{field: key.encrypt(value).to_bytes()})


@pytest.mark.parametrize(
    ("kind", "field"), [(messages.SwitchedSum, "switched"), (messages.LinUCBTotal, "total")]
)
def test_a_total_beyond_what_n_pulls_can_pay_is_refused(kind: type[Message], field: str) -> None:
    with pytest.raises(ProtocolError, match="larger than 6 pulls can pay") as error:
        attack(kind, lambda message, _: junk(message, "customer", field))
    assert error.value.__notes__ == ["(raised at customer)"]


def test_a_masked_sum_that_is_altered_is_refused_by_comp_or_the_customer() -> None:
    """Whether it has room under the customer's key depends on which key is larger."""
    with pytest.raises(ProtocolError, match=r"principal sent a sum that is too large|can pay"):
        attack(messages.MaskedSum, lambda message, _: junk(message, "comp", "masked"))


def test_a_sum_larger_than_the_customers_key_is_refused_by_comp() -> None:
    small_one, large_one = sorted(
        (small_key("comp"), small_key("customer")), key=lambda key: int(key.public.n)
    )
    value = int(large_one.public.n) // 2
    change = replaced(masked=large_one.public.encrypt(value).to_bytes())
    with (
        known_keys(large_one, small_one),
        pytest.raises(ProtocolError, match=r"^principal sent a sum that is too large"),
    ):
        attack(messages.MaskedSum, change)


@pytest.mark.parametrize(
    "fields",
    [
        {"longest": float("nan")},
        {"longest": -1.0},
        {"longest": 0.0},
        {"k": 1},
        {"d": 0},
        {"d": 2**40},
    ],
)
def test_a_total_in_no_possible_unit_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ProtocolError, match=r"^principal sent a total in an impossible unit"):
        attack(messages.LinUCBTotal, replaced(**fields))


@pytest.mark.parametrize(("kind", "after", "sender", "reader"), WAY)
def test_any_altered_byte_is_a_clear_error_or_a_finished_run(
    kind: type[Message], after: int, sender: str, reader: str
) -> None:
    """Never a bare Python error: not even for what only an authenticated channel can notice."""
    outcomes = []
    for position in range(0, 400, 9):

        def change(message: Message, _: object, position: int = position) -> bytes:
            payload = bytearray(msgspec.msgpack.encode(message))
            payload[position % len(payload)] ^= 0x80 >> position % 8
            return bytes(payload)

        try:
            attack(kind, change, after=after)
        except LotorError as error:
            outcomes.append(type(error))
    assert outcomes
