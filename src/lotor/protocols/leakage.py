"""What a role of a protocol really learns."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """What a role's view gave away: in a sentence, and by what evidence.

    `paper` is what the protocol's authors say that it learns. `tells` names the secrets that its
    view is known to give away, for the audit: an attack (protocols/attack.py) on any other secret
    must do no better than chance.
    """

    sees: str
    paper: str
    measured: str
    evidence: str
    tells: frozenset[str] = frozenset()
