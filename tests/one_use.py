"""Looks in all that ever left the parties of a run for a place that was used twice.

A one-time pad, or a garbled circuit's labels, hide one value. Messages that carry such a value say
their `place`, so a second, different message of the same kind at the same place has used a mask
twice, whether it arrived or not. Messages that are encrypted anew each time are not meant.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from lotor.core.effects import Message


class Departure(NamedTuple):
    """One message that left a party; `seq` is its number on the way to its receiver."""

    sender: str
    to: str
    seq: int
    payload: bytes


class Place(NamedTuple):
    """Where a value is to be used once."""

    sender: str
    to: str
    kind: str
    place: bytes


def used_twice(
    departures: Iterable[Departure], *kinds: type[Message], ended_early: bool = False
) -> list[Place]:
    """The places of messages of these kinds that went out with two contents.

    All kinds must have left, so that they were looked at, unless the run may have ended before.
    """
    tags = {kind.__struct_config__.tag: kind for kind in kinds}
    contents: defaultdict[Place, set[bytes]] = defaultdict(set)
    for sender, to, _, payload in departures:
        kind = tags.get(msgspec.msgpack.decode(payload)[0])
        if kind is not None:
            message = msgspec.msgpack.decode(payload, type=kind)
            place = Place(sender, to, kind.__name__, message.place)  # type: ignore[attr-defined]
            contents[place].add(payload)
    missing = {kind.__name__ for kind in kinds} - {place.kind for place in contents}
    assert ended_early or not missing, f"nothing of these kinds ever left: {sorted(missing)}"
    return sorted(place for place, payloads in contents.items() if len(payloads) > 1)
