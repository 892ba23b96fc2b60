"""The factors that make a ciphertext fresh, made faster than by one long power each.

A randomiser is r^n mod n² with r unpredictable. Here r = h^a·g_1^b_1·…·g_m^b_m for units h, g_i
that this party draws for itself and shows to nobody, so that all powers are of fixed bases.
"""

import os
import secrets
import threading
import time
import weakref
from collections import deque
from typing import NoReturn, Self

from gmpy2 import mpz, powmod

from lotor.core.errors import InputError
from lotor.crypto.paillier.powers import POWER, FixedBase, Tables
from lotor.crypto.paillier.public import PublicKey

# Whoever decrypts knows p and q, hence the order of h: the exponent a must be uniform to within
# 2^-64 modulo that order, which is below n, or the decrypting side could tell masks apart.
EXTRA_BITS = 64
# The powers of h alone never fill the group of units, which is not cyclic: the decrypting side
# would see, unmasked, in which coset a ciphertext lies (for h = -x² and p = 1 mod 4, whether it is
# a square modulo p). The further units fill it, except with probability 2^-16 when they are drawn.
_UNITS = 16
_UNIT_WINDOW = 8
# Without prepared powers a randomiser costs one power with an exponent as long as n. The units
# above cost one each, and the tables about as much as a few more.
FEWEST_USES = 2 * _UNITS

_alive: "weakref.WeakSet[Randomisers]" = weakref.WeakSet()


class Randomisers:
    """A source of randomisers under one key; each is handed out once, to whichever thread asks.

    `uses` says about how many will be needed; it decides what is prepared. With `depth`, a thread
    keeps up to so many ready until `uses` were made; any further ones are made when asked for.
    They live in this process's memory only: a forked child drops them, and nothing can write them
    down.
    """

    def __init__(self, public_key: PublicKey, uses: int = 1000, depth: int = 0) -> None:
        if uses < 0 or depth < 0:
            raise InputError(f"uses={uses}, depth={depth}: neither can be negative; correct them")
        self.public_key = public_key
        self.depth = depth
        # About how many are still to be made; two threads may count one for two.
        self._left = uses
        self._prepare(uses)
        self._ready: deque[mpz] = deque()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._cpu_seconds = 0.0
        _alive.add(self)
        self._refill()

    def _prepare(self, uses: int) -> None:
        key = self.public_key
        self._base: FixedBase | None = None
        if uses < FEWEST_USES:
            return
        h, *units = (powmod(key._random_unit(), key.n, key.n_squared) for _ in range(_UNITS + 1))
        self._exponent_bytes = (key.bits + EXTRA_BITS + 7) // 8
        self._base = FixedBase.for_uses(h, key.n_squared, 8 * self._exponent_bytes, uses)
        self._units = Tables(units, key.n_squared, 1, _UNIT_WINDOW)

    def __repr__(self) -> str:
        return f"<Randomisers under key {self.public_key.fingerprint}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("Randomisers are not pickled or copied: make new ones from the public key")

    def take(self) -> mpz:
        """A randomiser that nobody was given before: from the pool, or made now."""
        if self._closed:
            raise InputError("these randomisers are closed: make new ones from the public key")
        # popleft is atomic: of two threads only one gets the value.
        try:
            value = self._ready.popleft()
        except IndexError:
            value = self._make()
        self._refill()
        return value

    def _make(self) -> mpz:
        key = self.public_key
        self._left -= 1
        if self._base is None:
            return powmod(key._random_unit(), key.n, key.n_squared)
        mask = self._base.power(secrets.token_bytes(self._exponent_bytes))
        exponents = [byte >> 1 for byte in secrets.token_bytes(_UNITS)]
        return mask * self._units.product(exponents) % key.n_squared

    @property
    def products(self) -> float:
        """What one randomiser costs, in modular products."""
        if self._base is None:
            return self.public_key.bits * POWER
        return self._base.products + _UNITS + 1

    @property
    def ready(self) -> int:
        """How many lie in the pool."""
        return len(self._ready)

    @property
    def cpu_seconds(self) -> float:
        """What the background thread has used."""
        return self._cpu_seconds

    def _refill(self) -> None:
        """Start filling when at most half is left; the thread ends when the pool is full."""
        if len(self._ready) * 2 > self.depth or not self.depth or self._left < 1:
            return
        with self._starting:
            idle = self._thread is None or not self._thread.is_alive()
            if idle and not self._closed:
                self._thread = threading.Thread(target=self._fill, name="randomisers", daemon=True)
                self._thread.start()

    def _fill(self) -> None:
        before = time.thread_time()
        while len(self._ready) < self.depth and self._left > 0 and not self._closed:
            self._ready.append(self._make())
        self._cpu_seconds += time.thread_time() - before

    def wait(self) -> None:
        """Wait until nothing is being filled."""
        # A party that was dropped may be collected, and close this, in the thread that fills.
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def close(self) -> None:
        """Stop filling and forget what is ready."""
        with self._starting:
            self._closed = True
        self.wait()
        self._ready.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _forget(self) -> None:
        self._ready = deque()
        self._starting = threading.Lock()
        self._thread = None


def _forget_in_child() -> None:
    # The parent hands out what was ready; its threads are not in the child, its locks may be held.
    for source in _alive:
        source._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
