"""A helper of the server: a process that has its keys, keeps sums, and computes one part."""

import msgspec

from lotor.core.errors import CryptoError
from lotor.crypto.ckks import Ciphertext, Encrypted, EvaluationKeys, Evaluator
from lotor.crypto.ckks.adjugate import Minor
from lotor.protocols.helba.index_circuit import Numbers, Sums, plus
from lotor.protocols.helba.parts import Part, PartialEstimate, divided, minors_of
from lotor.protocols.helba.quadratic import QuadraticCircuit, doubled_sums
from lotor.protocols.helba.setting import HelbaSetting
from lotor.protocols.helba.terms import terms_from


class HelperSetup(msgspec.Struct, frozen=True, array_like=True):
    """What every helper of a server is given once."""

    terms: bytes
    count: int
    fingerprint: str
    evaluation: bytes


class Take(msgspec.Struct, frozen=True, array_like=True, tag="take"):
    """Forget all sums but these, and compute this part."""

    part: int
    values: list[bytes]


class Learn(msgspec.Struct, frozen=True, array_like=True, tag="learn"):
    """One more round."""

    values: list[bytes]


class Begin(msgspec.Struct, frozen=True, array_like=True, tag="begin"):
    """Compute this part's minors; answers with those that others need."""

    start: int


class Finish(msgspec.Struct, frozen=True, array_like=True, tag="finish"):
    """The other parts' minors: compute this part of the estimate."""

    minors: list[bytes]


class Score(msgspec.Struct, frozen=True, array_like=True, tag="score"):
    """A round's contexts; answers with this part of the differences."""

    values: list[bytes]


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """Ciphertexts, and how often the helper has done what so far."""

    values: list[bytes]
    operations: dict[str, int]


Request = Take | Learn | Begin | Finish | Score


class Helper:
    """Serves requests one after another; it sees what the server sees, and no more."""

    def __init__(self, setting: HelbaSetting, evaluator: Evaluator, count: int) -> None:
        circuit = setting.circuit
        if not isinstance(circuit, QuadraticCircuit):
            raise CryptoError("only the circuit without a root is computed in parts")
        self._circuit = circuit
        self._evaluator = evaluator
        self._parts = divided(setting.terms.d, count)
        self._part: Part = self._parts[0]
        self._sums: Numbers[Encrypted] | None = None
        self._doubled: Sums[Encrypted] | None = None
        self._minors: dict[Minor, Encrypted] = {}
        self._estimate: PartialEstimate[Encrypted] | None = None

    @classmethod
    def from_bytes(cls, data: bytes) -> "Helper":
        setup = msgspec.msgpack.decode(data, type=HelperSetup)
        setting = HelbaSetting.of(terms_from(setup.terms))
        keys = EvaluationKeys.from_bytes(setup.evaluation, setting.parameters, setup.fingerprint)
        return cls(setting, Evaluator(keys), setup.count)

    def answer(self, request: bytes) -> bytes:
        asked = msgspec.msgpack.decode(request, type=Request)
        values: list[bytes] = []
        if isinstance(asked, Take):
            self._part = self._parts[asked.part]
            self._sums = tuple(self._loaded(asked.values))
        elif isinstance(asked, Learn):
            self._sums = plus(self._known_sums, self._loaded(asked.values))
        elif isinstance(asked, Begin):
            values = self._begin(asked.start)
        elif isinstance(asked, Finish):
            self._finish(asked.minors)
        else:
            values = [self._score(asked.values)]
        return msgspec.msgpack.encode(Answer(values, self._evaluator.totals()))

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
