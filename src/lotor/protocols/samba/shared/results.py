"""How both servers' parts of a result are put together, by who may read it."""

from collections.abc import Iterable

from lotor.protocols.samba.shared.wire import COMP_BITS, CONTROLLER_BITS


def result_bits(
    controller: bytes, comp: bytes, pads: Iterable[tuple[int, int]] | None = None
) -> list[int] | None:
    """The bit of each arm; None if a tag of Comp's is not that of its bit.

    Comp's part is under `pads` (of colour and tag), or was sealed.
    """
    bits = []
    rows = zip(CONTROLLER_BITS.iter_unpack(controller), COMP_BITS.iter_unpack(comp), strict=True)
    covers = [(0, 0)] * (len(comp) // COMP_BITS.size) if pads is None else pads
    for (mine, theirs), (colour, tag) in zip(rows, covers, strict=True):
        bit = mine[0] ^ theirs[0] ^ colour
        if bit > 1 or theirs[1] ^ tag != mine[1 + bit]:
            return None
        bits.append(bit)
    return bits
