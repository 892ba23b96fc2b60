"""Long things travel in parts, of which only so many are on their way at one time.

A party keeps what it has sent until the receiver has it on its disk, and sends it again on every
new connection. So that this stays small, the receiver writes down what it has after every window
of parts and says so; only then do the next ones follow. After the last window comes no `Taken`,
but whatever the receiver does with the whole.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from lotor.core.effects import Checkpoint, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.protocols.helba.messages import Part, Taken

PART_BYTES: Final = 8 << 20
WINDOW_BYTES: Final = 32 << 20


@dataclass(frozen=True, slots=True)
class Shape:
    """What both sides know of it: `count` parts of at most `longest` bytes each."""

    kind: type[Part]
    place: bytes
    count: int
    longest: int

    @property
    def window(self) -> int:
        return max(1, WINDOW_BYTES // self.longest)

    def pauses(self, done: int) -> bool:
        """Whether the sender waits after so many parts."""
        return 0 < done < self.count and done % self.window == 0


def cut_shape(kind: type[Part], place: bytes, size: int) -> Shape:
    """Of a string of so many bytes that was `cut`."""
    return Shape(kind, place, -(-size // PART_BYTES), PART_BYTES)


def cut(data: bytes) -> Iterable[bytes]:
    return (data[start : start + PART_BYTES] for start in range(0, len(data), PART_BYTES))


def upload(to: str, shape: Shape, parts: Iterable[bytes]) -> Steps[None]:
    """Send all parts, each as soon as it may go."""
    for index, data in enumerate(parts):
        yield Send(to, shape.kind(shape.place, index, data))
        if shape.pauses(index + 1):
            yield from taken(to, shape, index + 1)


def taken(sender: str, shape: Shape, count: int) -> Steps[None]:
    """Wait until the receiver has so many parts on its disk."""
    message: Taken = yield Receive(sender, Taken)
    if (message.place, message.count) != (shape.place, count):
        raise ProtocolError(
            f"{sender} took other parts of {shape.kind.__name__} than the first {count}: it is "
            "out of step, or runs another version"
        )


def download(sender: str, shape: Shape, parts: list[bytes], checkpoint: Checkpoint) -> Steps[None]:
    """Add what is missing to `parts`, which the durable `checkpoint` writes down."""
    if shape.pauses(len(parts)):
        # Restored from that very checkpoint.
        yield Send(sender, Taken(shape.place, len(parts)))
    while len(parts) < shape.count:
        part: Part = yield Receive(sender, shape.kind)
        parts.append(checked(part, shape, len(parts), sender).data)
        if shape.pauses(len(parts)):
            yield checkpoint
            yield Send(sender, Taken(shape.place, len(parts)))


def pass_on(sender: str, to: str, shape: Shape) -> Steps[None]:
    """Hand over what fits into one window."""
    for index in range(shape.count):
        part: Part = yield Receive(sender, shape.kind)
        yield Send(to, checked(part, shape, index, sender))


def checked(part: Part, shape: Shape, index: int, sender: str) -> Part:
    """Refuse a part of something else, out of order, or too long."""
    what = f"{sender} sent {shape.kind.__name__}"
    if part.place != shape.place:
        raise ProtocolError(f"{what} of another round: it is out of step, or runs another version")
    if part.index != index:
        raise ProtocolError(
            f"{what} number {part.index} where number {index} of {shape.count} is due: it is out "
            "of step, or runs another version"
        )
    if len(part.data) > shape.longest:
        raise ProtocolError(
            f"{what} number {index} with {len(part.data)} bytes where {shape.longest} are the "
            "most: it computes another circuit; let all parties run the same version"
        )
    return part
