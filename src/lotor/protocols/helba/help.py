"""What a server remembers of the user's help with condition (8) and with a new estimate."""

from collections.abc import Iterator

import msgspec


class Help(msgspec.Struct):
    """Nothing of it is ever chosen twice: what covers a value is on the disk before that leaves.

    `decided` is the last round of which it is known whether a batch starts with it; `doubt` is what
    the user is asked before that, and `coin` what its answer is to be multiplied by. `masked` names
    a new estimate on its way to the user and `refreshed` what came back; `masks` are their keys.
    """

    decided: int = 1
    coin: int = 0
    doubt: bytes = b""
    masks: tuple[bytes, ...] = ()
    masked: tuple[str, ...] = ()
    refreshed: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Help until round {self.decided}>"

    def names(self) -> Iterator[str]:
        yield from self.masked
        yield from self.refreshed

    def begin_batch(self) -> None:
        self.masks = self.masked = self.refreshed = ()
