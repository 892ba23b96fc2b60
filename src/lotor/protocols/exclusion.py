"""How the parties of a run agree that one of them has left it for good.

Each of those that go on signs that the party which is away since a moment, as its hub has noticed
it, leaves the run. If that party comes back and is lost again, that is another absence, and old
agreements do not count.
"""

from collections.abc import Collection, Mapping
from struct import Struct

from lotor.core.effects import Exclusion
from lotor.core.errors import IntegrityError, ProtocolError
from lotor.crypto.signing import Identity

PURPOSE = "exclusion"
_EVERYBODY = "everybody"
_MOMENT = Struct(">d")


def agree(identity: Identity, run: str, party: str, since: float) -> bytes:
    """This party's signature that a party which is away since then leaves the run."""
    return identity.sign(_signed(party, since), run=run, purpose=PURPOSE, recipient=_EVERYBODY)


def check_agreement(
    identity: Identity, run: str, signer: str, party: str, since: float, signature: bytes
) -> None:
    """Refuse what `signer` has not agreed to: this party, this absence, this run."""
    try:
        identity.verify(
            _signed(party, since),
            signature,
            sender=signer,
            run=run,
            purpose=PURPOSE,
            recipient=_EVERYBODY,
        )
    except IntegrityError as error:
        raise ProtocolError(f"{signer} has not agreed to go on without {party}: {error}") from None


def check_exclusion(
    identity: Identity, run: str, exclusion: Exclusion, parties: Collection[str]
) -> None:
    """Refuse an exclusion to which not all of these parties agree, but for those that leave."""
    away = exclusion.away
    staying = [party for party in parties if party not in away]
    unknown = sorted(away.keys() - set(parties))
    if not away or unknown or not staying:
        named = ", ".join(unknown) or "nobody" if staying else "everybody"
        raise ProtocolError(
            f"an exclusion of {named} cannot be followed: only parties that are still in the run "
            "can leave it, and somebody must stay"
        )
    for party, since in away.items():
        agreements = exclusion.agreements.get(party, {})
        for signer in staying:
            if signer not in agreements:
                raise ProtocolError(
                    f"{signer} has not agreed to go on without {party}: nobody can be excluded "
                    "unless all others agree; start a new run, and ask who claims it"
                )
            check_agreement(identity, run, signer, party, since, agreements[signer])


def excludable(
    away: Collection[str], agreed: Mapping[str, Collection[str]], parties: Collection[str]
) -> set[str]:
    """Those of the parties that are `away` whose leaving all agree to who would then be left.

    Several that are away at the same time cannot agree to each other's leaving: they leave
    together.

    >>> excludable(["lyon"], {"lyon": ["comp"]}, ["comp", "lyon", "porto"])
    set()
    >>> both = {"lyon": ["comp"], "porto": ["comp"]}
    >>> sorted(excludable(["lyon", "porto"], both, ["comp", "lyon", "porto"]))
    ['lyon', 'porto']
    """
    found = set(away)
    while True:
        staying = set(parties) - found
        lacking = {one for one in found if not staying <= set(agreed.get(one, ()))}
        if not lacking:
            return found
        found -= lacking


def _signed(party: str, since: float) -> bytes:
    return _MOMENT.pack(since) + party.encode()
