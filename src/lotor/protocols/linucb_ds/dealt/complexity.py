"""How many exchanges a run of the dealt form takes, and how many bytes, before it begins."""

from dataclasses import dataclass

from lotor.protocols.linucb_ds.dealt.circuits import circuits


@dataclass(frozen=True, slots=True)
class DealtCosts:
    """Of a run of n rounds on k arms in d dimensions; it chooses n - 1 times."""

    n: int
    k: int
    d: int

    @property
    def rounds(self) -> int:
        """Exchanges between P and Comp for one choice, Comp's answer included."""
        computed = circuits(self.k, self.d, self.n)
        return computed.products.recipe.rounds + computed.selection.recipe.rounds + 1

    @property
    def ahead_bytes(self) -> int:
        """What the dealer sends Comp ahead of one choice."""
        computed = circuits(self.k, self.d, self.n)
        return sum(one.recipe.correction_bytes for one in computed[:2])

    @property
    def opened_bytes(self) -> int:
        """What P and Comp send each other in the circuits of one choice."""
        recipes = [one.recipe for one in circuits(self.k, self.d, self.n)[:2]]
        return sum(2 * recipe.opened + recipe.sent for recipe in recipes)

    @property
    def within_bytes(self) -> int:
        """All that passes within one choice."""
        return self.opened_bytes + self.k

    def operations(self) -> dict[str, int]:
        """Exact counts of the whole run, as the parties count them."""
        choices, total = self.n - 1, circuits(self.k, self.d, self.n).total.recipe
        return {
            "rounds": choices * (self.rounds - 1) + total.rounds,
            "opened_bytes": choices * self.opened_bytes + 2 * total.opened + total.sent,
            "correction_bytes": choices * self.ahead_bytes + total.correction_bytes,
            "hpke_seals": 2,
        }
