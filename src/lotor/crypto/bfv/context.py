"""The one parameter set of products, made ready in SEAL, and the frames of its bytes.

Four primes of 50 bits leave 2^140 for noise beside numbers of 59 bits; a message is switched down
to two of them. A special prime of 18 bits takes part in public-key encryption only. Together they
have 218 bits, the most that 128-bit security allows at degree 8192.
"""

from functools import cache
from hashlib import sha256
from typing import ClassVar, Final

from lotor.core.errors import FormatError
from lotor.crypto.seal.binding import SealCiphertext, load, seal
from lotor.crypto.seal.context import level_ids, seal_context
from lotor.crypto.seal.framing import FrameKind, SealFrame
from lotor.crypto.seal.rings import FINGERPRINT_BYTES, largest_primes

SLOTS: Final = 8192
"""How many products a message holds: the degree of the ring."""
MODULUS_BITS: Final = 59
"""Everything is computed modulo 2 to this power."""
PRIME_BITS: Final = (50, 50, 50, 50, 18)
"""The primes of a fresh ciphertext, and the special prime."""
SECURITY: Final = 128
MESSAGE_LEVEL: Final = 2
"""A message has lost so many primes."""


class BFVFrame(SealFrame):
    """A key or a ciphertext of BFV."""

    __slots__ = ()
    scheme: ClassVar[str] = "BFV"
    magic: ClassVar[bytes] = b"LBfv"


class ProductContext:
    """SEAL's view of the parameter set; `product_context` makes the one of this process."""

    def __init__(self) -> None:
        library = seal()
        primes = largest_primes(SLOTS, PRIME_BITS)
        self.seal = seal_context(
            library.SCHEME_TYPE.BFV,
            SLOTS,
            primes,
            library.SEC_LEVEL_TYPE.TC128,
            1 << MODULUS_BITS,
        )
        self.primes = primes[:-1]
        self.evaluator = library.Evaluator(self.seal)
        # One prime alone is smaller than the plain modulus, so that two is the end.
        self.ids = level_ids(self.seal)
        self.levels = len(self.ids) - 1
        text = (
            "lotor bfv parameters v1\n"
            f"degree={SLOTS}\n"
            f"primes={','.join(map(str, primes))}\n"
            f"plain=2^{MODULUS_BITS}\n"
        )
        self.fingerprint = sha256(text.encode()).digest()[:FINGERPRINT_BYTES].hex()

    def most_bytes(self, level: int = 0) -> int:
        """More than SEAL ever writes for a key or for a ciphertext at this level."""
        return 4 * (len(PRIME_BITS) - level) * SLOTS * 8 + 4096

    def loaded(self, payload: bytes | memoryview, level: int) -> SealCiphertext:
        """A ciphertext of two polynomials at this level, as encryption and products leave it."""
        checked = BFVFrame.check_payload(FrameKind.CIPHERTEXT, payload, self.most_bytes(level))
        out = seal().Ciphertext()
        load(out, self.seal, checked)
        usable = out.size() == 2 and not out.is_ntt_form() and not out.is_transparent()
        if not usable or out.coeff_modulus_size() != len(self.primes) - level:
            raise FormatError(
                "the inner part of this BFV ciphertext has another level or form than it must "
                "have: its sender made it in another way; ask for it again"
            )
        return out


@cache
def product_context() -> ProductContext:
    """The one context of this process."""
    return ProductContext()
