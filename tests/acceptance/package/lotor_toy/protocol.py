"""What the toy is: its options, its arms, its forms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from lotor.core.errors import InputError
from lotor.core.options import option
from lotor.environments.sources import ArmsSource, BanditSource
from lotor.policies import UCB, Policy, to_text
from lotor.protocols.plain import Plain
from lotor.protocols.protocol import SecureProtocol


@dataclass(frozen=True, slots=True)
class Toy(SecureProtocol):
    """Owners tell a referee their scores; it protects nothing."""

    name: ClassVar[str] = "toy"
    summary: ClassVar[str] = "owners tell a referee their scores, which protects nothing"
    arms: ClassVar[type[ArmsSource]] = BanditSource
    forms: ClassVar[Mapping[str, str]] = {"paper": "lotor_toy.paper:ToyPaper"}
    demo_budget: ClassVar[int] = 60

    policy: Policy = field(default_factory=UCB)
    owners: int = field(
        default=2, kw_only=True, metadata=option("How many owners there are.", ordered=False)
    )
    rehearsals: int = field(
        default=0, kw_only=True, metadata=option("How often the referee says hello first.")
    )
    form: str = field(default="paper", kw_only=True, metadata=option("Which form of it to run."))

    def __post_init__(self) -> None:
        self.check_form(self.form)
        if not isinstance(self.policy, Policy):
            raise InputError(f"Toy takes a policy such as UCB(), not {self.policy!r}")

    def plain(self) -> Plain:
        return Plain(self.policy)

    def options(self) -> Mapping[str, str | int]:
        return {
            "policy": to_text(self.policy),
            "owners": self.owners,
            "rehearsals": self.rehearsals,
            "form": self.form,
        }
