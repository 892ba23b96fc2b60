"""How a frame of CKKS is told from those of other schemes on SEAL."""

from typing import ClassVar

from lotor.crypto.seal.framing import SealFrame


class CKKSFrame(SealFrame):
    """A key or a ciphertext of CKKS."""

    __slots__ = ()
    scheme: ClassVar[str] = "CKKS"
    magic: ClassVar[bytes] = b"LCks"
