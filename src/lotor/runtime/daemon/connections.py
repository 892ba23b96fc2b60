"""Who is connected to a party's daemon, and what each of them says that it brings."""

import logging
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from lotor.core.errors import CertificateError, LotorError
from lotor.core.version import VERSION
from lotor.crypto.certificates import Certificate, Subject, Trust
from lotor.protocols.form import Contribution
from lotor.runtime.daemon.config import PartyConfig
from lotor.runtime.daemon.frames import WIRE_VERSION, AnyFrame, Card, decode, encode, read_card
from lotor.runtime.daemon.kit import Kit
from lotor.runtime.durable.frames import Data, RunFrame
from lotor.runtime.durable.journal import JOURNAL_VERSION
from lotor.transport import Hello, Limits, PartyTransportFactory, Tls

MOST_NOTED = 1000
_log = logging.getLogger("lotor.daemon")


class Connections:
    """One party's peers, by the names in their certificates.

    `cards` are those of all parties that were heard of; of a party that is connected here, its own.
    `messages_sent` and `bytes_sent` count what runs have sent, as it left.
    """

    def __init__(
        self,
        kit: Kit,
        config: PartyConfig,
        contribution: Contribution,
        transport: PartyTransportFactory,
        changed: Callable[[str], None],
    ) -> None:
        self.cards: dict[str, Card] = {}
        self.messages_sent = self.bytes_sent = 0
        self._kit = kit
        self._me = kit.subject.name
        self._contribution = contribution
        self._keys: dict[str, bytes] = {}
        self._shown: dict[str, Certificate] = {}
        # What was believed when all certificates were last looked at; a new list is a new Trust.
        self._checked_by: Trust | None = None
        self._noted: set[str] = set()
        self._sessions: dict[str, int] = {}
        self._full: set[str] = set()
        self.transport = transport(
            me=kit.subject,
            tls=Tls(kit.certificate_path, kit.key_path, self._trust, password=kit.password),
            listen=config.listen,
            dial=config.peers,
            hello=self._hello,
            admit=_admit,
            changed=changed,
            limits=Limits(
                max_frame=config.limits.max_frame,
                handshake=config.limits.handshake,
                keep_alive=config.limits.keep_alive,
                outgoing=max(Limits().outgoing, 4 * config.limits.max_frame),
            ),
        )

    def own_card(self) -> Card:
        return Card(self._kit.certificate.to_der(), self._contribution)

    def _hello(self) -> Hello:
        card = encode(self.own_card())
        return Hello(WIRE_VERSION, JOURNAL_VERSION, VERSION, time.time(), card)

    def send(self, name: str, frame: RunFrame) -> None:
        """To the party with this name, if it is connected."""
        if type(frame) is Data and name in self._keys:
            self.messages_sent += 1
            self.bytes_sent += len(frame.payload)
        self.transport.send(self._me, name, encode(frame))

    def admits(self, name: str) -> bool:
        """Whether a peer's connection takes more; if not, `admits_again` will tell."""
        if self.transport.admits(name):
            return True
        self._full.add(name)
        return False

    def admits_again(self, name: str) -> bool:
        """Whether a connection takes more now that did not when it was asked."""
        if name not in self._full or not self.transport.admits(name):
            return False
        self._full.remove(name)
        return True

    def receive(self, name: str) -> AnyFrame | None:
        """The next frame of a peer, or None when there is none."""
        while (payload := self.transport.receive(self._me, name)) is not None:
            if name in self._keys:
                return decode(payload, name)
            # A lost connection still brought this frame; its sender sends it again.
        return None

    def names(self) -> list[str]:
        """The peers that are connected."""
        return list(self._keys)

    def is_present(self, member: Certificate) -> bool:
        """Whether this very party, by its key, is connected."""
        return self._keys.get(member.subject.name) == member.key_bytes

    def seconds_away(self, name: str) -> float:
        """For how long a party has not been connected."""
        since = self.transport.down_since(name)
        return 0.0 if since is None else time.monotonic() - since

    def session_changed(self, name: str) -> bool:
        """Whether a peer's connection has gone up or down since this was last asked."""
        session = self.transport.session(name)
        if session == self._sessions.get(name, 0):
            return False
        self._sessions[name] = session
        return True

    def remove(self, name: str) -> bool:
        """Take note that a peer's connection is gone; False when there was none."""
        if self._keys.pop(name, None) is None:
            return False
        del self._shown[name]
        error = self.transport.last_error(name)
        _log.info(
            "%s is gone%s",
            name,
            f": {error}" if error else "",
            extra={"event": "gone", "peer": name},
        )
        return True

    def add(self, name: str) -> bool:
        """Take note of a peer that has connected; False when it is gone again already.

        CertificateError if it is not trusted any more.
        """
        shown, hello = self.transport.certificate(name), self.transport.hello_of(name)
        if shown is None or hello is None:
            return False
        certificate = Certificate.from_der(shown)
        # Again: the list may have changed since it was shown, and a handshake can be drawn out.
        self._trust().check(certificate)
        self._keys[name], self._shown[name] = certificate.key_bytes, certificate
        self.cards[name] = Card(shown, read_card(hello.card, name).contribution)
        _log.info("%s is connected", name, extra={"event": "connected", "peer": name})
        return True

    def roster(self) -> list[Card]:
        """The cards of this party and of all that are connected to it and trusted."""
        trust, now = self._trust(), datetime.now(UTC)
        there = [
            card
            for name, card in self.cards.items()
            if name in self._shown and self._distrust(name, trust, now) is None
        ]
        return [self.own_card(), *there]

    def learn(self, sender: str, cards: Iterable[Card]) -> None:
        """Cards that a peer passes on; the authority vouches for them, not the peer.

        One that is not trusted is skipped: the sender may not have the same revocation list.
        """
        trust = self._trust()
        for card in cards:
            try:
                name = trust.check(Certificate.from_der(card.certificate)).name
            except CertificateError as error:
                self._note_once(f"{sender} passed on a party that is not trusted here: {error}")
                continue
            # A party that is connected here has told its card itself.
            if name not in self._keys:
                self.cards[name] = card

    def end_untrusted(self, now: datetime | None = None) -> None:
        """Close the connections of parties that were revoked, or whose certificate has expired."""
        trust, now = self._trust(), now or datetime.now(UTC)
        for name in list(self._shown):
            error = self._distrust(name, trust, now)
            if error is not None:
                _log.warning(
                    f"the connection to {name} ends: {error}",
                    extra={"event": "distrusted", "peer": name},
                )
                self.transport.kick(name, error)
        self._checked_by = trust

    def _distrust(self, name: str, trust: Trust, now: datetime) -> CertificateError | None:
        """Why a peer that is connected is not trusted any more; None if it is."""
        certificate = self._shown[name]
        # Only the time can have changed since the last look, and a signature takes long to check.
        if trust is self._checked_by and now <= min(certificate.not_after, trust.not_after):
            return None
        try:
            trust.check(certificate, now)
        except CertificateError as error:
            return error
        return None

    def _trust(self) -> Trust:
        """Whom this party believes now; a list that cannot be read is no reason to stop."""
        try:
            return self._kit.fresh_trust()
        except LotorError as error:
            self._note_once(f"{error}; the last list that could be read counts meanwhile")
            return self._kit.trust

    def _note_once(self, text: str) -> None:
        if text not in self._noted and len(self._noted) < MOST_NOTED:
            self._noted.add(text)
            _log.warning(text, extra={"event": "distrusted"})

    def forget_absent(self) -> None:
        """Drop the cards of parties that are not connected: they may be out of date."""
        self.cards = {name: card for name, card in self.cards.items() if name in self._keys}


def _admit(subject: Subject, hello: Hello) -> None:
    read_card(hello.card, subject.name)
