"""V and g at the server, and how they are written down without writing all of them each round.

In the store are sums, and the updates that came since, as they came. Adding ciphertexts is exact,
so that after a restart they add up to the very same sums.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from lotor.core.errors import CryptoError
from lotor.crypto.ckks import Encrypted
from lotor.protocols.helba.bounds import PublicBounds
from lotor.protocols.helba.index_circuit import Numbers, plus
from lotor.protocols.store import Store

REWRITE_ROUNDS = 32
"""After so many rounds sums are written down anew."""

Loader = Callable[[Sequence[bytes]], list[Encrypted]]


class Written(msgspec.Struct):
    """Names in the store. `log` has an entry for each round from `first` on.

    `base` has the rounds before the batch, or fewer: the estimate is computed from these. Where
    `later` is not empty, it has all rounds before `first`, and `base` those before the batch.
    """

    base: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    log: tuple[tuple[str, ...], ...] = ()
    first: int = 1

    def names(self) -> Iterator[str]:
        yield from self.base
        yield from self.later
        for update in self.log:
            yield from update


class Learning:
    """The sums in memory; `before` are those that the batch's estimate is yet to come from."""

    def __init__(self, sums: Sequence[Encrypted]) -> None:
        self.sums: Numbers[Encrypted] = tuple(sums)
        self.before: Numbers[Encrypted] | None = self.sums
        self._fresh: list[bytes] = []

    @classmethod
    def restored(cls, written: Written, start: int, store: Store, load: Loader) -> "Learning":
        """As of a snapshot in a batch that began with round `start`."""

        def fetched(names: tuple[str, ...]) -> list[Encrypted]:
            return load([store.fetch(name) for name in names])

        learning = cls(fetched(written.base))
        if written.later:
            learning.sums = tuple(fetched(written.later))
        for t, update in enumerate(written.log, written.first):
            learning.sums = plus(learning.sums, fetched(update))
            if t < start:
                learning.before = learning.sums
        return learning

    def add(self, update: Sequence[bytes], loaded: Sequence[Encrypted]) -> None:
        """Learn from one more round: its ciphertexts, as they came and loaded."""
        self.sums = plus(self.sums, loaded)
        self._fresh = list(update)

    @property
    def batch_start(self) -> Numbers[Encrypted]:
        """Of all rounds before the batch, where it is still kept."""
        if self.before is None:
            raise CryptoError("this server has let go of the sums before its batch: restart it")
        return self.before

    def begin_batch(self) -> None:
        """All rounds so far are what the next estimate is computed from."""
        self.before = self.sums

    def write(
        self, written: Written, store: Store, bounds: PublicBounds, *, t: int, start: int
    ) -> None:
        """Put into the store what is not there yet, before round t is over."""
        if self._fresh:
            written.log = (*written.log, tuple(store.keep(data) for data in self._fresh))
            self._fresh = []
        if not written.base:
            written.base = self._kept(store)
        elif start == t and self._base_is_due(written, bounds, t):
            written.base, written.later, written.log, written.first = self._kept(store), (), (), t
        elif len(written.log) >= REWRITE_ROUNDS and (written.later or written.first == start):
            written.later, written.log, written.first = self._kept(store), (), t

    def _base_is_due(self, written: Written, bounds: PublicBounds, t: int) -> bool:
        """Before a long batch, too: in the middle of one it is too late."""
        if written.later:  # which may be of this very round, written before it began a batch
            return True
        batch_is_long = bounds.start(t + REWRITE_ROUNDS, t) == t
        return written.first < t and (len(written.log) >= REWRITE_ROUNDS or batch_is_long)

    def _kept(self, store: Store) -> tuple[str, ...]:
        return tuple(store.keep(entry.ciphertext.to_bytes()) for entry in self.sums)

    def written_down(self) -> None:
        """Nothing that came before the last durable checkpoint is to be written any more."""
        self._fresh = []
