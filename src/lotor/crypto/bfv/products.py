"""The two parties of a product: who holds b and the key, and who makes messages from U and V."""

from collections.abc import Sequence
from typing import Final, NoReturn

import numpy as np

from lotor.core.errors import CryptoError, FormatError, InputError
from lotor.crypto.bfv.context import (
    MESSAGE_LEVEL,
    MODULUS_BITS,
    SLOTS,
    BFVFrame,
    ProductContext,
    product_context,
)
from lotor.crypto.bfv.noise import Words, flooding
from lotor.crypto.seal.binding import (
    SealCiphertext,
    SealKey,
    SealWritable,
    load,
    refusals,
    result_of,
    saved,
    seal,
)
from lotor.crypto.seal.framing import FrameKind
from lotor.crypto.seal.payload import CIPHERTEXT, SEAL_HEADER, unpacked
from lotor.crypto.seal.uncompressed import ciphertext, plaintext

# What SEAL packs is of one length and then of another, so that all of this travels unpacked.
_POLYNOMIAL: Final = SLOTS * 8
_AROUND: Final = SEAL_HEADER.size + CIPHERTEXT.size + SEAL_HEADER.size + 8
_MESSAGE_PART: Final = _AROUND + 2 * 2 * _POLYNOMIAL
_SEED: Final = 81
_NUMBER_PART: Final = _AROUND + 4 * _POLYNOMIAL + _SEED
_PUBLIC_PART: Final = _AROUND + 2 * 5 * _POLYNOMIAL

_FRAME_BYTES: Final = len(BFVFrame(FrameKind.CIPHERTEXT, "00" * 16, "00" * 16, (b"",)).to_bytes())
MESSAGE_BYTES: Final = _FRAME_BYTES + _MESSAGE_PART
"""How long a message is, always."""
NUMBER_BYTES: Final = _FRAME_BYTES + _NUMBER_PART
"""How long an encrypted number is, always."""


class ProductKey:
    """The secret key of the party that holds b."""

    def __init__(self, key: SealKey, public_payload: bytes) -> None:
        self._context = context = product_context()
        self._key = key
        self._public = public_payload
        self.fingerprint = BFVFrame.public_fingerprint(context, public_payload)
        self._encryptor = seal().Encryptor(context.seal, key)
        self._decryptor = seal().Decryptor(context.seal, key)

    @classmethod
    def generate(cls) -> "ProductKey":
        """A new key from the operating system's randomness."""
        generator = seal().KeyGenerator(product_context().seal)
        public = seal().PublicKey()
        generator.create_public_key(public)
        return cls(generator.secret_key(), _of_length(public, _PUBLIC_PART))

    def __repr__(self) -> str:
        return f"<ProductKey {self.fingerprint}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a ProductKey is not pickled or copied: use to_bytes and from_bytes")

    @property
    def public(self) -> bytes:
        """The public key, for `ProductMaker`."""
        return self._frame(FrameKind.PUBLIC_KEY, self._public)

    def encrypted(self, b: Words) -> list[bytes]:
        """Each number of b, below 2^59, encrypted for `ProductMaker`; once for a run."""
        if b.ndim != 1 or not b.size:
            raise InputError(f"b has shape {b.shape}: it must be a vector that is not empty")
        made = []
        for number in _words("b", b, b.shape):
            plain = plaintext(self._context.seal, np.array([number]))
            with refusals:
                # A seed stands for the random half of what is saved.
                payload = _of_length(self._encryptor.encrypt_symmetric(plain), _NUMBER_PART)
            made.append(self._frame(FrameKind.CIPHERTEXT, payload))
        return made

    def read(self, message: bytes) -> Words:
        """Y = U·b + V mod 2^59, of a message under this key."""
        context = self._context
        part = _part(context, message, self.fingerprint, MESSAGE_LEVEL)
        if len(part) != _MESSAGE_PART:
            raise FormatError(
                f"the inner part of a BFV message always has {_MESSAGE_PART} bytes, and this one "
                f"has {len(part)}: its sender made it in another way; ask for it again"
            )
        loaded = context.loaded(part, MESSAGE_LEVEL)
        plain = seal().Plaintext()
        with refusals:
            self._decryptor.decrypt(loaded, plain)
        y = np.zeros(SLOTS, dtype=np.uint64)
        count = plain.coeff_count()
        y[:count] = np.fromiter(map(plain.__getitem__, range(count)), np.uint64, count)
        return y

    def to_bytes(self) -> bytes:
        """The secret itself: keep it in a private file."""
        return self._frame(FrameKind.SECRET_KEY, self._public, saved(self._key))

    @classmethod
    def from_bytes(cls, data: bytes) -> "ProductKey":
        """Load what `to_bytes` returned."""
        context = product_context()
        frame = BFVFrame.read(FrameKind.SECRET_KEY, data, context)
        public, secret = frame.exactly(2)
        frame.check_public(context, public)
        key = seal().SecretKey()
        load(key, context.seal, frame.check_payload(frame.kind, secret, context.most_bytes()))
        return cls(key, bytes(public))

    def _frame(self, kind: FrameKind, *parts: bytes) -> bytes:
        return BFVFrame(kind, self._context.fingerprint, self.fingerprint, parts).to_bytes()


