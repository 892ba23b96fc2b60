"""SAMBA (Ciucanu, Lafourcade, Marcadet and Soare, 2022): a federated bandit over owners' arms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lotor.core.errors import InputError, PolicyError, ProtocolError
from lotor.crypto.paillier import SECURE_BITS, check_key_bits, generate_keypair
from lotor.crypto.signing import trusting_identities
from lotor.policies import UCB, Policy, check_genericity, check_iterations, to_text
from lotor.protocols.party import Party, Run
from lotor.protocols.plain import Plain
from lotor.protocols.samba.comp import Comp
from lotor.protocols.samba.controller import Controller
from lotor.protocols.samba.customer import Customer
from lotor.protocols.samba.owner import Owner
from lotor.protocols.samba.terms import SELECTIONS, Terms


@dataclass(frozen=True, slots=True)
class Samba:
    """Several owners, each with its own arms, learn together; a customer learns the total.

    `owners` is over how many parties a simulation spreads the arms. `selection` is how an owner
    learns that it was selected: `"bits"` as in the paper (4K AES-GCM operations an iteration) or
    `"position"` (2K + 1 and one for each owner: docs/samba.md says what changes).
    `key_bits` is the size of the customer's Paillier key; `insecure_key_bits` allows a smaller
    one, for tests and teaching.

    >>> import lotor
    >>> arms = lotor.BernoulliArms([0.9, 0.5, 0.1])
    >>> samba = lotor.Samba(lotor.UCB(), key_bits=2048)
    >>> secure = lotor.run(samba, arms, budget=100, seed=7)
    >>> secure.arms == lotor.run(samba.plain(), arms, budget=100, seed=7).arms
    True
    """

    policy: Policy = field(default_factory=UCB)
    key_bits: int = field(default=3072, kw_only=True)
    insecure_key_bits: int | None = field(default=None, kw_only=True)
    owners: int = field(default=1, kw_only=True)
    selection: Literal["bits", "position"] = field(default="bits", kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy):
            raise InputError(f"Samba takes a policy such as UCB(), not {self.policy!r}")
        check_iterations(self.policy)
        found = check_genericity(self.policy)
        for condition, reason in (
            ("arm score locality", found.arm_score_locality),
            ("oblivious selection", found.oblivious_selection),
        ):
            if reason is not None:
                raise PolicyError(
                    f"{to_text(self.policy)} cannot run under SAMBA: {condition} "
                    f"(Theorem 1) fails, {reason}; run it in plain, or use another policy"
                )
        if self.selection not in SELECTIONS:
            raise InputError(f"selection is 'bits' or 'position', not {self.selection!r}")
        if type(self.owners) is not int or self.owners < 1:
            raise InputError(f"owners is a whole number of at least 1, not {self.owners!r}")
        check_key_bits(self.key_bits, self.insecure_key_bits)

    @property
    def name(self) -> str:
        return "samba"

    @property
    def learner(self) -> str:
        return "customer"

    def plain(self) -> Plain:
        """The same policy with no cryptography: the same arms and the same total."""
        return Plain(self.policy)

    def options(self) -> Mapping[str, str | int]:
        return {
            "policy": to_text(self.policy),
            "key_bits": self.insecure_key_bits or self.key_bits,
            "owners": self.owners,
            "selection": self.selection,
        }

    def parties(self, run: Run) -> Mapping[str, Party]:
        """K + 3 participants of the paper, with the owners' arms spread over `owners` parties."""
        owners = self._share_out(run.k)
        identities = trusting_identities(["customer", "comp", *owners])
        key = generate_keypair(self.key_bits, insecure_bits=self.insecure_key_bits)
        terms = Terms(
            run=run.id,
            budget=run.budget,
            owners=owners,
            policy=to_text(self.policy),
            iterations=self.policy.iterations,
            selection=self.selection,
            low=run.scale.low,
            high=run.scale.high,
            customer_key=key.public.to_bytes(),
        )
        try:
            terms.check(run.id, self.policy)
        except ProtocolError as error:
            raise InputError(str(error)) from None
        least = self._minimum_key_bits
        parties: dict[str, Party] = {
            "customer": Customer(identities["customer"], terms, key),
            "controller": Controller(run.id, self.policy, minimum_key_bits=least),
            "comp": Comp(identities["comp"], run.id, self.policy),
        }
        for owner, held in owners.items():
            parties[owner] = Owner(
                identities[owner],
                run.id,
                self.policy,
                held=held,
                scale=run.scale,
                minimum_key_bits=least,
                own_key=run.draw_key("owner"),
                coin_key=run.draw_key("coin") if owner == terms.first_owner else None,
            )
        return parties

    @property
    def _minimum_key_bits(self) -> int:
        return min(self.insecure_key_bits or SECURE_BITS, SECURE_BITS)

    def _share_out(self, k: int) -> dict[str, int]:
        """How many arms each owner holds, as evenly as possible."""
        if self.owners > k:
            raise InputError(f"{self.owners} owners cannot share {k} arms: give at most {k}")
        return {
            f"owner-{j + 1}": k * (j + 1) // self.owners - k * j // self.owners
            for j in range(self.owners)
        }
