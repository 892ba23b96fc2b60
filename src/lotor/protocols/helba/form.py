"""What all forms of HELBA have in common: a user and a key authority who talk to the server."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.environments import LinearContexts
from lotor.policies import to_text
from lotor.protocols.cast import Cast
from lotor.protocols.form import FEATURES, PULL, Contribution, Form, Member, Role
from lotor.protocols.helba.demo import toy
from lotor.protocols.helba.protocol import Helba
from lotor.protocols.helba.regrets import followed, guaranteed, regrets
from lotor.protocols.helba.terms import KEY_AUTHORITY
from lotor.protocols.party import Run
from lotor.protocols.plain.optimistic import linear_contexts
from lotor.protocols.protocol import Protocol
from lotor.protocols.report import Comparison


class HelbaForm(Form[Helba]):
    """The order is the terms of the user, who brings contexts and rewards."""

    roles: ClassVar[tuple[Role, ...]] = (
        Role.one("user", FEATURES, PULL),
        Role.one("server"),
        Role.one(KEY_AUTHORITY),
    )
    hubs: ClassVar[tuple[str, ...]] = ("server",)
    paced: ClassVar[bool] = True
    apart: ClassVar[str] = "the server and any user, the server and the key authority"
    coalitions: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("server", "user"),
        ("server", KEY_AUTHORITY),
    )
    how: ClassVar[str]
    """How the server computes, for the story of a demonstration."""

    def simulated(self, protocol: Helba, run: Run) -> Mapping[str, Sequence[Member]]:
        arms = linear_contexts(run, protocol.policy)
        user = Contribution(run.k, run.scale.low, run.scale.high, run.k * arms.d)
        return {
            "user": [Member("user", user)],
            "server": [Member("server")],
            KEY_AUTHORITY: [Member(KEY_AUTHORITY)],
        }

    def brought(self, members: Mapping[str, Sequence[Member]]) -> tuple[int, int, RewardScale]:
        """Arms, numbers of a context and the range of rewards, as the user brings them."""
        (user,) = members["user"]
        brings = user.contribution
        if brings.arms < 2 or not brings.features or brings.features % brings.arms:
            raise InputError(
                f"the user brings {brings.features} numbers for the contexts of {brings.arms} "
                "arms: let it set `arms` (2 or more) and `dimensions` (arms times the numbers of "
                "one context) under [owner] in its party.toml"
            )
        return brings.arms, brings.features // brings.arms, RewardScale(brings.low, brings.high)

    def beside(self, protocol: Helba) -> Mapping[str, Protocol]:
        return followed(protocol.policy)

    def details(self, protocol: Helba, comparison: Comparison) -> Mapping[str, object]:
        contexts = contexts_of(comparison.environment)
        return {
            "regret": regrets(contexts, comparison),
            "guaranteed": guaranteed(protocol.policy, contexts, comparison),
        }

    def cast(self, protocol: Helba, budget: int, seed: int, size: int | None) -> Cast:
        if size is not None:
            raise InputError(
                "the demonstration of helba always has one user: give no number of hospitals"
            )
        policy = to_text(protocol.policy)
        return toy(budget=budget, seed=seed, policy=policy, how=self.how)


def contexts_of(environment: object) -> LinearContexts:
    """The environment, if it is one that HELBA chooses in."""
    if not isinstance(environment, LinearContexts):
        raise InputError(f"helba needs LinearContexts, not {environment!r}")
    return environment
