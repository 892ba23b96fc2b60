"""LinUCB-DS and SpectralUCB-DS (Ciucanu, Delabrouille, Lafourcade and Soare, 2020).

A data owner outsources a linear bandit with an encrypted theta to two clouds; a client learns the
sum of rewards.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from lotor.core.errors import InputError
from lotor.crypto.paillier import SECURE_BITS, check_key_bits, generate_keypair
from lotor.crypto.signing import trusting_identities
from lotor.policies.linear import LinearPolicy, LinUCB, SlotBits, SpectralUCB, linear_to_text
from lotor.protocols.linear_draws import simulated_keys
from lotor.protocols.linucb_ds.comp import Comp
from lotor.protocols.linucb_ds.customer import Customer
from lotor.protocols.linucb_ds.owner import Owner
from lotor.protocols.linucb_ds.principal import Principal
from lotor.protocols.linucb_ds.terms import LEAST_BUDGET, SLOT_BITS, Terms
from lotor.protocols.party import Party, Run
from lotor.protocols.plain_linear import PlainLinear, linear_arms, linear_layout


@dataclass(frozen=True, slots=True)
class LinUCBDS:
    """One owner's linear bandit, run by two clouds that see neither theta nor rewards.

    `slot_bits` is the width in which a score is compared: 64, or 96 for arms that are nearly
    equal. `workers` are the processes and threads that each cloud uses. `key_bits` is the size of
    both Paillier keys; `insecure_key_bits` allows smaller ones, for tests and teaching.

    >>> import lotor
    >>> arms = lotor.LinearArms([[1, 0], [0, 1], [0.7, 0.7]], theta=[0.8, 0.3])
    >>> ds = lotor.LinUCBDS(key_bits=2048)
    >>> secure = lotor.run(ds, arms, budget=20, seed=1)
    >>> plain = lotor.run(ds.plain(), arms, budget=20, seed=1)
    >>> secure.arms == plain.arms and secure.reward == plain.reward
    True
    """

    policy: LinearPolicy = field(default_factory=LinUCB)
    key_bits: int = field(default=3072, kw_only=True)
    insecure_key_bits: int | None = field(default=None, kw_only=True)
    slot_bits: SlotBits = field(default=64, kw_only=True)
    workers: int = field(default=1, kw_only=True)

    least_budget: ClassVar[int] = LEAST_BUDGET
    kind: ClassVar[type[LinearPolicy]] = LinUCB
    name: ClassVar[str] = "linucb-ds"

    def __post_init__(self) -> None:
        if not isinstance(self.policy, self.kind):
            raise InputError(
                f"{type(self).__name__} takes a policy such as {self.kind.__name__}(), not "
                f"{self.policy!r}"
            )
        if self.slot_bits not in SLOT_BITS:
            raise InputError(f"slot_bits is 64 or 96, not {self.slot_bits!r}")
        if type(self.workers) is not int or self.workers < 1:
            raise InputError(f"workers is a whole number of at least 1, not {self.workers!r}")
        check_key_bits(self.key_bits, self.insecure_key_bits)

    @property
    def learner(self) -> str:
        return "customer"

    def plain(self) -> PlainLinear:
        """The same policy with no cryptography: the same arms and the same total."""
        return PlainLinear(self.policy, self.slot_bits)

    def options(self) -> Mapping[str, str | int]:
        return {
            "policy": linear_to_text(self.policy),
            "key_bits": self.insecure_key_bits or self.key_bits,
            "slot_bits": self.slot_bits,
            "workers": self.workers,
        }

    def parties(self, run: Run) -> Mapping[str, Party]:
        """The paper's DC, DO, P and Comp."""
        arms = linear_arms(run, self.policy)
        # What does not fit is refused before keys are made, which takes seconds.
        linear_layout(arms.vectors, self.policy, self.slot_bits)
        self.policy.start(arms.vectors, budget=run.budget, eigenvalues=arms.eigenvalues)
        identities = trusting_identities(["customer", "owner", "comp"])
        key = generate_keypair(self.key_bits, insecure_bits=self.insecure_key_bits)
        terms = Terms(
            run=run.id,
            budget=run.budget,
            policy=linear_to_text(self.policy),
            slot_bits=self.slot_bits,
            key_bits=self.insecure_key_bits or self.key_bits,
            customer_key=key.public.to_bytes(),
        )
        least = min(self.insecure_key_bits or SECURE_BITS, SECURE_BITS)
        return {
            "customer": Customer(identities["customer"], terms, key),
            "owner": Owner(identities["owner"], run.id, arms, minimum_key_bits=least),
            "principal": Principal(
                run.id,
                keys=simulated_keys(run),
                noise=arms.noise,
                first=arms.first,
                minimum_key_bits=least,
                workers=self.workers,
            ),
            "comp": Comp(
                identities["comp"],
                run.id,
                key_bits=self.key_bits,
                insecure_key_bits=self.insecure_key_bits,
                workers=self.workers,
            ),
        }


@dataclass(frozen=True, slots=True)
class SpectralUCBDS(LinUCBDS):
    """The same for arms on a graph, whose rewards are smooth on it (the paper's Section 6)."""

    policy: LinearPolicy = field(default_factory=SpectralUCB)

    kind: ClassVar[type[LinearPolicy]] = SpectralUCB
    name: ClassVar[str] = "spectral-ucb-ds"
