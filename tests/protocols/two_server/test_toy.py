"""A protocol that two_server knows nothing of runs on it: right, resumable, and without reuse."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.core.errors import CryptoError
from lotor.crypto.sharing import Bits, PadCipher, Pads, Words
from lotor.protocols.party import Party
from lotor.protocols.two_server import dealer, outside, schedule, server
from lotor.protocols.two_server.messages import More, PadKey, PlacedShares
from protocols.two_server.noting import noted_pads
from protocols.two_server.toy import (
    SEATS,
    Leader,
    Played,
    ToyCircuits,
    ToyServer,
    ToyTerms,
    fixed_keys,
    parties_of,
    plain,
    play,
    rebuild,
)
from restarting import Restarting

ROWS = [[3, 9, 4, 7], [2, 2, 2, 5], [0, -8, 1, 1], [6, 0, 0, 9], [1, 1, 1, 0], [0, 5, 5, 2]]
OTHER_ROWS = [[0] * 4] * len(ROWS)
PARTIES = list(parties_of(ROWS))
AMOUNT = st.integers(-(2**40), 2**40)


@st.composite
def some_rows(draw: st.DrawFn) -> list[list[int]]:
    k = draw(st.integers(1, 6))
    row = st.lists(AMOUNT, min_size=k + 1, max_size=k + 1)
    return draw(st.lists(row, min_size=1, max_size=6))


@settings(max_examples=30, deadline=None)
@given(some_rows())
def test_it_tells_what_plain_tells(rows: list[list[int]]) -> None:
    assert play(parties_of(rows)).leaders == plain(rows)


def test_what_is_counted_is_what_the_schedule_says() -> None:
    played = play(parties_of(ROWS))
    circuits = ToyCircuits(ToyTerms("aa", 3, len(ROWS))).schedule.circuits
    counted = [dict(seat.party.operations()) for seat in played.seats.values()]
    totals = {name: sum(each.get(name, 0) for each in counted) for each in counted for name in each}
    assert totals == {
        "rounds": sum(circuit.recipe.rounds * circuit.times for circuit in circuits),
        "opened_bytes": 2 * sum(circuit.recipe.opened * circuit.times for circuit in circuits),
        "correction_bytes": sum(c.recipe.correction_bytes * c.times for c in circuits),
    }


def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "MOST_AHEAD", 4)


def played_with(rows: Sequence[Sequence[int]]) -> Played:
    with fixed_keys():
        return play(parties_of(rows))


def test_the_dealer_is_told_when_batches_begin_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small_batches(monkeypatch)
    views = [played_with(rows).recorder.received(SEATS.dealer) for rows in (ROWS, OTHER_ROWS)]
    told = [[seen.payload for seen in view] for view in views]
    assert told[0] == told[1]
    assert [type(seen.message) for seen in views[0]] == [More] * 2  # batches of two


def test_sizes_and_order_of_messages_depend_on_nothing() -> None:
    told = [
        [
            (seen.sender, seen.to, type(seen.message), len(seen.payload))
            for seen in played_with(rows).recorder.exchanges
        ]
        for rows in (ROWS, OTHER_ROWS)
    ]
    assert told[0] == told[1]


def unbalanced(played: Played) -> set[str]:
    """Kinds of messages in which some bit is not 0 and 1 alike over the steps.

    Bits that never are 1 are left out: single bits travel in bytes, and the dealer's items are
    aligned.
    """
    rows: dict[tuple[str, str, bytes, int], list[bytes]] = {}
    for seen in played.recorder.exchanges:
        if isinstance(seen.message, PlacedShares):
            kind, place, shares = type(seen.message), seen.message.place[8:], seen.message.shares
            rows.setdefault((kind.__name__, seen.to, place, len(shares)), []).append(shares)
    found = set()
    for (kind_name, *_), shares_by_step in rows.items():
        n = len(shares_by_step)
        table = np.frombuffer(b"".join(shares_by_step), np.uint8).reshape(n, -1)
        ones = np.unpackbits(table, axis=1).sum(axis=0)
        if np.any(np.abs(ones[ones > 0] - n / 2) > 6 * np.sqrt(n) / 2):
            found.add(kind_name)
    return found


def test_all_shares_are_uniform() -> None:
    assert unbalanced(played_with([[5, 5, 5, 1]] * 60)) == set()


def test_inputs_in_clear_would_be_noticed() -> None:
    def no_mask(cipher: PadCipher, t: int, count: int, number: int = 0) -> Words:
        return np.zeros(count, np.uint64)

    with pytest.MonkeyPatch.context() as patch:
        for module in (outside, server):
            patch.setattr(module, "input_mask", no_mask)
        assert unbalanced(played_with([[5, 5, 5, 1]] * 60)) == {"Amounts"}


def test_pads_that_hide_nothing_would_be_noticed() -> None:
    class Nothing(Pads):
        def bits(self, shape: tuple[int, ...], dtype: np.dtype[np.unsignedinteger]) -> Bits:
            return np.zeros(shape, dtype)

    with pytest.MonkeyPatch.context() as patch:
        for module in (dealer, server):
            patch.setattr(module, "Pads", Nothing)
        assert "Opened" in unbalanced(played_with([[5, 5, 5, 1]] * 60))


def test_results_carry_a_mask_that_the_dealer_does_not_know() -> None:
    """With another key of the servers' own the shares differ, and what is read does not."""

    def told(key: bytes) -> tuple[list[bytes], object]:
        with fixed_keys(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(server, "new_key", lambda: key)
            played = play(parties_of(ROWS))
        seen = played.recorder.received("reader")
        return [one.message.shares for one in seen if isinstance(one.message, Leader)], (
            played.leaders
        )

    (ours, leaders), (others, same) = told(bytes(32)), told(b"\1" * 32)
    assert leaders == same == plain(ROWS)
    assert len(ours) == 2 * len(ROWS)
    assert sum(one != other for one, other in zip(ours, others, strict=True)) > len(ROWS)


def test_each_server_is_given_one_pad_key() -> None:
    seen = played_with(ROWS).recorder.exchanges
    keys = {one.to: one.message.key for one in seen if isinstance(one.message, PadKey)}
    assert set(keys) == {SEATS.first, SEATS.second}
    assert len(set(keys.values())) == 2


@pytest.mark.parametrize(
    ("names", "every"), [*(([name], 1) for name in PARTIES), (PARTIES, 1), (PARTIES, 3)]
)
def test_restarted_equals_uninterrupted(
    names: list[str], every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each effect, from the first on; every byte that anybody sends is the same."""
    small_batches(monkeypatch)
    smooth = played_with(ROWS)
    crashing: dict[str, Restarting] = {}

    def restarting(name: str, party: Party) -> Party:
        if name not in names:
            return party
        crashing[name] = Restarting(party, lambda snapshot: rebuild(party, snapshot), every)
        return crashing[name]

    with fixed_keys():
        parties = {name: restarting(name, party) for name, party in parties_of(ROWS).items()}
        broken = play(parties)
    assert set(crashing) == set(names)
    assert all(party.restarts > 0 for party in crashing.values())
    assert broken.leaders == smooth.leaders == plain(ROWS)
    assert broken.wire() == smooth.wire()


def test_each_pad_is_used_once() -> None:
    """By each party that holds its key: a server and the dealer, or a source and a server."""
    with noted_pads() as noted:
        play(parties_of(ROWS))
    used, steps = noted.used, len(ROWS)
    assert used["server"] == used["dealer"]
    assert set(used["server"].values()) == {1}
    assert len(used["server"]) == 2 * 2 * steps  # two servers, two circuits
    # Two inputs of the source, which the first server draws too, and what covers the result.
    assert set(used["outside"].values()) == {2}
    assert len(used["outside"]) == 3 * steps
    assert not used["outside"].keys() & used["server"].keys()
    noted.check_unequal()


@pytest.mark.parametrize(
    ("before", "t", "pays"),
    [
        ([(1, False)], 1, False),
        ([(1, False), (1, True)], 1, False),
        ([(1, False), (1, True)], 1, True),
        ([(2, False)], 1, True),
        ([(1, True)], 1, False),
        ([], 0, False),
        ([], len(ROWS) + 1, True),
    ],
)
def test_a_server_refuses_pads_that_are_used_or_not_dealt(
    before: list[tuple[int, bool]], t: int, pays: bool
) -> None:
    """Whatever the protocol above it asks for."""
    party = ToyServer(0, ToyTerms("aa", 3, len(ROWS)))
    party.memory.keys.pads = bytes(32)
    circuits = party.circuits

    def begun(t: int, pays: bool) -> None:
        if pays:
            next(party.sharing.compute(t, circuits.pay, *circuits.pay.zeros))
        else:
            next(party.sharing.compute(t, circuits.lead, *circuits.lead.zeros))

    for earlier in before:
        begun(*earlier)
    name = f"circuit {int(pays)}"
    with pytest.raises(
        CryptoError, match=f"^{name} (of step {t} comes out|is not due in step {t})"
    ):
        begun(t, pays)


def test_no_mask_covers_two_results_or_two_inputs() -> None:
    party = ToyServer(0, ToyTerms("aa", 3, len(ROWS)))
    bits, words = np.zeros(3, np.uint8), np.zeros(3, np.uint64)
    sharer = outside.InputSharer(bytes(32), SEATS)

    def tell(t: int, number: int) -> None:
        list(party.sharing.tell_bits("reader", Leader, t, bits, number))

    def share(t: int, number: int) -> None:
        sharer.share(words, t, number)

    for use, what in ((tell, "result"), (share, "input")):
        for t, number in ((1, 0), (1, 1), (2, 0)):
            use(t, number)
        for t, number in ((2, 0), (1, 2), (1, 0)):
            with pytest.raises(CryptoError, match=f"^{what} {number} of step {t} comes out of"):
                use(t, number)
        use(2, 1)
