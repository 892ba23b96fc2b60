"""SAMBA (Ciucanu, Lafourcade, Marcadet and Soare, 2022): a federated bandit over owners' arms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lotor.core.errors import InputError, PolicyError
from lotor.crypto.paillier import SECURE_BITS, generate_keypair
from lotor.crypto.signing import trusting_identities
from lotor.policies import UCB, Policy, check_genericity, to_text
from lotor.protocols.party import Party, Run
from lotor.protocols.plain import Plain
from lotor.protocols.samba.comp import Comp
from lotor.protocols.samba.controller import Controller
from lotor.protocols.samba.customer import Customer
from lotor.protocols.samba.keys import SELECTIONS
from lotor.protocols.samba.messages import Terms
from lotor.protocols.samba.owner import Owner


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
        if self.owners < 1:
            raise InputError(f"{self.owners} owners cannot hold any arm: give at least 1")

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
        holdings = self._holdings(run.k)
        identities = trusting_identities(["customer", "controller", "comp", *holdings])
        key = generate_keypair(self.key_bits, insecure_bits=self.insecure_key_bits)
        terms = Terms(
            run=run.id,
            budget=run.budget,
            k=run.k,
            policy=to_text(self.policy),
            selection=self.selection,
            low=run.scale.low,
            high=run.scale.high,
            customer_key=key.public.to_bytes(),
        )
        parties: dict[str, Party] = {
            "customer": Customer(identities["customer"], terms, key, ["comp", *holdings]),
            "controller": Controller(
                self.policy,
                {owner: len(arms) for owner, arms in holdings.items()},
                minimum_key_bits=self._minimum_key_bits,
            ),
            "comp": Comp(identities["comp"], run.id, self.policy),
        }
        for owner, arms in holdings.items():
            parties[owner] = Owner(
                identities[owner],
                run.id,
                self.policy,
                arms,
                first_owner=next(iter(holdings)),
                minimum_key_bits=self._minimum_key_bits,
                own_key=run.draw_key("owner"),
                coin_key=run.draw_key("coin"),
            )
        return parties

    @property
    def _minimum_key_bits(self) -> int:
        return min(self.insecure_key_bits or SECURE_BITS, SECURE_BITS)

    def _holdings(self, k: int) -> dict[str, range]:
        """Which arms each owner holds: consecutive ones, shared out as evenly as possible."""
        if self.owners > k:
            raise InputError(f"{self.owners} owners cannot share {k} arms: give at most {k}")
        bounds = [k * j // self.owners for j in range(self.owners + 1)]
        return {f"owner-{j + 1}": range(bounds[j], bounds[j + 1]) for j in range(self.owners)}
