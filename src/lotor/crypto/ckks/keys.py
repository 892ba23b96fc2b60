"""The three keys: the users' secret key, the public key, and what a server computes with.

A key's fingerprint is a hash of its public key, so that nobody can pass off another one under it.
"""

from collections.abc import Mapping, Sequence
from typing import NoReturn

import msgspec
import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import FormatError, InputError
from lotor.core.unreadable import UNREADABLE
from lotor.crypto.ckks.ciphertext import Ciphertext, ciphertext_frame
from lotor.crypto.ckks.context import Context, Values, context_of
from lotor.crypto.ckks.framing import CKKSFrame
from lotor.crypto.ckks.key_trial import relinearisation_key, rotation_key, try_keys
from lotor.crypto.ckks.parameters import Parameters
from lotor.crypto.seal.binding import (
    KeyGenerator,
    SealKey,
    SealKeySwitchKeys,
    SealPlaintext,
    load,
    refusals,
    result_of,
    saved,
    seal,
)
from lotor.crypto.seal.framing import FrameKind


class PublicKey:
    """Encrypts; `fingerprint` names it and everything that belongs to it."""

    def __init__(self, context: Context, key: SealKey, payload: bytes) -> None:
        self.context = context
        self.fingerprint = CKKSFrame.public_fingerprint(context.parameters, payload)
        # SEAL may write the same key in other bytes another time.
        self._payload = payload
        self._encryptor = seal().Encryptor(context.seal, key)

    def __repr__(self) -> str:
        return f"<PublicKey {self.fingerprint}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a PublicKey is not pickled or copied: use to_bytes and from_bytes")

    @property
    def parameters(self) -> Parameters:
        return self.context.parameters

    def encrypt(self, values: Values, level: int = 0, scale: float | None = None) -> Ciphertext:
        """Encrypt at a level; at that level's own scale unless another is given."""
        plain = self.context.encode(values, level, scale)
        out = result_of(self._encryptor.encrypt, plain)
        return Ciphertext(self.context, self.fingerprint, out)

    def encrypt_zero(self, level: int, scale: float) -> Ciphertext:
        """Zero in every slot and coefficient, fresh each time."""
        self.context.check_level(level)
        out = result_of(self._encryptor.encrypt_zero, self.context.ids[level])
        out.scale = scale
        return Ciphertext(self.context, self.fingerprint, out)

    def to_bytes(self, *, mac_key: bytes | None = None) -> bytes:
        names = (self.parameters.fingerprint, self.fingerprint)
        return CKKSFrame(FrameKind.PUBLIC_KEY, *names, (self._payload,)).to_bytes(mac_key)

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        parameters: Parameters,
        *,
        fingerprint: str | None = None,
        mac_key: bytes | None = None,
    ) -> "PublicKey":
        """Load a public key, which must have this fingerprint if one is given."""
        frame = CKKSFrame.read(
            FrameKind.PUBLIC_KEY, data, parameters, key=fingerprint, mac_key=mac_key
        )
        return _load_public(frame, parameters, *frame.exactly(1))

    @classmethod
    def _make(cls, context: Context, generator: KeyGenerator) -> "PublicKey":
        key = seal().PublicKey()
        generator.create_public_key(key)
        return cls(context, key, saved(key))


def _load_public(
    frame: CKKSFrame, parameters: Parameters, payload: bytes | memoryview
) -> PublicKey:
    frame.check_public(parameters, payload)
    context = context_of(parameters)
    key = seal().PublicKey()
    most = 4 * parameters.ciphertext_bytes() + 4096
    load(key, context.seal, CKKSFrame.check_payload(FrameKind.PUBLIC_KEY, payload, most))
    return PublicKey(context, key, bytes(payload))


