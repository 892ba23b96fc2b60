"""How many rounds a step takes: the paper's Table 1, the authors' program, and ours.

Table 1 gives the rounds of single operations between two parties. It counts a truncation with each
product; here a product of masked values is computed locally, and only its truncation is opened.
"""

from lotor.protocols.ppcb.dealt.circuits import PPCBCircuits

TABLE_1 = {"addition": "0", "multiplication": "2", "reciprocal": "30", "argmax": "O(P + log2 A)"}
OURS = {"addition": "0", "multiplication": "1", "reciprocal": "2", "argmax": "4 or 7"}
"""A test counts them in the circuits; from 21 arms on it is 7, and more in a tournament."""

PUBLISHED_PROGRAM = 112
"""Rounds of one step, A = 10, in the authors' published program, as measured."""

EXPLAINED = (
    "Table 1 counts a truncation with each product; here a product of masked values is computed "
    "locally and only its truncation is opened. The authors' program was measured with 10 arms, "
    "for one step. The bytes opened in a step are those of one server; counted are those of both."
)


def per_step(circuits: PPCBCircuits) -> dict[str, int]:
    """Of one step: rounds, and bytes that each server sends and that the dealer corrects."""
    recipes = [circuit.recipe for circuit in circuits.repeated]
    return {
        "rounds": sum(recipe.rounds for recipe in recipes),
        "opened_bytes": sum(recipe.opened for recipe in recipes),
        "correction_bytes": sum(recipe.correction_bytes for recipe in recipes),
    }


def whole_run(circuits: PPCBCircuits) -> dict[str, int]:
    """What must be counted in a run, opened bytes for both servers together."""
    used = [(circuit.recipe, circuit.times) for circuit in circuits.schedule.circuits]
    return {
        "rounds": sum(recipe.rounds * n for recipe, n in used),
        "opened_bytes": 2 * sum(recipe.opened * n for recipe, n in used),
        "correction_bytes": sum(recipe.correction_bytes * n for recipe, n in used),
        "values_shared": circuits.choose.times * circuits.features + circuits.learn.times,
    }
