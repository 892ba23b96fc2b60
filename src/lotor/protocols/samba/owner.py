"""A data owner DO, as it is in every form: keeps the data of its arms, scores and pulls them."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar, Generic, TypeVar

import msgspec
import numpy as np

from lotor.core.draws import Draws
from lotor.core.effects import BeginRound, Checkpoint, Decision, Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.core.fixed_point import RewardScale, whole_scores
from lotor.crypto.prf import ROUNDS_AHEAD, Prf, new_key
from lotor.crypto.sealing import SealingKey
from lotor.crypto.signing import Identity
from lotor.policies import ArmSnapshot, ArmStates, Policy, to_text
from lotor.protocols.kept_arms import KeptArms, fresh_states
from lotor.protocols.party import Party
from lotor.protocols.pulls import LatePulls, Pulls, PullsAtOnce
from lotor.protocols.samba.keys import KeyRing
from lotor.protocols.samba.memory import SambaMemory, restored_with
from lotor.protocols.samba.messages import Offers, SambaSealedKey, SambaSetup
from lotor.protocols.samba.terms import SambaTerms

OWNERS_KEYS = "owners' keys"

T = TypeVar("T", bound=SambaTerms)


class SambaOwnerMemory(SambaMemory, kw_only=True):
    """`own_key` (ties, samples) is this owner's alone; `coin_key` is the owners', made by the first
    of them. `waiting` are the decisions without an outcome: round and arm. Where a run is
    continued, `kept` is what was kept of it, until rounds begin, and `had` are the sums of rewards
    and the pulls that the known arms had then."""

    sealing_key: bytes
    own_key: bytes
    coin_key: bytes
    arms: ArmSnapshot | None = None
    waiting: dict[int, int] = msgspec.field(default_factory=dict)
    kept: KeptArms | None = None
    had: list[tuple[int, int]] = msgspec.field(default_factory=list)


M = TypeVar("M", bound=SambaOwnerMemory)


class SambaOwner(Party, Generic[T, M]):
    """Figures 6 (a) and 9 (a), for `held` arms at once, with rewards in the range of `scale`.

    A form says how scores are covered and how the owner learns which of its arms is selected. The
    draws of `own_key` and, at the first owner, `coin_key` decide arms. A simulation derives them
    from its seed; elsewhere they are fresh. `kept` is what it knows of arms from an earlier run.
    """

    terms_kind: type[T]
    memory_kind: type[M]

    masked: ClassVar[bool] = False
    """Whether scores leave under a mask that is used once: a reward is on the disk before."""

    def __init__(
        self,
        identity: Identity,
        run: str,
        policy: Policy,
        *,
        held: int,
        scale: RewardScale,
        own_key: bytes | None = None,
        coin_key: bytes | None = None,
        kept: KeptArms | None = None,
        order: bytes | None = None,
        snapshot: bytes | None = None,
    ) -> None:
        self._ring = KeyRing(identity, run, order)
        self._name = identity.name
        self._policy = policy
        self._held = held
        self._scale = scale
        self._memory: M = (
            self.memory_kind(
                party=identity.name,
                run=run,
                policy=to_text(policy),
                sealing_key=SealingKey().private_bytes(),
                own_key=own_key or new_key(),
                coin_key=coin_key or new_key(),
                kept=kept,
                had=[] if kept is None else kept.sums,
            )
            if snapshot is None
            else restored_with(self.memory_kind, snapshot, identity.name, run, policy)
        )

    def operations(self) -> Mapping[str, int]:
        return self._ring.operations()

    @abstractmethod
    def _makers(self, terms: T) -> Sequence[str]:
        """Who makes keys for the owners."""

    @abstractmethod
    def _take_keys(self, terms: T, sealing: SealingKey) -> Steps[None]:
        """The keys that others make for this owner, in the order of the makers."""

    @abstractmethod
    def _begin(self, terms: T) -> None:
        """Get ready to score, with the keys of the set-up."""

    @abstractmethod
    def _selected(self, t: int, l: int, scores: Sequence[int], draws: Draws) -> Steps[int | None]:
        """Steps 2 and 5: hand in scores; which of the arms is selected, if any."""

    @abstractmethod
    def _cumulative_reward(self, terms: T, earned: Sequence[tuple[int, int]]) -> Steps[None]:
        """Step 6: hand in this owner's part of the total: each arm's sum and pulls in this run."""

    def steps(self) -> Steps[None]:
        memory = self._memory
        if memory.terms is None or memory.arms is None:
            yield Checkpoint(memory.dump)
            terms = yield from self._setup()
            self._begin(terms)
            pulls = self._pulls(terms, self._states(terms))
            yield from self._first_pulls(terms, pulls)
            memory.terms, memory.t, memory.kept = terms, terms.first, None
            memory.sealing_key = b""  # done its work
        else:
            terms = self._restored_terms()
            self._begin(terms)
            pulls = self._pulls(terms, ArmStates.restore(memory.arms))
        yield from self._core(terms, pulls)
        yield from self._settle(terms, pulls)
        yield from self._cumulative_reward(terms, self._earned(pulls.arms))
        if terms.keep:
            self.kept = self._to_keep(terms, pulls.arms)

    def _restored_terms(self) -> T:
        terms = self._memory.terms
        assert isinstance(terms, self.terms_kind)  # noqa: S101 (as the memory's type says)
        self._check(terms)
        return terms

    def _setup(self) -> Steps[T]:
        setup: SambaSetup = yield Receive("controller", SambaSetup)  # step 1
        terms = self._ring.accept(setup, self.terms_kind, self._policy)
        self._check(terms)
        sealing = SealingKey(self._memory.sealing_key)
        yield Send("controller", self._ring.offer(sealing.public, self._makers(terms)))
        yield from self._take_keys(terms, sealing)
        return terms

    def _check(self, terms: T) -> None:
        """Refuse terms, ordered or restored, that are not about this owner's arms."""
        if terms.owners.get(self._name) != self._held or terms.scale != self._scale:
            raise ProtocolError(
                f"the terms of this run do not fit {self._name}, which holds {self._held} arms "
                f"with rewards from {self._scale.low} to {self._scale.high}: order or start it "
                f"again with what {self._name} offers"
            )

    def _take_key(self, sealing: SealingKey, maker: str, purpose: str) -> Steps[bytes]:
        """A key that `maker` made for this owner."""
        sealed: SambaSealedKey = yield Receive("controller", SambaSealedKey)
        return self._ring.open(sealing, sealed, maker, purpose)

    def _share_owners_keys(self, terms: T, sealing: SealingKey, keys: bytes) -> Steps[bytes]:
        """Keys that all owners have and nobody else: those of the first owner, for the others."""
        first, *others = terms.owners
        if self._name != first:
            return (yield from self._take_key(sealing, first, OWNERS_KEYS))
        offers: Offers = yield Receive("controller", Offers)
        sealed = self._ring.seal(dict.fromkeys(others, keys), offers, OWNERS_KEYS)
        yield Send("controller", sealed)
        return keys

    def _numbers(self, terms: T) -> list[int]:
        """The numbers that this owner's arms have in the run."""
        return terms.numbers()[self._name]

    def _states(self, terms: T) -> ArmStates:
        """What is known of the arms when the run begins."""
        kept, held, k = self._memory.kept, self._held, terms.k
        if kept is None:
            return fresh_states(self._policy, held, k)
        return kept.states(self._policy, held, k)

    def _earned(self, arms: ArmStates) -> list[tuple[int, int]]:
        """Of each arm, its rewards and its pulls without those of earlier runs."""
        had = self._memory.had + [(0, 0)] * (self._held - len(self._memory.had))
        pairs = zip(arms.sums(), had, strict=True)
        return [(s - s_before, n - n_before) for (s, n), (s_before, n_before) in pairs]

    def _to_keep(self, terms: T, arms: ArmStates) -> bytes:
        return KeptArms(
            run=terms.run,
            party=self._name,
            policy=terms.policy,
            rounds=terms.last,
            low=terms.low,
            high=terms.high,
            numbers=self._numbers(terms),
            arms=arms.snapshot(),
        ).to_bytes()

    def _draws(self, terms: T, *, ahead: int) -> Draws:
        memory = self._memory
        return Draws(
            Prf(memory.own_key, self._numbers(terms), ahead=ahead),
            Prf(memory.coin_key, ahead=ahead),
        )

    def _pulls(self, terms: T, arms: ArmStates) -> Pulls:
        """How this owner pulls its arms, of which it knows so much."""
        run, numbers, rules = terms.run, self._numbers(terms), terms.rules
        common = self._policy, arms, self._scale, numbers
        if rules.at_once:
            draws = self._draws(terms, ahead=ROUNDS_AHEAD)
            return PullsAtOnce(*common, draws, masked=self.masked)
        waiting = {t: Decision.named(run, t, arm) for t, arm in self._memory.waiting.items()}
        draws, first_rounds = self._draws(terms, ahead=1), terms.first_rounds(self._name)
        return LatePulls(*common, draws, rules, waiting, first_rounds)

    def _first_pulls(self, terms: T, pulls: Pulls) -> Steps[None]:
        """Pull each arm once that has not been pulled in earlier runs."""
        pairs = zip(self._numbers(terms), terms.first_rounds(self._name), strict=True)
        for arm, t in list(pairs)[len(self._memory.had) :]:
            yield from pulls.arrived(t)
            yield from pulls.pull(Decision.named(terms.run, t, arm))

    def _remembered(self, pulls: Pulls) -> bytes:
        self._memory.arms = pulls.arms.snapshot()
        self._memory.waiting = {t: one.arm for t, one in pulls.waiting.items()}
        return self._snapshot()

    def _snapshot(self) -> bytes:
        return self._memory.dump()

    def _core(self, terms: T, pulls: Pulls) -> Steps[None]:
        memory = self._memory
        draws, numbers = self._draws(terms, ahead=ROUNDS_AHEAD), self._numbers(terms)

        for t in terms.rounds[memory.t - terms.first :]:
            memory.t = t
            yield Checkpoint(partial(self._remembered, pulls), t)
            yield BeginRound(t)
            yield from pulls.arrived(t)
            selected = yield from self._chosen(terms, pulls, t, draws)
            chosen = None if selected is None else numbers[selected]
            decision = None if chosen is None else Decision.named(terms.run, t, chosen)
            yield from pulls.pull(decision)

    def _chosen(self, terms: T, pulls: Pulls, t: int, draws: Draws) -> Steps[int | None]:
        """The iterations of a round; which of the arms is to be pulled, if any."""
        policy = self._policy
        selected = None
        for l in range(1, terms.iterations + 1):
            draws.at(t, l)
            scores = whole_scores(policy.score(pulls.to_score(), t, l, draws))
            selected = yield from self._selected(t, l, scores, draws)  # steps 2 to 5
            if policy.observes:
                policy.observe(pulls.arms, t, l, np.arange(self._held) == selected)
        return selected

    def _settle(self, terms: T, pulls: Pulls) -> Steps[None]:
        """Wait for the outcomes that are missing; that may take months."""
        self._memory.t = terms.last + 1
        snapshot = partial(self._remembered, pulls)
        yield Checkpoint(snapshot, terms.last, durable=not terms.rules.at_once)
        yield from pulls.settle(terms.last + 1)
