"""What the terms of the shared form say besides: the size of batches, the customer's key."""

from lotor.core.durations import LONGEST
from lotor.core.errors import InputError, ProtocolError
from lotor.crypto.sealing import PUBLIC_KEY_BYTES
from lotor.policies import Policy, to_text
from lotor.protocols.revealing import NOTHING
from lotor.protocols.samba.shared.messages import WIRE
from lotor.protocols.samba.shared.schedule import size_of
from lotor.protocols.samba.terms import SambaTerms


class SambaSharedTerms(SambaTerms, frozen=True, tag=WIRE + "terms"):
    """`batch` argmaxes of so many AND `gates` are garbled together.

    Comp seals its part of the total to `customer_key`. An owner that has been away for
    `exclude_after` seconds may be excluded, if all others agree; None: no owner may.
    """

    batch: int
    gates: int
    customer_key: bytes
    exclude_after: float | None = None

    def check(self, run: str, policy: Policy) -> None:
        super().check(run, policy)
        if not policy.selects_maximum:
            raise ProtocolError(
                f"customer ordered {to_text(policy)}, which selects arms in its own way, in the "
                "shared form, which can only take the largest score: order it with form 'paper'"
            )
        if self.exclude_after is not None and not 0.0 < self.exclude_after <= LONGEST:
            raise ProtocolError(
                "customer ordered a run whose owners may be excluded after no possible length of "
                "time: order it again"
            )
        if self.exclude_after is not None and self.reveal != NOTHING:
            raise ProtocolError(
                "customer ordered a run without owners that are lost, and to be told what takes "
                "all owners: order it without `reveal` or without `exclude_after`"
            )
        try:
            size = size_of(self.k)
        except InputError as error:
            raise ProtocolError(f"customer ordered too much: {error}") from None
        if (self.batch, self.gates) != size or len(self.customer_key) != PUBLIC_KEY_BYTES:
            raise ProtocolError(
                f"customer ordered batches of {self.batch} argmaxes of {self.gates} AND gates, "
                f"where this version garbles {size.circuits} of {size.gates}, or gave no key to "
                "seal the total to: it runs another version; order it with this one"
            )
