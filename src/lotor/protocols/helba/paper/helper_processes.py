"""Helper processes beside the server, each of which computes a part of every estimate.

The server computes the first part itself; sums are added up everywhere. A helper sees what the
server sees, and no more.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from lotor.core.errors import CryptoError, InputError
from lotor.crypto.ckks import Ciphertext, Encrypted, EvaluationKeys, Evaluator
from lotor.crypto.ckks.adjugate import Minor
from lotor.crypto.workers import WorkerProcesses
from lotor.protocols.helba.paper.divided_estimate import (
    DIVIDED_SIZES,
    EstimatePart,
    PartialEstimate,
    divided,
    minors_of,
)
from lotor.protocols.helba.paper.index_circuit import Numbers, Sums, plus
from lotor.protocols.helba.paper.quadratic import QuadraticCircuit, doubled_sums
from lotor.protocols.helba.paper.setting import HelbaSetting
from lotor.protocols.helba.terms import terms_from

T = TypeVar("T")


def useful_workers(setting: HelbaSetting, workers: int) -> int:
    """How many of these processes can share in an estimate."""
    d = setting.terms.d
    if not isinstance(setting.circuit, QuadraticCircuit) or d not in DIVIDED_SIZES:
        return 1
    return min(workers, d * (d + 1) // 2)


def check_workers(setting: HelbaSetting, workers: int) -> None:
    """Refuse more processes than can be of use, before anything is computed."""
    useful, d = useful_workers(setting, workers), setting.terms.d
    if workers <= useful:
        return
    if useful == 1:
        raise InputError(
            f"workers={workers}: several processes share an estimate for "
            f"index='optimistic-quadratic' and d from {DIVIDED_SIZES[0]} to {DIVIDED_SIZES[-1]} "
            "only; for d = 2 there is too little to do, and the steps of an inverse wait for each "
            "other. Take workers=1"
        )
    raise InputError(
        f"workers={workers}: for d={d} at most {useful} processes can share an estimate; take fewer"
    )


class HelperSetup(msgspec.Struct, frozen=True, array_like=True):
    """The first message to every helper: the terms, the keys, and how many parts there are."""

    terms: bytes
    count: int
    fingerprint: str
    evaluation: bytes


class TakeSums(msgspec.Struct, frozen=True, array_like=True, tag="take"):
    """Forget all sums but these, and compute this part."""

    part: int
    values: list[bytes]


class LearnRound(msgspec.Struct, frozen=True, array_like=True, tag="learn"):
    """One more round."""

    values: list[bytes]


class BeginEstimate(msgspec.Struct, frozen=True, array_like=True, tag="begin"):
    """Compute this part's minors; answers with those that others need."""

    start: int


class FinishEstimate(msgspec.Struct, frozen=True, array_like=True, tag="finish"):
    """The other parts' minors: compute this part of the estimate."""

    minors: list[bytes]


class ScoreRound(msgspec.Struct, frozen=True, array_like=True, tag="score"):
    """A round's contexts; answers with this part of the differences."""

    values: list[bytes]


class HelperAnswer(msgspec.Struct, frozen=True, array_like=True):
    """Ciphertexts, and how often the helper has done what so far."""

    values: list[bytes]
    operations: dict[str, int]


HelperRequest = TakeSums | LearnRound | BeginEstimate | FinishEstimate | ScoreRound


class EstimateHelper:
    """What runs in a helper process: it answers requests one after another."""

    def __init__(self, setting: HelbaSetting, evaluator: Evaluator, count: int) -> None:
        circuit = setting.circuit
        if not isinstance(circuit, QuadraticCircuit):
            raise CryptoError("only the index without a root is computed in parts")
        self._circuit = circuit
        self._evaluator = evaluator
        self._parts = divided(setting.terms.d, count)
        self._part: EstimatePart = self._parts[0]
        self._sums: Numbers[Encrypted] | None = None
        self._doubled: Sums[Encrypted] | None = None
        self._minors: dict[Minor, Encrypted] = {}
        self._estimate: PartialEstimate[Encrypted] | None = None

    @classmethod
    def from_bytes(cls, data: bytes) -> "EstimateHelper":
        setup = msgspec.msgpack.decode(data, type=HelperSetup)
        setting = HelbaSetting.of(terms_from(setup.terms))
        keys = EvaluationKeys.from_bytes(setup.evaluation, setting.parameters, setup.fingerprint)
        return cls(setting, Evaluator(keys), setup.count)

    def answer(self, request: bytes) -> bytes:
        asked = msgspec.msgpack.decode(request, type=HelperRequest)
        values: list[bytes] = []
        if isinstance(asked, TakeSums):
            self._part = self._parts[asked.part]
            self._sums = tuple(self._loaded(asked.values))
        elif isinstance(asked, LearnRound):
            self._sums = plus(self._known_sums, self._loaded(asked.values))
        elif isinstance(asked, BeginEstimate):
            values = self._begin(asked.start)
        elif isinstance(asked, FinishEstimate):
            self._finish(asked.minors)
        else:
            values = [self._score(asked.values)]
        return msgspec.msgpack.encode(HelperAnswer(values, self._evaluator.totals()))

    def _begin(self, start: int) -> list[bytes]:
        sums = Sums.of(self._known_sums, self._circuit.terms.d)
        self._doubled = doubled_sums(sums, self._circuit.bounds, start)
        self._minors = minors_of(self._doubled.v, self._part)
        return [self._minors[which].ciphertext.to_bytes() for which in self._part.given]

    def _finish(self, minors: list[bytes]) -> None:
        if self._doubled is None:
            raise CryptoError("this helper was not told to begin: start the server again")
        taken = dict(zip(self._part.taken, self._loaded(minors), strict=True))
        everything = {**self._minors, **taken}
        self._estimate = PartialEstimate.of(self._doubled, self._part, everything)
        # Nothing large is kept from one estimate to the next.
        self._doubled, self._minors = None, {}

    def _score(self, contexts: list[bytes]) -> bytes:
        if self._estimate is None:
            raise CryptoError("this helper has no estimate yet: start the server again")
        return self._estimate.differences(self._loaded(contexts)).ciphertext.to_bytes()

    def _loaded(self, listed: list[bytes]) -> list[Encrypted]:
        parameters, key = self._circuit.parameters, self._evaluator.keys.fingerprint
        frames = (Ciphertext.from_bytes(data, parameters, key) for data in listed)
        return [Encrypted(self._evaluator, ciphertext) for ciphertext in frames]

    @property
    def _known_sums(self) -> Numbers[Encrypted]:
        if self._sums is None:
            raise CryptoError("this helper has no sums yet: start the server again")
        return self._sums


