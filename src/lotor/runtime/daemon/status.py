"""What a party says about a run to all others: signed, so that nobody speaks for another."""

import time

import msgspec

from lotor.core.errors import IntegrityError, ProtocolError
from lotor.crypto.signing import Identity
from lotor.runtime.daemon.announcement import EVERYBODY
from lotor.runtime.daemon.frames import Status
from lotor.runtime.durable.journal import FAILED, FINISHED, REFUSED, RUNNING, STOPPED, WAITING
from lotor.transport.handshake import plain_text

PURPOSE = "status"
LAST_MOMENT = 1e11
"""In the year 5138: a later time is nonsense, and cannot be shown."""

MISSING, IN_DOUBT, BLOCKED = "missing", "in doubt", "blocked"
STATES = (WAITING, RUNNING, MISSING, IN_DOUBT, BLOCKED, FINISHED, STOPPED, FAILED, REFUSED)


def _signed_part(status: Status) -> bytes:
    return msgspec.msgpack.encode(msgspec.structs.replace(status, signature=b""))


def make(identity: Identity, run: str, state: str, text: str, t: int, after: float) -> Status:
    """A status that is later than the one at `after`."""
    moment = max(time.time(), after + 1e-3)
    status = Status(run, identity.name, moment, state, plain_text(text), t)
    signature = identity.sign(_signed_part(status), run=run, purpose=PURPOSE, recipient=EVERYBODY)
    return msgspec.structs.replace(status, signature=signature)


def check(identity: Identity, status: Status) -> None:
    """Refuse a status that its party did not sign, or that is not safe to print."""
    try:
        identity.verify(
            _signed_part(status),
            status.signature,
            sender=status.seat,
            run=status.run,
            purpose=PURPOSE,
            recipient=EVERYBODY,
        )
    except IntegrityError as error:
        raise ProtocolError(str(error)) from None
    if (
        status.state not in STATES
        or status.text != plain_text(status.text)
        or not 0 <= status.time < LAST_MOMENT
    ):
        raise ProtocolError(f"{status.seat} says about its run what is not known here")
