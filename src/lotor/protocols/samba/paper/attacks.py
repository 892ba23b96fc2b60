"""Attacks on the paper's form: Comp decrypts masked scores, and coalitions read even more."""

from typing import ClassVar, TypeVar

from lotor.core.effects import Message
from lotor.core.views import Truth, View
from lotor.crypto.aead import Aead
from lotor.crypto.prf import Prf
from lotor.protocols.attack import Attack, Score
from lotor.protocols.received import ciphertext_from
from lotor.protocols.samba import attacks
from lotor.protocols.samba.paper import mask
from lotor.protocols.samba.paper.comp import SambaPaperComp
from lotor.protocols.samba.paper.controller import SambaPaperController
from lotor.protocols.samba.paper.customer import SambaPaperCustomer
from lotor.protocols.samba.paper.messages import MaskedScores, PartialSums, PermutedScores
from lotor.protocols.samba.paper.owner import SambaPaperOwner
from lotor.protocols.samba.paper.totals import unpacked
from lotor.protocols.samba.paper.wire import Bindings
from lotor.protocols.samba.tracking import Lists
from lotor.protocols.samba.wire import place_from

P = TypeVar("P")


class MaskedLists(attacks.ServerReading):
    """What Comp reads: the lists of masked scores."""

    zero_below = mask.LARGEST_TIE

    def lists(self, view: View) -> Lists:
        return _opened(view, PermutedScores, _party(view, SambaPaperComp)._memory.aes_key)


class PaperTrackRewards(MaskedLists, attacks.TrackRewards):
    """From the lists of masked scores."""


class PaperTrackCounts(MaskedLists, attacks.TrackCounts):
    """From the lists of masked scores."""


class PaperNameArms(MaskedLists, attacks.NameArms):
    """From the lists of masked scores."""


class PaperExploringRounds(MaskedLists, attacks.ExploringRounds):
    """From the lists of masked scores."""


class PaperListGcd(MaskedLists, attacks.ListGcd):
    """Of the lists of masked scores."""


class PaperListProfile(MaskedLists, attacks.ListProfile):
    """Of the lists of masked scores."""


class Unpermuted(attacks.ArgmaxOf):
    """Controller and Comp: all masked scores, and whose each is."""

    def scores(self, view: View) -> Lists:
        terms = attacks.terms_of(view)
        key = _party(view, SambaPaperController)._memory.permutation_key
        numbers = Prf(key, range(terms.k))
        lists = _opened(view, PermutedScores, _party(view, SambaPaperComp)._memory.aes_key)
        found = {}
        for (t, l), values in lists.items():
            order = numbers.integers(0, t, l)
            sigma = sorted(range(terms.k), key=order.__getitem__)
            found[t, l] = [value for _, value in sorted(zip(sigma, values, strict=True))]
        return found


class OpenedScores(attacks.ArgmaxOf):
    """Controller and an owner: the AES key opens what all owners send."""

    def scores(self, view: View) -> Lists:
        return _opened(view, MaskedScores, _party(view, SambaPaperOwner)._memory.aes_key)


class OpenedSums(Attack):
    """Controller and the customer: the Paillier key opens each arm's sum and pulls."""

    name: ClassVar[str] = "each arm's sum and pulls"
    secret: ClassVar[str] = "counts"

    def score(self, view: View, truth: Truth) -> Score:
        key = _party(view, SambaPaperCustomer)._key
        owners = attacks.terms_of(view).owners
        sent = {one.sender: one.message for one in view.exchanges}
        pulls = []
        for owner in owners:
            message = sent[owner]
            assert isinstance(message, PartialSums)  # noqa: S101 (the last thing that it sends)
            sums = [ciphertext_from(data, key.public, owner) for data in message.sums]
            pulls += [unpacked(key.decrypt(one))[1] for one in sums]
        right = sum(count == truth.arms.count(arm) for arm, count in enumerate(pulls))
        return Score(right, len(pulls), 0.0)


def _party(view: View, kind: type[P]) -> P:
    """A member of the coalition."""
    return next(one for one in view.parties.values() if isinstance(one, kind))


def _opened(view: View, kind: type[Message], key: bytes) -> Lists:
    """The masked scores in all messages of a kind, by iteration, in the order of the owners."""
    terms, aead = attacks.terms_of(view), Aead(key)
    bindings, order = Bindings(terms.run), list(terms.owners)
    found: dict[tuple[int, int], dict[int, list[int]]] = {}
    for one in view.exchanges:
        if isinstance(one.message, kind):
            place: bytes = one.message.place  # type: ignore[attr-defined]
            sealed: bytes = one.message.sealed  # type: ignore[attr-defined]
            values = aead.open(sealed, mask.WIDTH, bindings.to_comp(place))
            sender = order.index(one.sender) if one.sender in order else 0
            numbers = [int.from_bytes(value, "big") for value in values]
            found.setdefault(place_from(place) or (0, 0), {})[sender] = numbers
    return {
        place: [value for sender in sorted(parts) for value in parts[sender]]
        for place, parts in found.items()
    }
