"""A learnt model that stays with the two servers after a run, and what goes on from it."""

from typing import TYPE_CHECKING

import msgspec

from lotor.core.errors import FormatError, InputError
from lotor.core.unreadable import UNREADABLE
from lotor.crypto.sharing import Shared
from lotor.protocols.earlier import Earlier
from lotor.protocols.ppcb.shape import StepShape, Weights, words_in

if TYPE_CHECKING:
    from lotor.protocols.ppcb.terms import PPCBTerms


class ContinuedModel(msgspec.Struct, frozen=True):
    """The run whose model is gone on from, as terms name it.

    The model has learnt from so many `steps`. The arms of this run and of those that it continued
    tell at most `told`, except with probability `delta`.
    """

    run: str
    steps: int
    told: float
    delta: float


class KeptModel(msgspec.Struct, frozen=True, tag="lotor/ppcb-model/1"):
    """A server's share of Algorithm 1's output: of every arm, A⁻¹ and w as uniform words.

    It tells nothing without the other server's.
    """

    run: str
    party: str
    steps: int
    arms: int
    features: int
    bits: int
    table: bytes

    def __repr__(self) -> str:
        return f"<KeptModel of {self.party} after run {self.run}>"

    @classmethod
    def of(cls, party: str, terms: "PPCBTerms", table: Shared) -> "KeptModel":
        return cls(
            run=terms.run,
            party=party,
            steps=terms.last,
            arms=terms.arms,
            features=terms.features,
            bits=terms.bits,
            table=table.share.astype("<u8").tobytes(),
        )

    def to_bytes(self) -> bytes:
        return msgspec.msgpack.encode(self)

    def weights(self, shape: StepShape, *, first: bool) -> Weights:
        columns = shape.entries + shape.features
        return Weights(words_in(self.table, shape.arms, columns, first=first))


def kept_model(party: str, terms: "PPCBTerms", earlier: Earlier | None) -> KeptModel | None:
    """The share that a server goes on from; None if the run begins anew."""
    continued = terms.continued
    if continued is None:
        return None
    if earlier is None or earlier.kept is None:
        raise InputError(
            f"{party} has no share of the model that run {continued.run} has learnt: continue a "
            "run with the two servers that it had, or start a new one"
        )
    try:
        kept = msgspec.msgpack.decode(earlier.kept, type=KeptModel)
    except UNREADABLE:
        raise FormatError(
            f"what {party} has kept of run {continued.run} cannot be read by this version: "
            "continue it with the version of lotor that did it, or start a new run"
        ) from None
    shape, found = terms.shape, (kept.run, kept.party, kept.steps)
    size = 8 * shape.arms * (shape.entries + shape.features)
    same = (kept.arms, kept.features, kept.bits) == (terms.arms, terms.features, terms.bits)
    if found != (continued.run, party, continued.steps) or not same or len(kept.table) != size:
        raise InputError(
            f"what {party} has kept is of {kept.party} after {kept.steps} steps of run {kept.run}, "
            f"with {kept.arms} arms, {kept.features} features and {kept.bits} bits, and not the "
            f"model of run {continued.run} that the order names: order it again"
        )
    return kept


def continued_from(earlier: "PPCBTerms") -> ContinuedModel:
    """How terms name the model of an ended run."""
    if not earlier.keep:
        raise InputError(
            f"run {earlier.run} was started without keep, so its servers have not kept the model: "
            "start a new run, with keep if it is to be continued"
        )
    return ContinuedModel(earlier.run, earlier.last, earlier.whole, earlier.whole_delta)


def check_continues(terms: "PPCBTerms", earlier: "PPCBTerms") -> None:
    """Refuse terms that do not go on from the model of an ended run as it is."""
    compared = {
        "arms": (earlier.arms, terms.arms),
        "bits": (earlier.bits, terms.bits),
        # In their order, which is that of the columns.
        "features": (list(earlier.owners.items()), list(terms.owners.items())),
        "policy": (earlier.unexploring, terms.unexploring),
        "rewards": ((earlier.low, earlier.high), (terms.low, terms.high)),
    }
    for what, (before, now) in compared.items():
        if before != now:
            raise InputError(
                f"run {earlier.run} learnt with {_said(what, before)}, and cannot be continued "
                f"with {_said(what, now)}: order the same, or start a new run"
            )
    if terms.continued != continued_from(earlier):
        raise InputError(
            f"the order does not say of run {earlier.run} what it was: how many steps it had, or "
            "what its arms may have told; let the receiver order again"
        )


def _said(what: str, value: object) -> str:
    if isinstance(value, list):
        return "features of " + ", ".join(f"{name} ({count})" for name, count in value)
    if isinstance(value, tuple):
        return f"rewards from {value[0]:g} to {value[1]:g}"
    return f"the policy {value}" if what == "policy" else f"{value} {what}"
