"""Parties of the dealt form, and how they are rebuilt after a crash."""

from collections.abc import Mapping
from functools import cache, partial

import lotor
from crashing import Site
from lotor.core.fixed_point import RewardScale
from lotor.crypto.signing import trusting_identities
from lotor.policies import Policy
from lotor.protocols.form import PULL, Assignment, Contribution
from lotor.protocols.party import Party, Run
from lotor.protocols.samba.dealt.customer import SambaDealtCustomer
from lotor.protocols.samba.dealt.form import SambaDealt
from lotor.protocols.samba.dealt.owner import SambaDealtOwner
from lotor.protocols.samba.dealt.terms import SambaDealtTerms
from rebuilding import Rebuild

FORM = SambaDealt()


@cache
def dealt(policy: Policy, owners: int = 1) -> lotor.Samba:
    """A policy is checked when this is made, and tests make the same ones hundreds of times."""
    return lotor.Samba(policy, owners=owners, form="dealt")


def terms_of(parties: Mapping[str, Party]) -> SambaDealtTerms:
    customer = parties["customer"]
    assert isinstance(customer, SambaDealtCustomer)
    return customer._terms


def rebuilder(samba: lotor.Samba, parties: Mapping[str, Party], name: str) -> Rebuild:
    """As a daemon rebuilds a party from its snapshot."""
    terms, party = terms_of(parties), parties[name]
    if isinstance(party, SambaDealtOwner | SambaDealtCustomer):
        identity = party._ring.identity
    else:
        identity = trusting_identities([name])[name]
    assignment = Assignment(
        terms.run,
        name,
        terms.to_bytes(),
        identity,
        contribution=Contribution(terms.owners.get(name, 0)),
        brings=frozenset({PULL}),
        simulated=samba,
    )
    return partial(FORM.party, assignment)


def dealt_sites(samba: lotor.Samba, k: int, budget: int, *, seed: int) -> dict[str, Site]:
    """The machines of a run with decision draws from a seed."""
    parties = samba.parties(Run("aa", k, budget, RewardScale(), seed))
    links = FORM.links(FORM.seats_of({"owner": tuple(terms_of(parties).owners)}))
    return {
        name: Site(name, party, rebuilder(samba, parties, name), list(links[name]))
        for name, party in parties.items()
    }
