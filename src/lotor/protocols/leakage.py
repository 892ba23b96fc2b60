"""What a role of a protocol really learns."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """What a role's view gave away: in a sentence, and by what evidence.

    `paper` is what the protocol's authors say that it learns.
    """

    sees: str
    paper: str
    measured: str
    evidence: str
