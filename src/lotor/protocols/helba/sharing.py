"""An estimate computed by several processes at once: the server's own and its helpers."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from lotor.core.errors import InputError
from lotor.crypto.ckks import Ciphertext, Encrypted, Evaluator
from lotor.crypto.ckks.adjugate import Minor
from lotor.crypto.workers import WorkerProcesses
from lotor.protocols.helba.helper import (
    Answer,
    Begin,
    Finish,
    Helper,
    HelperSetup,
    Learn,
    Request,
    Score,
    Take,
)
from lotor.protocols.helba.index_circuit import Numbers, Sums
from lotor.protocols.helba.parts import (
    DIVIDED_SIZES,
    PartialEstimate,
    divided,
    minors_of,
)
from lotor.protocols.helba.quadratic import QuadraticCircuit, doubled_sums
from lotor.protocols.helba.setting import HelbaSetting

T = TypeVar("T")


def useful_workers(setting: HelbaSetting, workers: int) -> int:
    """How many of them an estimate can be shared out to."""
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
            f"workers={workers}: an estimate is shared out for index='optimistic-quadratic' and d "
            f"from {DIVIDED_SIZES[0]} to {DIVIDED_SIZES[-1]} only; for d = 2 there is too little "
            "to do, and steps of an inverse wait for each other. Take workers=1"
        )
    raise InputError(f"workers={workers}: for d={d} at most {useful} can share an estimate")


class Sharing:
    """The first part here, each other in a helper; sums are added up everywhere."""

    def __init__(
        self, setting: HelbaSetting, evaluator: Evaluator, evaluation: bytes, workers: int
    ) -> None:
        circuit = setting.circuit
        check_workers(setting, workers)
        if not isinstance(circuit, QuadraticCircuit):
            raise InputError(f"workers={workers}: this index is computed by one process")
        self._circuit = circuit
        self._evaluator = evaluator
        self._parts = divided(setting.terms.d, workers)
        self._estimate: PartialEstimate[Encrypted] | None = None
        self._counted: list[Mapping[str, int]] = []
        setup = HelperSetup(
            setting.terms.to_bytes(), workers, evaluator.keys.fingerprint, evaluation
        )
        self._processes = WorkerProcesses(Helper, [msgspec.msgpack.encode(setup)] * (workers - 1))
        self._processes.wait()

    @property
    def cpu_seconds(self) -> float:
        """Of the helpers."""
        return self._processes.cpu_seconds

    @property
    def cpu_by_helper(self) -> list[float]:
        """Of each helper, until its last answer."""
        return self._processes.cpu_by_process

    def operations(self) -> Mapping[str, int]:
        """Of the helpers."""
        counted: Counter[str] = Counter()
        for each in self._counted:
            counted.update(each)
        return counted

    def take(self, sums: Numbers[Encrypted]) -> None:
        """Go on from these sums."""
        values = [entry.ciphertext.to_bytes() for entry in sums]
        self._ask([Take(part, values) for part in self._others], lambda: None)

    def learn(self, update: Sequence[bytes], meanwhile: Callable[[], T]) -> T:
        """Add one more round's ciphertexts, as they came, while the caller does the same."""
        own, _ = self._ask([Learn(list(update)) for _ in self._others], meanwhile)
        return own

    def renew(self, sums: Numbers[Encrypted], start: int) -> None:
        """A new estimate in all parts, of sums that all have."""
        doubled = doubled_sums(Sums.of(sums, self._circuit.terms.d), self._circuit.bounds, start)
        part = self._parts[0]

        def own_minors() -> tuple[dict[Minor, Encrypted], list[bytes]]:
            minors = minors_of(doubled.v, part)
            return minors, [minors[which].ciphertext.to_bytes() for which in part.given]

        begin = [Begin(start) for _ in self._others]
        (minors, given), answers = self._ask(begin, own_minors)
        passed = dict(zip(part.given, given, strict=True))
        for place, answer in zip(self._others, answers, strict=True):
            passed |= dict(zip(self._parts[place].given, answer.values, strict=True))

        def own_part() -> PartialEstimate[Encrypted]:
            taken = {which: self._loaded(passed[which]) for which in part.taken}
            return PartialEstimate.of(doubled, part, {**minors, **taken})

        finish = [
            Finish([passed[which] for which in self._parts[place].taken]) for place in self._others
        ]
        self._estimate, _ = self._ask(finish, own_part)

    def differences(
        self, contexts: Sequence[bytes], load: Callable[[], Sequence[Encrypted]]
    ) -> Encrypted:
        """The differences of all pairs' indices, from a round's contexts as they came."""
        estimate = self._estimate
        if estimate is None:
            raise InputError("there is no estimate yet: renew it first")
        score = [Score(list(contexts)) for _ in self._others]
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
        self, requests: Sequence[Request], meanwhile: Callable[[], T]
    ) -> tuple[T, list[Answer]]:
        own, replies = self._processes.ask(
            [msgspec.msgpack.encode(one) for one in requests], meanwhile
        )
        answers = [msgspec.msgpack.decode(reply, type=Answer) for reply in replies]
        self._counted = [answer.operations for answer in answers]
        return own, answers

    def _loaded(self, data: bytes) -> Encrypted:
        key = self._evaluator.keys.fingerprint
        ciphertext = Ciphertext.from_bytes(data, self._circuit.parameters, key)
        return Encrypted(self._evaluator, ciphertext)
