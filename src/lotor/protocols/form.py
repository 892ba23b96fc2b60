"""A form of a protocol: who takes part in it, how a party is built, and what each one learns.

`paper` is the published form. Simulations and daemons build a party by the same function,
`Form.party`.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar, cast

import msgspec

from lotor.core.errors import InputError, LotorError, ProtocolError
from lotor.core.wording import counted
from lotor.crypto.signing import Identity
from lotor.environments.base import Environment
from lotor.protocols.cast import Cast
from lotor.protocols.earlier import Earlier
from lotor.protocols.leakage import Finding
from lotor.protocols.party import Party, Run
from lotor.protocols.report import Comparison, Counts, Forecast, ReportTable
from lotor.protocols.store import MemoryStore, Store

if TYPE_CHECKING:
    from lotor.protocols.protocol import Protocol, SecureProtocol

PULL, ACT, FEATURES, MODEL = "pull", "act", "features", "model"
REWARD = "reward"
"""What a party can bring to a run; the keys of its table in party.toml."""

_DOES = {
    PULL: "function that answers pulls",
    ACT: "function that carries out decisions",
    FEATURES: "function that answers with the features of a context",
    MODEL: "model of its arms",
}


@dataclass(frozen=True, slots=True)
class Role:
    """A role of a form. Its parties have these `seats`; if empty, each has a seat of its own name.

    `brings` are the things that a party of this role must have.
    """

    name: str
    seats: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()

    @classmethod
    def one(cls, name: str, *brings: str) -> "Role":
        """A role of one party, whose seat has the same name."""
        return cls(name, (name,), brings)


class Contribution(msgspec.Struct, frozen=True, array_like=True):
    """What a party says that it brings: arms, with rewards from low to high, or features."""

    arms: int = 0
    low: float = 0.0
    high: float = 1.0
    features: int = 0


@dataclass(frozen=True, slots=True)
class Member:
    """A party that is to take part, by the name in its certificate."""

    name: str
    contribution: Contribution = field(default_factory=Contribution)


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What is public about an ordered run.

    `seats` gives each seat its role. `k` is None if the order does not say how many arms there
    are, and `owners` is None if the run has only one. `privacy` is how much the arms of the whole
    run tell at most, except with probability `delta`: math.inf if there is no bound, None if the
    protocol keeps no account; `account` is how it was found. So many `first_rounds` begin by
    themselves, before there is anything to choose by; the others can be waited for. Where it
    `keeps` something, its parties may keep a state after it, for a run that continues it; this one
    `continues` the run of this id, if it is not empty, in which the seats of `newcomers` were not.
    There were `before` rounds, if rounds count on from there. `late` says in words what holds for
    outcomes that come late; each is waited for if it is empty. `reveals` is what the party that
    ordered the run learns beyond its result, in words, by the names under which parties agree to
    it. The result is the total of what the run `counts`: rewards, unless nobody is asked for any. A
    party in an `excludable` seat that has been away for `exclude_after` seconds may leave the run
    for good, if all others agree.
    """

    policy: str
    budget: int
    k: int | None
    seats: Mapping[str, str]
    owners: int | None = None
    privacy: float | None = None
    delta: float = 0.0
    account: Mapping[str, float | int | str | None] | None = None
    first_rounds: int = 0
    keeps: bool = False
    continues: str = ""
    before: int = 0
    newcomers: frozenset[str] = frozenset()
    late: str = ""
    reveals: Mapping[str, str] = field(default_factory=dict)
    exclude_after: float | None = None
    excludable: tuple[str, ...] = ()
    counts: str = REWARD


@dataclass(frozen=True, slots=True)
class Assignment:
    """A party's place in a run: all that it needs to be built, or built again.

    `brings` says what the party has (see `Role`); `data` is its model, whatever that is. `store`
    holds the data that its snapshots name. `workers` is how many processes it may compute with.
    `simulated` is the protocol, if all parties run in one process, and `environment` is then their
    world; the keys of a simulation may be weaker than a federation accepts. `earlier` is the run
    that this one continues, if it does and this party took part in it; a party that is built again
    may not be given it, and has in its snapshot what it took from it.
    """

    run: str
    seat: str
    order: bytes = field(repr=False)
    identity: Identity
    contribution: Contribution = field(default_factory=Contribution)
    seed: int | None = field(default=None, repr=False)
    brings: frozenset[str] = frozenset()
    data: object = field(default=None, repr=False)
    store: Store = field(default_factory=MemoryStore)
    workers: int = 1
    simulated: "SecureProtocol | None" = field(default=None, repr=False)
    environment: Environment | None = field(default=None, repr=False)
    earlier: Earlier | None = None


P = TypeVar("P", bound="SecureProtocol")


