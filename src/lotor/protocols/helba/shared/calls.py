"""The products of a round, call by call: in one message each way."""

from collections.abc import Sequence

from lotor.crypto.ot import ChosenRows, OfferedRows, ProductChooser, ProductSender
from lotor.crypto.residues import Residues
from lotor.protocols.garbled.wire import received_from
from lotor.protocols.helba.shared.setting import ProductCall


def chosen_rows(
    chooser: ProductChooser, calls: Sequence[ProductCall], numbers: Sequence[Residues]
) -> tuple[bytes, list[ChosenRows]]:
    """The columns for the sender, and what the chooser keeps of each call."""
    columns, rows = [], []
    for call, each in zip(calls, numbers, strict=True):
        sent, kept = chooser.choose(call.number, call.modulus, each)
        columns.append(sent)
        rows.append(kept)
    return b"".join(columns), rows


def offered_rows(
    sender: ProductSender, calls: Sequence[ProductCall], columns: bytes
) -> list[OfferedRows]:
    """What the sender keeps of each call; all columns together have the right length."""
    rows = []
    for call in calls:
        here, columns = columns[: call.column_bytes], columns[call.column_bytes :]
        rows.append(sender.rows(call.number, call.modulus, here, call.shape))
    return rows


def received_shares(
    chooser: ProductChooser,
    calls: Sequence[ProductCall],
    rows: Sequence[ChosenRows],
    words: bytes,
    sender: str,
) -> list[Residues]:
    """The chooser's shares, (groups, length, primes) of each call."""
    shares = []
    for call, kept in zip(calls, rows, strict=True):
        here, words = words[: call.word_bytes], words[call.word_bytes :]
        with received_from(sender):
            shares.append(chooser.receive(kept, here, call.length))
    return shares