class ProductMaker:
    """The other party: it multiplies numbers that it cannot read by U, and hides U."""

    def __init__(self, public: bytes, encrypted: Sequence[bytes]) -> None:
        self._context = context = product_context()
        frame = BFVFrame.read(FrameKind.PUBLIC_KEY, public, context)
        (payload,) = frame.exactly(1)
        frame.check_public(context, payload)
        key = seal().PublicKey()
        load(key, context.seal, frame.check_payload(frame.kind, payload, context.most_bytes()))
        self.fingerprint = frame.key
        self._encryptor = seal().Encryptor(context.seal, key)
        if not encrypted:
            raise InputError("there are no encrypted numbers: pass what ProductKey.encrypted made")
        self._b = [_factor(context, data, frame.key) for data in encrypted]

    def __repr__(self) -> str:
        return f"<ProductMaker of {len(self._b)} numbers under key {self.fingerprint}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a ProductMaker is not pickled or copied: keep the bytes it was made of")

    def message(self, u: Words, v: Words) -> bytes:
        """U·b + V for the key's holder; U of shape (d, SLOTS) and V (SLOTS,) serve only once."""
        u = _words("u", u, (len(self._b), SLOTS))
        total = self._hiding(_words("v", v, (SLOTS,)))
        products = self._products(u)
        evaluator = self._context.evaluator
        if products is not None:
            with refusals:
                evaluator.add_inplace(total, products)
        # What is left afterwards has room enough for the noise, in half the bytes.
        low = self._context.ids[MESSAGE_LEVEL]
        part = _of_length(result_of(evaluator.mod_switch_to, total, low), _MESSAGE_PART)
        names = (self._context.fingerprint, self.fingerprint)
        return BFVFrame(FrameKind.CIPHERTEXT, *names, (part,), MESSAGE_LEVEL).to_bytes()

    def _hiding(self, v: Words) -> SealCiphertext:
        """V in a fresh encryption under the public key, with flooding."""
        context = self._context
        total = result_of(self._encryptor.encrypt, plaintext(context.seal, v))
        noise = np.zeros((2, len(context.primes), SLOTS), dtype=np.uint64)
        noise[0] = flooding(context.primes)
        with refusals:
            context.evaluator.add_inplace(total, ciphertext(context.seal, context.ids[0], noise))
        return total

    def _products(self, u: Words) -> SealCiphertext | None:
        """The sum of U_j·b_j; None for zeros, which SEAL does not multiply by."""
        context, evaluator = self._context, self._context.evaluator
        total, transformed = None, seal().Plaintext()
        for b, row in zip(self._b, u, strict=True):
            if not row.any():
                continue
            with refusals:
                plain = plaintext(context.seal, row)
                evaluator.transform_to_ntt(plain, context.ids[0], transformed)
            product = result_of(evaluator.multiply_plain, b, transformed)
            if total is None:
                total = product
            else:
                evaluator.add_inplace(total, product)
        if total is not None:
            evaluator.transform_from_ntt_inplace(total)
        return total


def _factor(context: ProductContext, data: bytes, key: str) -> SealCiphertext:
    """An encrypted b_j, transformed so that it is ready for products."""
    loaded = context.loaded(_part(context, data, key, level=0), level=0)
    context.evaluator.transform_to_ntt_inplace(loaded)
    return loaded


def _part(context: ProductContext, data: bytes, key: str, level: int) -> bytes | memoryview:
    frame = BFVFrame.read(FrameKind.CIPHERTEXT, data, context, key=key)
    if frame.level != level:
        raise FormatError(
            f"a BFV ciphertext of level {level} is needed and this one is of level {frame.level}: "
            "encrypted numbers and messages were mixed up; pass the right object"
        )
    (part,) = frame.exactly(1)
    return part


def _of_length(item: SealWritable, length: int) -> bytes:
    """What SEAL writes of a ciphertext or public key, unpacked: always so many bytes."""
    payload = unpacked(saved(item), length, CIPHERTEXT)
    if payload is None or len(payload) != length:
        raise CryptoError(
            f"SEAL did not write the {length} bytes that are needed: this build of it writes "
            "otherwise; install the package tenseal anew"
        )
    return payload


def _words(name: str, values: Words, shape: tuple[int, ...]) -> Words:
    if values.dtype != np.uint64 or values.shape != shape:
        raise InputError(
            f"{name} is an array of {values.dtype} of shape {values.shape}: pass uint64 of shape "
            f"{shape}"
        )
    if values.max() >> np.uint64(MODULUS_BITS):
        raise InputError(
            f"a number of {name} is 2^{MODULUS_BITS} or larger: reduce it modulo 2^{MODULUS_BITS}"
        )
    return values
