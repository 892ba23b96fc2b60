"""The server with helpers: processes beside it that compute parts of every estimate."""

from collections import Counter
from collections.abc import Mapping

from lotor.core.effects import Steps
from lotor.core.errors import CryptoError
from lotor.crypto.ckks import Encrypted
from lotor.protocols.helba.messages import ServerKeys
from lotor.protocols.helba.server import Keys, Server
from lotor.protocols.helba.setting import HelbaSetting
from lotor.protocols.helba.sharing import Sharing, check_workers
from lotor.protocols.store import Store


class SharedServer(Server):
    """Line 15 by `workers` processes, itself included; the helpers see what it sees."""

    def __init__(
        self, setting: HelbaSetting, store: Store, workers: int, *, snapshot: bytes | None = None
    ) -> None:
        super().__init__(setting, store, snapshot=snapshot)
        check_workers(setting, workers)
        self._workers = workers
        self._sharing: Sharing | None = None
        # Whether the helpers have the sums that this server has.
        self._in_step = False
        self.cpu_elsewhere = 0.0

    def operations(self) -> Mapping[str, int]:
        counted = Counter(super().operations())
        if self._sharing is not None:
            counted.update({f"ckks_{n}": c for n, c in self._sharing.operations().items()})
        return dict(counted)

    def steps(self) -> Steps[None]:
        try:
            yield from super().steps()
        finally:
            if self._sharing is not None:
                self.cpu_elsewhere = self._sharing.cpu_seconds
                self._sharing.close()

    def _loaded_keys(self, announced: ServerKeys, parts: list[bytes]) -> Keys:
        evaluation = b"".join(parts)[announced.public :]
        keys = super()._loaded_keys(announced, parts)
        self._sharing = Sharing(self._setting, keys.evaluator, evaluation, self._workers)
        return keys

    def _renew(self, t: int) -> Steps[None]:  # noqa: ARG002
        yield from ()
        learning, sharing = self._known, self._helpers
        if learning.before is None:
            return
        # After a restart within a batch the estimate comes from older sums.
        if not self._in_step or learning.before is not learning.sums:
            sharing.take(learning.before)
        sharing.renew(learning.before, self._memory.start)
        if learning.before is not learning.sums:
            sharing.take(learning.sums)
        learning.before, self._in_step = None, True

    def _differences(self, t: int) -> Encrypted:
        return self._helpers.differences(self._parts, lambda: self._tables(t))

    def _learn(self, t: int) -> None:
        if self._in_step:
            self._helpers.learn(self._parts, lambda: super(SharedServer, self)._learn(t))
        else:
            super()._learn(t)

    @property
    def _helpers(self) -> Sharing:
        if self._sharing is None:
            raise CryptoError("this server has no helpers yet: let it run from its first step")
        return self._sharing
