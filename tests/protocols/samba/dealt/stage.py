"""Runs of the dealt form."""

from collections.abc import Mapping
from functools import cache

import lotor
from lotor.policies import Policy
from lotor.protocols.party import Party
from lotor.protocols.samba.dealt.customer import SambaDealtCustomer
from lotor.protocols.samba.dealt.form import SambaDealt
from lotor.protocols.samba.dealt.terms import SambaDealtTerms

FORM = SambaDealt()


@cache
def dealt(policy: Policy, owners: int = 1) -> lotor.Samba:
    """A policy is checked when this is made, and tests make the same ones hundreds of times."""
    return lotor.Samba(policy, owners=owners, form="dealt")


def terms_of(parties: Mapping[str, Party]) -> SambaDealtTerms:
    customer = parties["customer"]
    assert isinstance(customer, SambaDealtCustomer)
    return customer._terms
