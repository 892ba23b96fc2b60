"""The total without encryption: owners split it between two servers, with a tag of it.

An owner packs the sum of its rewards and its pulls in one number, w = n·2^63 + s, modulo the prime
p = 2^127 - 1, and splits w and its tag alpha·w between the servers. Each server adds up what it
has; the customer, who drew alpha, adds two numbers and checks the tag and the number of pulls. A
server that changes its sum would have to guess alpha times the change, one of p numbers. (Modulo
2^64 there would be changes with only two possible tags.) Every owner knows alpha: an owner with a
server can forge the total, as an owner alone can by lying about its rewards.
"""

import secrets
from collections.abc import Iterable
from typing import NamedTuple

from lotor.core.errors import IntegrityError, ProtocolError
from lotor.core.fixed_point import MAXIMAL_BUDGET, REWARD_ONE
from lotor.crypto.prf import Prf, derive_key

P = (1 << 127) - 1
_SUM_BITS = 63
_NUMBER_BYTES = 16
SHARE_BYTES = 2 * _NUMBER_BYTES
"""How long a share is, and a sum of them."""


class TaggedShare(NamedTuple):
    """A server's share of a number and of its tag, or its sum of such shares."""

    number: int
    tag: int

    def __repr__(self) -> str:
        return "<TaggedShare>"

    def to_bytes(self) -> bytes:
        return b"".join(part.to_bytes(_NUMBER_BYTES, "big") for part in self)

    @classmethod
    def from_bytes(cls, data: bytes, sender: str) -> "TaggedShare":
        parts = [data[:_NUMBER_BYTES], data[_NUMBER_BYTES:]]
        share = cls(*(int.from_bytes(part, "big") for part in parts))
        if len(data) != SHARE_BYTES or max(share) >= P:
            raise ProtocolError(
                f"{sender} sent something that is not a share of a total: its message was altered, "
                "or it runs another version; start a new run"
            )
        return share


def alpha_from(tag_key: bytes) -> int:
    """The factor of all tags of a run, from a key that the customer draws and gives each owner."""
    return int.from_bytes(tag_key, "big") % P


def drawn_share(key: bytes, t: int = 0) -> TaggedShare:
    """One server's share of an owner's total, from a key that only these two have.

    Another one for what the owner has counted before round t, if it says so on its way. The key may
    serve other purposes; what is drawn from it here meets none of them.
    """
    blocks = Prf(derive_key(key, "share of a total"), range(4)).blocks(0, t, 0)
    # 256 bits for each number, so that no remainder modulo p is likelier than another.
    return TaggedShare(*(int.from_bytes(half, "big") % P for half in (blocks[:32], blocks[32:])))


def random_share() -> TaggedShare:
    """The same without a key, for an owner that writes both shares down before either leaves."""
    return TaggedShare(secrets.randbelow(P), secrets.randbelow(P))


def split(s: int, n: int, alpha: int, other: TaggedShare) -> TaggedShare:
    """The share of one server, where the other has `other`: of a sum of rewards s and n pulls."""
    _check_room(n)
    w = n << _SUM_BITS | s
    return TaggedShare((w - other.number) % P, (alpha * w - other.tag) % P)


def added(shares: Iterable[TaggedShare]) -> TaggedShare:
    """A server's sum of its shares of all owners."""
    numbers, tags = zip(*shares, strict=True)
    return TaggedShare(sum(numbers) % P, sum(tags) % P)


def total(
    first: TaggedShare, second: TaggedShare, alpha: int, budget: int, *, complete: bool = True
) -> tuple[int, int]:
    """The sum of all rewards and their number, from both servers' sums; an altered one is refused.

    Without `complete`, some outcomes may never have come.

    >>> alpha, mask = 12345, random_share()
    >>> total(mask, split(7, 2, alpha, mask), alpha, budget=2)
    (7, 2)
    """
    _check_room(budget)
    w, tag = added((first, second))
    if tag != alpha * w % P:
        raise IntegrityError(
            "the total is worthless, since its tag does not fit: controller or comp did not send "
            "the sum of what the owners gave it, or an owner gave them shares that do not belong "
            "together; start a new run, and ask their operators"
        )
    pulls, s = w >> _SUM_BITS, w & ((1 << _SUM_BITS) - 1)
    if not counts(pulls, budget, complete=complete) or s > pulls * REWARD_ONE:
        raise ProtocolError(
            f"the total is worthless, since it does not count {budget} pulls: an owner miscounts, "
            "or forged it together with controller or comp, for its tag fits; start a new run"
        )
    return s, pulls


def counts(pulls: int, budget: int, *, complete: bool) -> bool:
    """Whether a total may count so many pulls."""
    return pulls == budget if complete else pulls <= budget


def _check_room(pulls: int) -> None:
    """Sums of rewards must stay below the bits of the pulls."""
    if pulls > MAXIMAL_BUDGET:
        raise ProtocolError(
            f"a total of {pulls} pulls does not fit in {_SUM_BITS} bits: order at most "
            f"{MAXIMAL_BUDGET} in one run"
        )
