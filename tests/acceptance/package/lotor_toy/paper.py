"""The toy's only form: who takes part, how each is built, and what each learns."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import msgspec

from lotor.core.errors import InputError, ProtocolError
from lotor.crypto.signing import Identity
from lotor.environments import BernoulliArms
from lotor.environments.base import Environment
from lotor.policies import Policy, from_text, to_text
from lotor.protocols.cast import Cast, CastMember, arm_in_id
from lotor.protocols.form import PULL, Assignment, Contribution, Form, Member, Role, RunPlan
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party, Run, draw_key
from lotor.protocols.report import Counts
from lotor_toy.protocol import Toy
from lotor_toy.roles import ASKER, REFEREE, ArmOwner, Asker, Referee, ToyTerms

SHARES = {"left": 0.3, "right": 0.7}
MODULE = '''"""An arm that always pays the same share."""


def pull(decision):
    return float((decision.round * 7919 % 100) < {percent})
'''


class ToyPaper(Form[Toy]):
    """The order is the asker's terms."""

    name: ClassVar[str] = "paper"
    wire: ClassVar[str] = "toy/1"
    roles: ClassVar[tuple[Role, ...]] = (
        Role.one(ASKER),
        Role.one(REFEREE),
        Role("owner", brings=(PULL,)),
    )
    hubs: ClassVar[tuple[str, ...]] = (REFEREE,)
    apart: ClassVar[str] = "nobody: the referee sees every score anyway"
    leakage: ClassVar[Mapping[str, Finding]] = {
        REFEREE: Finding(
            sees="all scores",
            paper="everything",
            measured="everything",
            evidence="They are sent.",
            tells=frozenset({"arms", "bytes", "repeats"}),
        ),
        ASKER: Finding(
            sees="the total", paper="the total", measured="the total", evidence="It is sent."
        ),
        "owner": Finding(
            sees="whether it is pulled",
            paper="whether it is pulled",
            measured="whether it is pulled",
            evidence="It is told.",
            tells=frozenset({"bytes"}),
        ),
    }
    attacks: ClassVar[Mapping[str, Sequence[str]]] = {REFEREE: ("lotor_toy.attacks:LargestScore",)}

    def simulated(self, protocol: Toy, run: Run) -> Mapping[str, Sequence[Member]]:
        share = Contribution(1, run.scale.low, run.scale.high)
        return {
            ASKER: [Member(ASKER)],
            REFEREE: [Member(REFEREE)],
            "owner": [Member(f"owner-{arm}", share) for arm in range(run.k)],
        }

    def open(
        self,
        protocol: Toy,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,
    ) -> tuple[bytes, Party]:
        owners = members["owner"]
        if budget < len(owners):
            raise InputError(f"a budget of {budget} is too small for {len(owners)} owners")
        low, high = owners[0].contribution.low, owners[0].contribution.high
        names = tuple(owner.name for owner in owners)
        terms = ToyTerms(
            run, budget, names, to_text(protocol.policy), protocol.rehearsals, low, high
        )
        return terms.to_bytes(), Asker(terms)

    def plan(self, order: bytes) -> RunPlan:
        terms = _terms(order)
        seats = self.seats_of({"owner": terms.owners})
        return RunPlan(terms.policy, terms.budget, terms.k, seats, owners=terms.k)

    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        terms, seat, seed = _terms(assignment.order), assignment.seat, assignment.seed
        if seat == ASKER:
            return Asker(terms, snapshot=snapshot)
        simulated = self.simulates(assignment)
        policy = _policy(terms) if simulated is None else simulated.policy
        if seat == REFEREE:
            return Referee(terms, policy, snapshot=snapshot)
        keys = None if seed is None else (draw_key(seed, "owner"), draw_key(seed, "coin"))
        return ArmOwner(seat, terms, policy, keys=keys, snapshot=snapshot)

    def complexity(self, protocol: Toy, environment: Environment, budget: int) -> Counts:
        k, iterations = environment.k, protocol.policy.iterations
        return {"expected": {"scores_compared": k * (budget - k) * iterations}}

    def cast(self, protocol: Toy, budget: int, seed: int, size: int | None) -> Cast:
        arms = BernoulliArms(list(SHARES.values()))
        members = {name: CastMember(name) for name in (REFEREE, ASKER)}
        members |= {
            name: CastMember(
                "owner",
                table={"pull": "arm:pull", "repeatable": True},
                files={"arm.py": MODULE.format(percent=round(100 * share))},
                draws=True,
            )
            for name, share in SHARES.items()
        }
        return Cast("Two owners asked a referee.", members, _Fixed(arms), tuple(SHARES), arm_in_id)


class _Fixed:
    """The arms of the demonstration, as its owners' modules answer."""

    def __init__(self, arms: BernoulliArms) -> None:
        self.k, self.reward_range = arms.k, arms.reward_range
        self._percents = [round(100 * mean) for mean in arms.means]

    def start(self, seed: int) -> "_Pull":
        return _Pull(self._percents)


class _Pull:
    def __init__(self, percents: list[int]) -> None:
        self._percents = percents

    def __call__(self, decision: object) -> float:
        t, arm = decision.round, decision.arm  # type: ignore[attr-defined]
        return float((t * 7919 % 100) < self._percents[arm])


def _policy(terms: ToyTerms) -> Policy:
    policy = from_text(terms.policy)
    if not isinstance(policy, Policy):
        raise ProtocolError(f"the asker ordered {terms.policy}, which the toy cannot run")
    return policy


def _terms(order: bytes) -> ToyTerms:
    try:
        return msgspec.msgpack.decode(order, type=ToyTerms)
    except msgspec.DecodeError:
        raise ProtocolError("the asker ordered what are no terms of the toy") from None