class SecretKey:
    """Decrypts, and encrypts into half the bytes; the server never has it."""

    def __init__(self, public: PublicKey, key: SealKey) -> None:
        self.public = public
        self.context = public.context
        self._key = key
        self._decryptor = seal().Decryptor(self.context.seal, key)
        self._encryptor = seal().Encryptor(self.context.seal, key)

    @classmethod
    def generate(cls, parameters: Parameters) -> "SecretKey":
        """A new key from the operating system's randomness."""
        context = context_of(parameters)
        generator = seal().KeyGenerator(context.seal)
        return cls(PublicKey._make(context, generator), generator.secret_key())

    def __repr__(self) -> str:
        return f"<SecretKey {self.fingerprint}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a SecretKey is not pickled or copied: use to_bytes and from_bytes")

    @property
    def parameters(self) -> Parameters:
        return self.context.parameters

    @property
    def fingerprint(self) -> str:
        return self.public.fingerprint

    def encrypt_to_bytes(
        self,
        values: Values,
        level: int = 0,
        scale: float | None = None,
        *,
        mac_key: bytes | None = None,
    ) -> bytes:
        """A ciphertext to send, in half the bytes, because a seed stands for its random half."""
        plain = self.context.encode(values, level, scale)
        with refusals:
            payload = saved(self._encryptor.encrypt_symmetric(plain))
        return ciphertext_frame(
            self.parameters, self.fingerprint, payload, level, plain.scale, mac_key
        )

    def encrypt(self, values: Values, level: int = 0, scale: float | None = None) -> Ciphertext:
        """Encrypt with the secret key, which has less noise than with the public one."""
        plain = self.context.encode(values, level, scale)
        out = result_of(self._encryptor.encrypt_symmetric, plain)
        return Ciphertext(self.context, self.fingerprint, out)

    def decrypt(self, ciphertext: Ciphertext) -> NDArray[np.float64]:
        """The real parts in all slots."""
        return self.context.decode(self._decrypted(ciphertext))

    def decrypt_complex(self, ciphertext: Ciphertext) -> NDArray[np.complex128]:
        return self.context.decode_complex(self._decrypted(ciphertext))

    def _decrypted(self, ciphertext: Ciphertext) -> SealPlaintext:
        ciphertext.check_key(self.fingerprint)
        plain = seal().Plaintext()
        with refusals:
            self._decryptor.decrypt(ciphertext.seal, plain)
        return plain

    def evaluation_keys(
        self, rotations: Sequence[int] = (), *, mac_key: bytes | None = None
    ) -> bytes:
        """What a server needs to multiply and to rotate by these steps, for `EvaluationKeys`."""
        generator = seal().KeyGenerator(self.context.seal, self._key)
        slots, degree = self.parameters.slots, self.parameters.degree
        steps = sorted({step % slots for step in rotations} - {0})
        parts = [msgspec.msgpack.encode(steps), saved(generator.create_relin_keys())]
        # One by one, since SEAL holds twice as much as it writes. Its interface takes Galois
        # elements here, although it calls them steps.
        parts += [saved(generator.create_galois_keys([pow(3, step, 2 * degree)])) for step in steps]
        names = (self.parameters.fingerprint, self.fingerprint)
        return CKKSFrame(FrameKind.EVALUATION_KEYS, *names, tuple(parts)).to_bytes(mac_key)

    def to_bytes(self, *, mac_key: bytes | None = None) -> bytes:
        """The secret itself: keep it in a private file, or seal it for its recipient."""
        parts = (self.public._payload, saved(self._key))
        names = (self.parameters.fingerprint, self.fingerprint)
        return CKKSFrame(FrameKind.SECRET_KEY, *names, parts).to_bytes(mac_key)

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        parameters: Parameters,
        *,
        fingerprint: str | None = None,
        mac_key: bytes | None = None,
    ) -> "SecretKey":
        """Load a secret key, which must have this fingerprint if one is given."""
        frame = CKKSFrame.read(
            FrameKind.SECRET_KEY, data, parameters, key=fingerprint, mac_key=mac_key
        )
        public_part, secret_part = frame.exactly(2)
        public = _load_public(frame, parameters, public_part)
        key = seal().SecretKey()
        most = 2 * parameters.ciphertext_bytes() + 4096
        load(key, public.context.seal, CKKSFrame.check_payload(frame.kind, secret_part, most))
        return cls(public, key)


class EvaluationKeys:
    """The keys with which a server multiplies and rotates; they decrypt nothing."""

    def __init__(
        self,
        context: Context,
        fingerprint: str,
        relinearisation: SealKeySwitchKeys,
        rotation: Mapping[int, SealKeySwitchKeys],
    ) -> None:
        self.context = context
        self.fingerprint = fingerprint
        self.relinearisation = relinearisation
        self.rotation = rotation

    def __repr__(self) -> str:
        return f"<EvaluationKeys {self.fingerprint}, rotations {[*self.rotation]}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("EvaluationKeys are not pickled or copied: keep the bytes")

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        parameters: Parameters,
        key: str,
        *,
        mac_key: bytes | None = None,
        trial: bool = False,
    ) -> "EvaluationKeys":
        """Load the keys that belong to the key of this fingerprint.

        With `trial`, which is for keys of somebody else, another process loads them first.
        """
        frame = CKKSFrame.read(
            FrameKind.EVALUATION_KEYS, data, parameters, key=key, mac_key=mac_key
        )
        context = context_of(parameters)
        try:
            steps = msgspec.msgpack.decode(frame.parts[0], type=tuple[int, ...])
        except (*UNREADABLE, IndexError):
            steps = (-1,)
        if any(not 0 < step < parameters.slots for step in steps):
            raise FormatError(
                "these CKKS evaluation keys name impossible rotations: ask for them again"
            )
        _, first, *others = frame.exactly(2 + len(steps))
        if trial:
            try_keys(parameters, [first, *others])
        relinearisation = relinearisation_key(first, context)
        rotation = {
            step: rotation_key(part, context) for step, part in zip(steps, others, strict=True)
        }
        if not all(
            keys.has_key(pow(3, step, 2 * parameters.degree)) for step, keys in rotation.items()
        ):
            raise FormatError(
                "these CKKS evaluation keys lack a rotation that they name: ask for them again"
            )
        return cls(context, key, relinearisation, rotation)

    def check_rotation(self, step: int) -> int:
        """The step as SEAL takes it, if there is a key for it."""
        step %= self.context.parameters.slots
        if step and step not in self.rotation:
            raise InputError(
                f"there is no key for a rotation by {step}, only for {[*self.rotation]}: name it "
                "when the secret key makes the evaluation keys"
            )
        return step
