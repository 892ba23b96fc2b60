"""What the party that pulls in a linear run keeps for a run that continues it, theta excepted."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from lotor.core.errors import FormatError, InputError
from lotor.core.unreadable import UNREADABLE
from lotor.environments import LinearArms, VectorArms
from lotor.policies.linear import ModelSnapshot

LIVE_NOT_CONTINUED = (
    "live rewards are under a key of their own run, so that P's encrypted sums cannot go on under "
    "a fresh one"
)
LIVE_NOT_KEPT = f"a run with live rewards keeps nothing: {LIVE_NOT_CONTINUED}; leave keep out"


class KeptLinear(msgspec.Struct, frozen=True, tag="lotor/kept-linear/1"):
    """What is known after so many `rounds`: of which arms were pulled, and of their noise.

    `arms` is a digest of the arms, which must be the same when the run is continued.
    """

    run: str
    policy: str
    rounds: int
    arms: bytes
    model: ModelSnapshot

    def __repr__(self) -> str:
        return f"<KeptLinear after run {self.run}>"

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)

    def check_arms(self, fields: Mapping[str, Any]) -> None:
        """Refuse other arms: sums over the old ones say nothing of them."""
        if self.arms != arms_digest(fields):
            raise InputError(
                f"the owner's model is another one than in run {self.run}, which is continued: its "
                "vectors, their order and the size of the noise must be the same; let the owner "
                "bring the model that it had, or start a new run"
            )


def described(arms: LinearArms | VectorArms) -> dict[str, Any]:
    """What an owner says of its arms to whoever pulls: all but theta; without one, no noise."""
    eigenvalues = arms.eigenvalues
    return {
        "k": arms.k,
        "d": arms.d,
        "vectors": arms.vectors.astype("<f8").tobytes(),
        "eigenvalues": b"" if eigenvalues is None else eigenvalues.astype("<f8").tobytes(),
        "noise_sd": arms.noise_sd if isinstance(arms, LinearArms) else 0.0,
    }


def arms_digest(fields: Mapping[str, Any]) -> bytes:
    """Equal only for equal vectors in the same order, eigenvalues and size of the noise."""
    return sha256(b"lotor/arms" + msgspec.msgpack.encode(dict(sorted(fields.items())))).digest()


def kept_linear(data: bytes | None, run: str) -> KeptLinear:
    """What was kept of the run that is to be continued."""
    if data is None:
        raise InputError(
            f"nothing is left here of run {run}, which is to be continued: let the party that "
            "pulled in it pull again, or start a new run"
        )
    try:
        kept = msgspec.msgpack.decode(data, type=KeptLinear)
    except UNREADABLE:
        raise FormatError(
            f"what was kept of run {run} cannot be read by this version: continue it with the "
            "version of lotor that did it, or start a new run"
        ) from None
    if kept.run != run:
        raise InputError(
            f"what was kept is of run {kept.run}, and run {run} is to be continued: order it again"
        )
    return kept


def check_policy(run: str, before: str, now: str) -> None:
    """Refuse to go on with another policy, or other parameters."""
    if before != now:
        raise InputError(
            f"run {run} was one of {before}, and cannot be continued with {now}: order the same "
            "policy with the same parameters, or start a new run"
        )
