"""The user with the paper's index: says which way a coin fell, and encrypts estimates again."""

from lotor.core.effects import Receive, Send, Steps
from lotor.core.errors import ProtocolError
from lotor.crypto.ckks import encrypt_again
from lotor.crypto.signing import Identity
from lotor.protocols.helba.index_circuit import Spot
from lotor.protocols.helba.messages import Bit, Doubt, Masked, Refreshed, Verdict
from lotor.protocols.helba.root import RootCircuit
from lotor.protocols.helba.setting import HelbaSetting
from lotor.protocols.helba.uploads import checked
from lotor.protocols.helba.user import FURTHEST, User
from lotor.protocols.helba.wire import (
    check_place,
    ciphertext_from,
    ciphertexts_from,
    masked_shape,
    place_of,
)
from lotor.protocols.store import Store


class HelpingUser(User):
    """Sees a fair coin in place of condition (8), and estimates under masks only."""

    def __init__(
        self,
        identity: Identity,
        setting: HelbaSetting,
        store: Store,
        *,
        snapshot: bytes | None = None,
    ) -> None:
        super().__init__(identity, setting, store, snapshot=snapshot)
        self._circuit = RootCircuit.of(setting.circuit)

    def _batch(self, t: int) -> Steps[int]:
        bounds, start = self._setting.bounds, self._memory.start
        if t == 1:
            return start
        new = bounds.start(t, start) == t
        if not new and bounds.policy.C is not None:
            new = yield from self._asked(t)
        if new:
            yield from self._refresh(t)
        return t if new else start

    def _asked(self, t: int) -> Steps[bool]:
        """Tell the server one bit that is a fair coin here, and hear what it was for."""
        doubt: Doubt = yield Receive("server", Doubt)
        check_place(doubt, t, "server")
        yield Send("server", Bit(place_of(t), self._above(doubt, t)))
        verdict: Verdict = yield Receive("server", Verdict)
        check_place(verdict, t, "server")
        return verdict.new

    def _above(self, doubt: Doubt, t: int) -> bool:
        parameters, key = self._setting.parameters, self._key
        answer = ciphertext_from(doubt.ciphertext, parameters, key.fingerprint, "server", t)
        self._decryptions += 1
        value = key.decrypt(answer).item(0)
        if not abs(value) < 0.5 + FURTHEST:
            raise ProtocolError(
                f"the doubt of round {t} is neither above nor below: a sum went beyond its public "
                "bound, or the server computed something else; check L and ridge"
            )
        return value > 0

    def _refresh(self, t: int) -> Steps[None]:
        shape = masked_shape(self._circuit, t)
        for index, spot in enumerate(self._circuit.spots):
            part: Masked = yield Receive("server", Masked)
            again = self._again(checked(part, shape, index, "server").data, spot, t)
            yield Send("server", Refreshed(shape.place, index, again))

    def _again(self, masked: bytes, spot: Spot, t: int) -> bytes:
        """The same number, which only a mask's owner can read, at the level where it is needed."""
        level, key = self._circuit.mask_level, self._key
        (ciphertext,) = ciphertexts_from(
            [masked],
            self._setting.parameters,
            key.fingerprint,
            [Spot(level, spot.scale)],
            t,
            "server",
        )
        # It is read in two parts, because a double does not hold it.
        self._decryptions += 2
        self._encryptions += 1
        return encrypt_again(key, ciphertext, spot.level).to_bytes()
