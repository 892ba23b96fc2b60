"""What P plays in every form: it knows all of a round's scores but what was learned in secret."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lotor.core.effects import Decided, Decision, Steps
from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import Floats
from lotor.policies.linear import (
    Layout,
    LinearModel,
    LinearPolicy,
    ModelSnapshot,
    RewardSum,
)
from lotor.policies.linear.layout import Integers
from lotor.protocols.kept_linear import KeptLinear, arms_digest
from lotor.protocols.linear_draws import LinearDraws
from lotor.protocols.linucb_ds.messages import ArmCatalogue
from lotor.protocols.linucb_ds.terms import LinUCBTerms
from lotor.protocols.memory import Memory
from lotor.protocols.plain.linear import linear_layout


class LinearPrincipalMemory(Memory, kw_only=True):
    """P's own draws, what it was sent, and the sums so far. Each form says which terms it has.

    `kept` is there until the first `state`, if the run continues another one. `t` counts pulls, and
    one for all those of earlier runs.
    """

    keys: dict[str, bytes]
    terms: LinUCBTerms | None = None
    model: ArmCatalogue | None = None
    state: ModelSnapshot | None = None
    kept: KeptLinear | None = None
    arms: tuple[str, ...] = ()
    noise: str = "0"


class ScoreRows(NamedTuple):
    """A round's scores, theta apart: position i is arm sigma[i], which has <u[i], theta> + c[i].

    `u` and `c` are in the fixed point of the run's layout, where c is made an addend. With live
    rewards the secret sum b takes theta's place.
    """

    sigma: NDArray[np.intp]
    u: NDArray[np.int64]
    addends: list[int]


class PrincipalGame(ABC):
    """Made from P's memory. `noise` and `first` are given where an environment fixes them."""

    model: LinearModel

    def __init__(
        self, memory: LinearPrincipalMemory, noise: Floats | None, first: int | None
    ) -> None:
        if memory.terms is None or memory.model is None:
            raise InputError("P has no model yet: set it up first")
        self._memory = memory
        self.terms, self.catalogue = memory.terms, memory.model
        vectors, eigenvalues = self.catalogue.arms()
        continued = self.terms.continued
        # So many pulls are behind place 0.
        self._offset = 0 if continued is None else continued.rounds - 1
        try:
            self._prepare(self.terms.check(memory.run), vectors, eigenvalues)
            if memory.kept is not None:
                memory.kept.check_arms(self.catalogue.described())
        except InputError as error:
            raise ProtocolError(
                f"owner sent a model that does not fit the order: {error}"
            ) from None
        if memory.kept is not None:
            self.model.restore(memory.kept.model)
        self.draws = LinearDraws(
            memory.keys,
            self.catalogue.k,
            noise_sd=self.catalogue.noise_sd,
            noise=noise,
            first=first,
        )
        # Since it was built: for attacks on P's view.
        self.pulled: list[int] = []
        if memory.state is not None:
            self.model.restore(memory.state)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of run {self._memory.run} at round {self._memory.t}>"

    @abstractmethod
    def _prepare(self, policy: LinearPolicy, vectors: Floats, eigenvalues: Floats | None) -> None:
        """Make the model and the fixed point of a run."""

    @abstractmethod
    def numbers(self, done: int) -> tuple[Integers, list[int]]:
        """u and addends of all arms after so many pulls, those of earlier runs among them."""

    @abstractmethod
    def pull(self, t: int, arm: int) -> Steps[None]:
        """The arm of place t."""

    @abstractmethod
    def _remember(self) -> None:
        """Write the sums so far into the memory."""

    def snapshot(self) -> bytes:
        self._memory.state, self._memory.kept = self.model.snapshot(), None
        self._remember()
        return self._memory.dump()

    def to_keep(self) -> bytes:
        """For a run that continues this one: nothing of theta."""
        return KeptLinear(
            run=self.terms.run,
            policy=self.terms.policy,
            rounds=self.terms.rounds,
            arms=arms_digest(self.catalogue.described()),
            model=self.model.snapshot(),
        ).to_bytes()

    def begin(self) -> Steps[None]:
        """Step 2: the first arm, which nothing decides; there were pulls if a run is continued."""
        if self.terms.continued is None:
            yield from self.pull(1, self.draws.first())
        else:
            self._memory.t = 1

    def round(self, t: int) -> int:
        """The number of a round, counted from the first run on, by its place in this one."""
        return self._offset + t

    def rows(self, t: int) -> ScoreRows:
        """After t pulls, in a fresh permutation; of equal scores its first wins, as in plain."""
        done = self.round(t)
        sigma = self.draws.order(done + 1)
        u, addends = self.numbers(done)
        return ScoreRows(sigma, u[sigma], [addends[i] for i in sigma.tolist()])

    def _count(self, t: int, arm: int, known: float) -> None:
        """Take note of a pull, and of what P knows of its reward."""
        self.model.update(arm, known)
        self.pulled.append(arm)
        self._memory.t = t


class LinearGame(PrincipalGame):
    """Rewards are <x, theta> + noise, where P draws the noise."""

    layout: Layout

    def __init__(
        self, memory: LinearPrincipalMemory, noise: Floats | None, first: int | None
    ) -> None:
        super().__init__(memory, noise, first)
        self.rewards = RewardSum(self.layout, self.catalogue.arms()[0])
        if memory.state is not None:
            self.rewards.arms = [int(value) for value in memory.arms]
            self.rewards.noise = int(memory.noise)

    def _prepare(self, policy: LinearPolicy, vectors: Floats, eigenvalues: Floats | None) -> None:
        self.layout = linear_layout(vectors, policy, self.terms.slot_bits)
        self.model = policy.start(vectors, budget=self.terms.rounds, eigenvalues=eigenvalues)

    def _remember(self) -> None:
        # They may exceed 64 bits, the largest integers of msgpack.
        self._memory.arms = tuple(str(value) for value in self.rewards.arms)
        self._memory.noise = str(self.rewards.noise)

    def numbers(self, done: int) -> tuple[Integers, list[int]]:
        u, c = self.model.coefficients(done, self.draws.normals)
        addends = self.layout.addends(c)
        return self.layout.u(u), addends

    def pull(self, t: int, arm: int) -> Steps[None]:
        """pull*: the reward <x, theta> + noise is added up in its two parts."""
        number = self.round(t)
        yield Decided(Decision.named(self._memory.run, number, arm))
        noise = self.draws.noise(number)
        self.rewards.add(arm, noise)
        self._count(t, arm, noise)
