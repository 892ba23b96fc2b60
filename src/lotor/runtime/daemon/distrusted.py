"""Which parties are no longer trusted, by their certificates in this party's earlier runs."""

from collections.abc import Collection
from operator import attrgetter

from lotor.core.errors import CertificateError, LotorError
from lotor.crypto.certificates import Certificate
from lotor.runtime.daemon.announcement import members_of
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.durable.journal import Journal


def distrusted(kit: Kit, journal: Journal, names: Collection[str]) -> list[str]:
    """What is wrong with the last certificate of each of these that is known, a sentence each.

    A party may have a new certificate by now, so this is no reason not to look for it.
    """
    known: dict[str, Certificate] = {}
    for row in sorted(journal.runs(), key=attrgetter("created")):
        try:
            known.update({one.subject.name: one for one in members_of(row.announcement).values()})
        except LotorError:  # of another version
            continue
    trust, found = kit.fresh_trust(), list[str]()
    for name in sorted(known.keys() & set(names)):
        try:
            trust.check(known[name])
        except CertificateError as error:
            why = str(error).partition(": ")[0]
            found.append(f"{why}, and {name} can take part only with a new one")
    return found
