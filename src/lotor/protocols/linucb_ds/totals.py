"""The sum of rewards, as the customer reads it in every form."""

from lotor.core.errors import InputError, ProtocolError
from lotor.policies.linear import Layout
from lotor.protocols.linucb_ds.terms import LinUCBTerms


def in_units(terms: LinUCBTerms, total: int, longest: float, k: int, d: int) -> float:
    """An exact total in the customer's unit, from the public numbers that P sends with it."""
    policy = terms.check(terms.run)
    try:
        layout = Layout(L=longest, S=policy.bound, k=k, d=d, slot_bits=terms.slot_bits)
    except InputError as error:
        raise ProtocolError(f"principal sent a total in an impossible unit: {error}") from None
    if abs(total) > layout.largest_total(terms.budget):
        raise ProtocolError(
            f"the total is larger than {terms.budget} pulls can pay, so it is worthless: "
            "messages were swapped or replaced on their way"
        )
    return layout.reward(total)