class HelperProcesses:
    """The server's side: computes the first part itself, and asks a helper for each other part."""

    def __init__(
        self, setting: HelbaSetting, evaluator: Evaluator, evaluation: bytes, workers: int
    ) -> None:
        circuit = setting.circuit
        check_workers(setting, workers)
        if not isinstance(circuit, QuadraticCircuit):
            raise InputError(f"workers={workers}: one process computes this index. Take workers=1")
        self._circuit = circuit
        self._evaluator = evaluator
        self._parts = divided(setting.terms.d, workers)
        self._estimate: PartialEstimate[Encrypted] | None = None
        self._counted: list[Mapping[str, int]] = []
        setup = HelperSetup(
            setting.terms.to_bytes(), workers, evaluator.keys.fingerprint, evaluation
        )
        setups = [msgspec.msgpack.encode(setup)] * (workers - 1)
        self._processes = WorkerProcesses(EstimateHelper, setups)
        self._processes.wait()

    @property
    def cpu_seconds(self) -> float:
        """The helpers' CPU time."""
        return sum(self.cpu_by_helper)

    @property
    def cpu_by_helper(self) -> list[float]:
        """The CPU time of each helper, until its last answer."""
        return self._processes.cpu_by_process

    def operations(self) -> Mapping[str, int]:
        """The helpers' operations so far."""
        counted: Counter[str] = Counter()
        for each in self._counted:
            counted.update(each)
        return counted

    def take(self, sums: Numbers[Encrypted]) -> None:
        """Let the helpers go on from these sums."""
        values = [entry.ciphertext.to_bytes() for entry in sums]
        self._ask([TakeSums(part, values) for part in self._others], lambda: None)

    def learn(self, update: Sequence[bytes], meanwhile: Callable[[], T]) -> T:
        """Add one more round's ciphertexts, as they came, while the caller does the same."""
        own, _ = self._ask([LearnRound(list(update)) for _ in self._others], meanwhile)
        return own

    def renew(self, sums: Numbers[Encrypted], start: int) -> None:
        """Compute a new estimate in all parts, from sums that all processes have."""
        doubled = doubled_sums(Sums.of(sums, self._circuit.terms.d), self._circuit.bounds, start)
        part = self._parts[0]

        def own_minors() -> tuple[dict[Minor, Encrypted], list[bytes]]:
            minors = minors_of(doubled.v, part)
            return minors, [minors[which].ciphertext.to_bytes() for which in part.given]

        begin = [BeginEstimate(start) for _ in self._others]
        (minors, given), answers = self._ask(begin, own_minors)
        passed = dict(zip(part.given, given, strict=True))
        for place, answer in zip(self._others, answers, strict=True):
            passed |= dict(zip(self._parts[place].given, answer.values, strict=True))

        def own_part() -> PartialEstimate[Encrypted]:
            taken = {which: self._loaded(passed[which]) for which in part.taken}
            return PartialEstimate.of(doubled, part, {**minors, **taken})

        finish = [
            FinishEstimate([passed[which] for which in self._parts[place].taken])
            for place in self._others
        ]
        self._estimate, _ = self._ask(finish, own_part)

    def differences(
        self, contexts: Sequence[bytes], load: Callable[[], Sequence[Encrypted]]
    ) -> Encrypted:
        """The differences of all pairs' indices, from a round's contexts as they came."""
        estimate = self._estimate
        if estimate is None:
            raise InputError("there is no estimate yet: renew it first")
        score = [ScoreRound(list(contexts)) for _ in self._others]
        total, answers = self._ask(score, lambda: estimate.differences(load()))
        for answer in answers:
            total = total + self._loaded(answer.values[0])
        return total

    def close(self) -> None:
        """End the helpers."""
        self._processes.close()

    @property
    def _others(self) -> range:
        return range(1, len(self._parts))

    def _ask(
        self, requests: Sequence[HelperRequest], meanwhile: Callable[[], T]
    ) -> tuple[T, list[HelperAnswer]]:
        own, replies = self._processes.ask(
            [msgspec.msgpack.encode(one) for one in requests], meanwhile
        )
        answers = [msgspec.msgpack.decode(reply, type=HelperAnswer) for reply in replies]
        self._counted = [answer.operations for answer in answers]
        return own, answers

    def _loaded(self, data: bytes) -> Encrypted:
        key = self._evaluator.keys.fingerprint
        ciphertext = Ciphertext.from_bytes(data, self._circuit.parameters, key)
        return Encrypted(self._evaluator, ciphertext)