class Form(ABC, Generic[P]):
    """One form of one protocol. Each form encodes its orders in its own way."""

    name: ClassVar[str]
    """Its name in `form=` and `--form`."""

    wire: ClassVar[str]
    """Name and version of its messages and snapshots; a run must finish with the same version."""

    roles: ClassVar[tuple[Role, ...]]
    """Its roles; the first one orders runs and learns the result."""

    hubs: ClassVar[tuple[str, ...]]
    """The seats that all others talk to; the others do not talk to each other."""

    apart: ClassVar[str]
    """Who must not collude."""

    leakage: ClassVar[Mapping[str, Finding]]
    """What each role learns: by the paper, and measured."""

    attacks: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Attacks on the view of each role, each as module:Class so that it is loaded when used.

    Those on the joint view of a coalition stand under its roles, such as "server+owner"; without
    any, those on each of its members are tried on it.
    """

    coalitions: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """The roles that must not collude, as `apart` says: their views together give secrets away."""

    harmless: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Roles that may collude: the attacks on their joint view must do no better than chance."""

    leaks: ClassVar[bool] = False
    """Whether measured attacks recover from a role's view what the paper says is hidden."""

    counted_as: ClassVar[Mapping[str, str]] = {"expected": "as it must be"}
    """The headings of a table with the counts of `complexity`."""

    counts_explained: ClassVar[str] = ""
    """The text below that table."""

    exact: ClassVar[bool] = True
    """Whether it computes with exactly the numbers of plain; if not, it rounds."""

    fixed_widths: ClassVar[bool] = True
    """Whether a message of one kind is as long in every run of the same terms."""

    paced: ClassVar[bool] = False
    """Whether its parties yield BeginRound, so that rounds can wait until they are needed."""

    continuable: ClassVar[bool] = False
    """Whether a run can continue an ended one: see `reopen`."""

    why_not_continued: ClassVar[str] = ""
    """Why it cannot, where there is more to say."""

    joinable: ClassVar[bool] = False
    """Whether owners can join or leave when a run continues an ended one."""

    keeps: ClassVar[Mapping[str, str]] = {}
    """What the parties of which roles keep after a run whose plan `keeps` something, in words."""

    in_process_only: ClassVar[str] = ""
    """Why no federation runs it, and what to do instead; empty if one can: see `check_federated`.

    Its runs are simulations within one process.
    """

    takes_long: ClassVar[bool] = False
    """Whether runs take so long that a forecast should be shown first."""

    demo_budget: ClassVar[int | None] = None
    """How many rounds its demonstration has, if not as many as other forms of its protocol."""

    @property
    def opener(self) -> str:
        """The role, and the seat, of the party that orders runs."""
        return self.roles[0].name

    @property
    def owner_role(self) -> str | None:
        """The role of the data owners, if their seats have names of their own."""
        return next((role.name for role in self.roles if not role.seats), None)

    def check_federated(self, protocol: str) -> None:
        """Refuse a run by daemons, where all parties must be in one process."""
        if self.in_process_only:
            raise InputError(
                f"{protocol} in the form {self.name} runs in one process only, by `lotor run` or "
                f"lotor.run: {self.in_process_only}"
            )

    @abstractmethod
    def simulated(self, protocol: P, run: Run) -> Mapping[str, Sequence[Member]]:
        """Who takes part in a simulation, by role; refuses an environment that does not fit."""

    @abstractmethod
    def open(
        self,
        protocol: P,
        run: str,
        members: Mapping[str, Sequence[Member]],
        budget: int,
        identity: Identity,
    ) -> tuple[bytes, Party]:
        """Order a run: the order, and the opener's own party."""

    def reopen(
        self,
        protocol: P,
        run: str,  # noqa: ARG002
        members: Mapping[str, Sequence[Member]],  # noqa: ARG002
        budget: int,  # noqa: ARG002
        identity: Identity,  # noqa: ARG002
        earlier: Earlier,  # noqa: ARG002
    ) -> tuple[bytes, Party]:
        """Order a run that continues an ended one, whose order is at hand."""
        why = f"{self.why_not_continued}; " if self.why_not_continued else ""
        raise InputError(
            f"a run of {protocol.name} in the form {self.name} cannot continue another one: "
            f"{why}start a new one"
        )

    def rounds_of(self, order: bytes) -> int:  # noqa: ARG002
        """The last round of an ended run, if the rounds of a run that continues it count on."""
        return 0

    @abstractmethod
    def plan(self, order: bytes) -> RunPlan:
        """Read an order; refuses one that no run can fulfil."""

    @abstractmethod
    def build(self, assignment: Assignment, snapshot: bytes | None) -> Party:
        """Build the party of a seat, or rebuild it from its snapshot."""

    @abstractmethod
    def cast(self, protocol: P, budget: int, seed: int, size: int | None) -> Cast:
        """The parties of a demonstration; `size` is how many owners, where that can be chosen."""

    @abstractmethod
    def complexity(self, protocol: P, environment: Environment, budget: int) -> Counts:
        """How often a run does each operation ("expected"), and what other sources count."""

    def forecast(self, protocol: P, environment: Environment, budget: int) -> Forecast:
        """What a run will cost: by default, the operations that it counts."""
        counts = self.complexity(protocol, environment, budget)
        expected = counts["expected"]
        rows = {name.replace("_", " "): _number(count) for name, count in expected.items()}
        return Forecast(
            f"{counted(budget, 'round')}, {counted(environment.k, 'arm')}", rows, counts
        )

    def repeats(self, protocol: P, environment: Environment) -> int | None:  # noqa: ARG002
        """After how many rounds its messages repeat; None if they never do.

        More than one where something is made ahead for several rounds: no more than twice as many.
        """
        return None

    def beside(self, protocol: P) -> "Mapping[str, Protocol]":  # noqa: ARG002
        """What else a comparison runs on the same draws."""
        return {}

    def holds(self, protocol: P, comparison: Comparison) -> bool:  # noqa: ARG002
        """Whether a run's decisions are correct, given those of plain."""
        return comparison.secure.agrees_with(comparison.plain)

    def details(
        self,
        protocol: P,  # noqa: ARG002
        comparison: Comparison,  # noqa: ARG002
    ) -> Mapping[str, object]:
        """More about a comparison, for programs."""
        return {}

    def tables(
        self,
        protocol: P,  # noqa: ARG002
        comparison: Comparison,  # noqa: ARG002
    ) -> Sequence[ReportTable]:
        """More about a comparison, for people."""
        return []

    def notes(self, protocol: P) -> Sequence[str]:  # noqa: ARG002
        """What else the protocol's options reveal, and to whom."""
        return []

    def findings(self, reveals: Collection[str]) -> Mapping[str, Finding]:  # noqa: ARG002
        """What each role learns in a run that reveals so much beyond its result: see `RunPlan`."""
        return self.leakage

    def tells(self, protocol: P, role: str) -> frozenset[str]:
        """The secrets that a role's view gives away, which may depend on the policy."""
        finding = self.findings(protocol.reveals).get(role)
        return frozenset() if finding is None else finding.tells

    def audited(self, protocol: P, environment: Environment) -> P:  # noqa: ARG002
        """The protocol as it is audited: where parties can be many, as many as there can be."""
        return protocol

    def simulates(self, assignment: Assignment) -> P | None:
        """The protocol of a simulation; None in a federation."""
        return cast("P | None", assignment.simulated)

    def role(self, seat: str) -> Role:
        """The role of a seat."""
        for role in self.roles:
            if seat in role.seats:
                return role
        return next(role for role in self.roles if not role.seats)

    def links(self, seats: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """Whom each seat talks to."""
        return {
            seat: tuple(
                other
                for other in seats
                if other != seat and (seat in self.hubs or other in self.hubs)
            )
            for seat in seats
        }

    def seats(self, members: Mapping[str, Sequence[Member]]) -> dict[str, Member]:
        """The member in each seat, from the members of each role; refuses too few or too many."""
        seats: dict[str, Member] = {}
        for role in self.roles:
            named = members.get(role.name, ())
            if role.seats and len(named) != len(role.seats):
                raise InputError(
                    f"a run needs {len(role.seats)} of the role {role.name}, but {len(named)} are "
                    "named: correct [members] in party.toml"
                )
            if not named:
                raise InputError(
                    f"a run needs parties of the role {role.name}, and none are named: name them "
                    "under [members] in party.toml"
                )
            names = role.seats or tuple(member.name for member in named)
            for seat, member in zip(names, named, strict=True):
                if seat in seats or (not role.seats and seat in self.fixed_seats):
                    raise InputError(
                        f"two seats of the run are called {seat}: give every {role.name} a "
                        "name of its own"
                    )
                seats[seat] = member
        return seats

    def seats_of(self, named: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """The seats of a run and their roles; `named` are the seats with names of their own."""
        seats = {seat: role.name for role in self.roles for seat in role.seats}
        for role, names in named.items():
            for name in names:
                if name in self.fixed_seats:
                    raise ProtocolError(
                        f"the {self.opener} ordered a run in which the {role} {name} has the name "
                        "of another seat: order it with another name"
                    )
                seats[name] = role
        return seats

    @property
    def fixed_seats(self) -> frozenset[str]:
        """The seats that the form names itself; parties take them in the order of [members]."""
        return frozenset(seat for role in self.roles for seat in role.seats)

    def party(self, assignment: Assignment, snapshot: bytes | None = None) -> Party:
        """The party of a seat. If it cannot take part, the InputError is told to all parties."""
        role = self.role(assignment.seat)
        for thing in role.brings:
            if thing not in assignment.brings:
                raise InputError(
                    f"{assignment.seat} has no {_DOES[thing]}, and its role {role.name} needs "
                    f"one: let it set `{thing}` under [owner] in its party.toml"
                )
        if role.name == self.opener and snapshot is None:
            raise InputError(f"the party of the {role.name} is made when it orders a run")
        try:
            return self.build(assignment, snapshot)
        except LotorError:
            raise
        except Exception as error:
            # The text of an error that nobody has foreseen might show what is secret.
            raise InputError(
                f"{assignment.seat} cannot be built: its protocol failed with "
                f"{type(error).__name__}; report this"
            ) from error


AnyForm: TypeAlias = Form[Any]


def _number(count: int | str) -> str:
    return f"{count:,}" if isinstance(count, int) else count
