"""How many exchanges a run of the dealt form takes, and how many bytes."""

from lotor.protocols.revealing import COUNTS
from lotor.protocols.samba.dealt.circuit import selection
from lotor.protocols.samba.dealt.terms import SambaDealtTerms


def per_turn(terms: SambaDealtTerms) -> dict[str, int]:
    """Of one iteration: rounds, and bytes that each server opens and that the dealer corrects."""
    recipe = selection(terms).recipe
    return {
        "rounds": recipe.rounds,
        "opened_bytes": recipe.opened,
        "correction_bytes": recipe.correction_bytes,
        "values_shared": terms.k,
    }


def whole_run(terms: SambaDealtTerms) -> dict[str, int]:
    """What must be counted in a run, opened bytes for both servers together."""
    counts = {name: terms.argmaxes * count for name, count in per_turn(terms).items()}
    counts["values_shared"] += terms.k * (terms.reveal == COUNTS)
    return {**counts, "opened_bytes": 2 * counts["opened_bytes"]}
