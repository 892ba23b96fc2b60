"""`lotor.audit`: attack the views of a protocol's parties, and compare with what it states."""

import secrets
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from lotor.auditing import distinguishing, timing
from lotor.auditing.generic import EVERYWHERE
from lotor.auditing.recording import Recording, record
from lotor.auditing.report import Attempt, AuditReport, judged
from lotor.auditing.worlds import second_world
from lotor.core.errors import InputError
from lotor.core.registry import load
from lotor.environments.base import Environment
from lotor.protocols.attack import NOT_TRIED, Attack, Distinguisher, Features, Score
from lotor.protocols.form import AnyForm
from lotor.protocols.protocol import SecureProtocol

NETWORK, TIMING = "network", "timing"
LEVEL = 0.99
REPEAT = 24
TICK = 0.05


def audit(
    protocol: SecureProtocol,
    environment: Environment,
    *,
    budget: int,
    repeat: int = REPEAT,
    seed: int | None = None,
    other: Environment | None = None,
    level: float = LEVEL,
    daemons: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> AuditReport:
    """Run a protocol `repeat` times in each of two worlds, and attack what its parties saw.

    The attacks are those that the form lists and generic ones. The report says whether all that
    leaks is stated by the form, and whether all that is stated could be shown; a form whose claims
    are true fails with probability 1 - `level` at most. `other` is the second world, with other
    rewards; without one, it is derived where that is possible. With `daemons`, the parties of a
    demonstration also run as processes for so many rounds, without a tick and with one, and the
    times of their answers are attacked. `progress` is called with (runs done, runs in all).

    >>> import lotor
    >>> samba = lotor.Samba(lotor.UCB(), form="paper", key_bits=2048)
    >>> report = lotor.audit(samba, lotor.BernoulliArms([0.8, 0.3]), budget=30, repeat=2, seed=7)
    >>> report.row("comp", "tracker: rewards").shown
    True
    """
    _check(protocol, repeat, level)
    seed = secrets.randbits(48) if seed is None else seed
    form, began = protocol.in_form(), perf_counter()
    protocol = form.audited(protocol, environment)
    worlds = environment, second_world(environment) if other is None else other
    suspects: list[_Suspect] = []
    runs = [(j, world) for j in range(repeat) for world in range(2) if worlds[world] is not None]
    for done, (j, world) in enumerate(runs):
        if progress is not None:
            progress(done, len(runs))
        # Runs of a pair have one seed, so that they differ in nothing but their worlds.
        chosen = worlds[world]
        assert chosen is not None  # noqa: S101 (as selected above)
        recording = record(protocol, chosen, budget=budget, seed=seed + j)
        suspects = suspects or _suspects(form, protocol, recording)
        for suspect in suspects:
            suspect.study(recording, world)
    attempts = [attempt for suspect in suspects for attempt in suspect.attempts()]
    if daemons:
        attempts += _timed(form, protocol, daemons, seed)
    tried = {(one.party, one.secret) for one in attempts}
    untried = {
        one.label: left
        for one in suspects
        if (left := sorted(word for word in one.tells if (one.label, word) not in tried))
    }
    return AuditReport(
        protocol=protocol.name,
        form=form.name,
        options=dict(protocol.options()),
        budget=budget,
        k=environment.k,
        repeat=repeat,
        seed=seed,
        level=level,
        rows=judged(attempts, level),
        untried=untried,
        two_worlds=worlds[1] is not None,
        seconds=perf_counter() - began,
    )


@dataclass(slots=True)
class _Suspect:
    """A view that is attacked; that of a `coalition` only to show that the attacks work.

    `tells` are the secrets that its view is known to give away.
    """

    label: str
    seats: tuple[str, ...]
    attacks: Sequence[Attack | Distinguisher]
    tells: frozenset[str] = frozenset()
    coalition: bool = False
    scores: dict[str, Score] = field(default_factory=dict)
    features: defaultdict[tuple[str, int], list[Features]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def study(self, recording: Recording, world: int) -> None:
        """Attack one run; what is needed for a comparison of worlds is kept."""
        view = recording.view(*self.seats)
        for one in self.attacks:
            if isinstance(one, Distinguisher):
                self.features[one.name, world].append(one.features(view))
            elif world == 0:
                found = one.score(view, recording.truth)
                self.scores[one.name] = self.scores.get(one.name, NOT_TRIED) + found

    def attempts(self) -> list[Attempt]:
        return [
            Attempt(
                self.label,
                one.name,
                one.secret,
                stated=self.coalition or one.secret in self.tells,
                score=self._score(one),
                together=self.coalition,
            )
            for one in self.attacks
        ]

    def _score(self, one: Attack | Distinguisher) -> Score:
        if isinstance(one, Distinguisher):
            worlds = (self.features[one.name, world] for world in range(2))
            return distinguishing.score(*worlds, joint=one.joint)
        return self.scores[one.name]


def _suspects(form: AnyForm, protocol: SecureProtocol, recording: Recording) -> list[_Suspect]:
    """Each seat that the form names, one seat of each other role, the network, the coalitions."""
    seats: defaultdict[str, list[str]] = defaultdict(list)
    for seat in recording.parties:
        seats[form.role(seat).name].append(seat)
    found = []
    for role in form.roles:
        for seat in role.seats or seats[role.name][:1]:
            label = seat if len(role.seats) > 1 else role.name
            found.append(_suspect(form, protocol, label, role.name, (seat,)))
    found.append(_suspect(form, protocol, NETWORK, NETWORK, ()))
    for roles in (*form.harmless, *form.coalitions):
        left = {role: iter(names) for role, names in seats.items()}
        together = tuple(next(left[role]) for role in roles)
        label = "+".join(roles)
        # Without attacks of its own, those on each of its members.
        keys = [label] if label in form.attacks else dict.fromkeys(roles)
        listed = {one.name: one for key in keys for one in _listed(form, key)}
        harmful = roles in form.coalitions
        found.append(_Suspect(label, together, list(listed.values()), coalition=harmful))
    return found


def _suspect(
    form: AnyForm, protocol: SecureProtocol, label: str, role: str, seats: tuple[str, ...]
) -> _Suspect:
    attacks = (*_listed(form, role), *EVERYWHERE)
    return _Suspect(label, seats, attacks, form.tells(protocol, role))


def _listed(form: AnyForm, key: str) -> list[Attack | Distinguisher]:
    """The attacks that the form lists for a role or a coalition."""
    found = []
    for name in form.attacks.get(key, ()):
        kind = load(name, "attack")
        if not isinstance(kind, type) or not issubclass(kind, Attack | Distinguisher):
            raise InputError(
                f"{name} is not an attack: it must be a class derived from Attack or Distinguisher"
            )
        found.append(kind())
    return found


def _timed(form: AnyForm, protocol: SecureProtocol, rounds: int, seed: int) -> list[Attempt]:
    """What the times of owners' answers tell their hub, and whoever watches the network."""
    apart = protocol.apart()
    found = []
    for title, chosen, tick in (
        ("no tick", protocol, 0.0),
        (f"tick {1000 * TICK:g} ms", protocol, TICK),
        ("inbox", apart, 0.0),
    ):
        if chosen is None:
            continue
        seen = timing.observe(chosen, rounds, tick, seed=seed, inbox=chosen is apart)
        for name, score in timing.attacks(seen).items():
            for role in (form.role(timing.watcher(form.hubs)).name, NETWORK):
                stated = TIMING in form.tells(protocol, role) and chosen is not apart
                found.append(Attempt(role, f"{title}: {name}", TIMING, stated, score))
    return sorted(found, key=lambda one: one.party)


def _check(protocol: object, repeat: int, level: float) -> None:
    if not isinstance(protocol, SecureProtocol):
        raise InputError(f"audit takes a protocol, and this is none: {protocol!r}")
    if type(repeat) is not int or repeat < 1:
        raise InputError(f"repeat is a whole number of at least 1, not {repeat!r}")
    if not 0 < level < 1:
        raise InputError(f"level is a probability such as 0.99, not {level!r}")
