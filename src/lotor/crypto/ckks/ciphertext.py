"""An encrypted vector, as an object and as bytes; `Evaluator` computes with it."""

import math
from dataclasses import dataclass
from typing import NoReturn

from lotor.core.errors import FormatError, KeyMismatchError
from lotor.crypto.ckks.context import Context, context_of
from lotor.crypto.ckks.framing import CKKSFrame
from lotor.crypto.ckks.parameters import Parameters
from lotor.crypto.seal.binding import SealCiphertext, load, saved, seal
from lotor.crypto.seal.framing import FrameKind


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ciphertext:
    """A vector under the key of this fingerprint; it is never changed."""

    context: Context
    key: str
    seal: SealCiphertext

    @property
    def parameters(self) -> Parameters:
        return self.context.parameters

    @property
    def level(self) -> int:
        """How many levels it has gone down; `levels_left` are left."""
        return self.context.level_of(self.seal)

    @property
    def levels_left(self) -> int:
        return self.parameters.levels - self.level

    @property
    def scale(self) -> float:
        return float(self.seal.scale)

    def __repr__(self) -> str:
        return f"<Ciphertext under key {self.key}, {self.levels_left} levels left>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Ciphertext is not pickled or copied: use to_bytes and from_bytes")

    def to_bytes(self, *, mac_key: bytes | None = None) -> bytes:
        """Serialise. A server floods what leaves it before: see `flood`."""
        return ciphertext_frame(
            self.parameters, self.key, saved(self.seal), self.level, self.scale, mac_key
        )

    @classmethod
    def from_bytes(
        cls, data: bytes, parameters: Parameters, key: str, *, mac_key: bytes | None = None
    ) -> "Ciphertext":
        """Load a ciphertext that must be under the key of this fingerprint."""
        frame = CKKSFrame.read(FrameKind.CIPHERTEXT, data, parameters, key=key, mac_key=mac_key)
        (part,) = frame.exactly(1)
        # SEAL's compression never makes it much longer than the numbers themselves.
        most = 2 * parameters.ciphertext_bytes(frame.level) + 4096
        payload = CKKSFrame.check_payload(FrameKind.CIPHERTEXT, part, most)
        context = context_of(parameters)
        ciphertext = cls(context, key, seal().Ciphertext())
        load(ciphertext.seal, context.seal, payload)
        ciphertext._check_loaded(frame)
        return ciphertext

    def _check_loaded(self, frame: CKKSFrame) -> None:
        inner = self.seal
        usable = inner.size() == 2 and inner.is_ntt_form() and not inner.is_transparent()
        if not usable or self.level != frame.level or self.scale != frame.scale:
            raise FormatError(
                "the inner part of this CKKS ciphertext has another level, scale or form than its "
                "header says: its sender made it in another way; ask for it again"
            )
        if not math.isfinite(self.scale) or self.scale < 1:
            raise FormatError("this CKKS ciphertext has an impossible scale: ask for it again")

    def check_key(self, key: str) -> None:
        """Raise KeyMismatchError unless it is under this key."""
        if self.key != key:
            raise KeyMismatchError(
                f"the ciphertext is under key {self.key} and {key} is needed: it comes from "
                "another run or party; use the key that it was made with"
            )


def ciphertext_frame(
    parameters: Parameters,
    key: str,
    payload: bytes,
    level: int,
    scale: float,
    mac_key: bytes | None,
) -> bytes:
    """The bytes of a ciphertext that SEAL has written already."""
    frame = CKKSFrame(FrameKind.CIPHERTEXT, parameters.fingerprint, key, (payload,), level, scale)
    return frame.to_bytes(mac_key)
