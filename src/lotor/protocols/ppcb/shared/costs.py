"""What a run without a dealer takes: operations, bytes and flights, before it begins."""

from collections.abc import Mapping
from dataclasses import dataclass

from lotor.crypto.ot import LABEL_BYTES, TRANSFERS
from lotor.protocols.dealerless.schedule import GarbledCircuit, SharesCircuit
from lotor.protocols.ppcb.shared.circuits import PPCBSharedCircuits
from lotor.protocols.ppcb.terms import PPCBTerms

EXCHANGE = 2
"""A garbled circuit takes a message each way, one after the other."""

BEFORE_THE_ARM = 3
"""Flights from a context to the arm: one opening, and one garbled circuit."""


@dataclass(frozen=True, slots=True)
class PPCBSharedCosts:
    """Content of messages, without their frames; all of it is fixed by the terms."""

    terms: PPCBTerms
    circuits: PPCBSharedCircuits

    @classmethod
    def of(cls, terms: PPCBTerms) -> "PPCBSharedCosts":
        return cls(terms, PPCBSharedCircuits.of(terms))

    def operations(self) -> dict[str, int]:
        """Exact counts, as the parties count them."""
        schedule = self.circuits.schedule
        gates = sum(_times(each) * each.circuit.ands for each in schedule.garbled)
        batches = [schedule.batch(number) for number in range(schedule.count)]
        return {
            "rounds": sum(_times(each) * self._flights(each) for each in self._all),
            "opened_bytes": sum(_times(each) * 2 * _opened(each) for each in schedule.shares)
            + sum(_times(each) * self._differences(each) for each in schedule.garbled),
            "base_transfers": 2 * TRANSFERS,
            "product_hashes": sum(
                schedule.layout(batch, chooser).hashes for batch in batches for chooser in (0, 1)
            ),
            "garbled_and_gates": gates,
            "evaluated_and_gates": gates,
            "values_shared": self.terms.steps * self.terms.features + self.terms.learnt,
        }

    @property
    def flights(self) -> int:
        """How many messages of a step follow each other between the servers."""
        return sum(self._flights(each) for each in self._of_a_step)

    @property
    def after_the_reward(self) -> int:
        """How many of them wait for the reward."""
        learn = self.circuits.learn
        garbled = EXCHANGE if self.circuits.late and self.circuits.garbles_reciprocal else 0
        return learn.recipe.rounds + garbled if learn.last >= learn.first else 0

    def step_bytes(self) -> Mapping[str, int]:
        """What both servers send for a step, ahead of it and in it."""
        schedule = self.circuits.schedule
        batch = schedule.largest
        opened = sum(
            2 * _opened(each) for each in self._of_a_step if isinstance(each, SharesCircuit)
        )
        garbled = sum(
            self._differences(each) + LABEL_BYTES * each.own_rows
            for each in self._of_a_step
            if isinstance(each, GarbledCircuit)
        )
        return {
            "ahead": schedule.bytes_of(batch) // len(batch.steps),
            "in_the_step": opened + garbled,
        }

    @property
    def _all(self) -> list[SharesCircuit | GarbledCircuit]:
        return [*self.circuits.schedule.shares, *self.circuits.schedule.garbled]

    @property
    def _of_a_step(self) -> list[SharesCircuit | GarbledCircuit]:
        return [each for each in self._all if each is not self.circuits.begin]

    @staticmethod
    def _flights(each: SharesCircuit | GarbledCircuit) -> int:
        return EXCHANGE if isinstance(each, GarbledCircuit) else each.recipe.rounds

    def _differences(self, each: GarbledCircuit) -> int:
        numbers = self.terms.arms + 1 if each is self.circuits.choice else 1
        return 8 * numbers


def _times(each: SharesCircuit | GarbledCircuit) -> int:
    return each.last - each.first + 1


def _opened(each: SharesCircuit) -> int:
    """What one server opens in a step."""
    return each.recipe.opened
