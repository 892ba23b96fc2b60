"""What `lotor compare` and `lotor tune` run: policies and protocols, each in one text.

ucb    softmax:tau=0.02    samba    samba/dealt    samba/paper/owners=3:softmax:tau=0.02
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lotor.cli.derive import allow_policy
from lotor.cli.run import source_for, suited_policy
from lotor.core.errors import InputError
from lotor.core.options import flag, options_of
from lotor.environments.base import Environment
from lotor.environments.sources import ArmsSource
from lotor.policies import from_text
from lotor.protocols.plain import agent_of
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol, shown_first
from lotor.studies.compare import Subject

_SHOWN = shown_first(PROTOCOLS)
SUBJECT_HELP = (
    "A policy in plain, such as ucb or 'softmax:tau=0.02' (`lotor policies` lists them), or a "
    "protocol with its form, its options and its policy, as far as they are not the usual ones: "
    f"PROTOCOL/FORM/OPTION=VALUE:POLICY, such as {_SHOWN}, "
    f"{_SHOWN}/{list(PROTOCOLS[_SHOWN].forms)[-1]} or '{_SHOWN}:softmax:tau=0.02'"
)


@dataclass(frozen=True, slots=True)
class TextSubject:
    """A policy or a protocol as it was written, and the arms that it takes."""

    text: str
    subject: Subject
    policy: str | None
    arms: type[ArmsSource]

    def suited(self, environment: Environment) -> Subject:
        """With the bounds that these arms need, unless the text states others."""
        if not isinstance(self.subject, SecureProtocol):
            return suited_policy(self.subject, environment, self.policy)  # type: ignore[arg-type]
        policy = suited_policy(self.subject.policy, environment, self.policy)
        if policy == self.subject.policy:
            return self.subject
        return replace(self.subject, policy=policy)  # type: ignore[type-var]


def to_subject(text: str) -> TextSubject:
    """What a text stands for."""
    head, _, policy = text.partition(":")
    name, *parts = head.split("/")
    if name in PROTOCOLS:
        return _protocol(text, name, parts, policy or None)
    if parts:
        known = ", ".join(PROTOCOLS)
        raise InputError(f"{text}: no protocol is called {name!r}, choose one of {known}")
    allow_policy(text)
    chosen = from_text(text)
    agent = agent_of(chosen)
    if agent is None:
        raise InputError(f"plain cannot run {text}: `lotor policies` lists the policies")
    return TextSubject(text, chosen, text, source_for(chosen, agent.arms))


def _protocol(text: str, name: str, parts: Iterable[str], policy: str | None) -> TextSubject:
    kind = PROTOCOLS[name]
    options: dict[str, str] = {}
    flags = {one.flag.replace("-", "_"): one.name for one in kind.simulated_options()}
    for part in parts:
        key, equals, value = part.partition("=")
        option = flags.get(key.replace("-", "_"), key) if equals else "form"
        if option in options:
            raise InputError(f"{text} gives {option} twice: give it once")
        options[option] = value if equals else key
    allow_policy(policy)
    return TextSubject(text, kind.configured(policy, options), policy, kind.arms)


def to_subjects(texts: Iterable[str]) -> list[TextSubject]:
    """What several texts stand for; all of them must choose from the same kind of arms."""
    given = list(texts)
    if twice := sorted({text for text in given if given.count(text) > 1}):
        raise InputError(f"{', '.join(twice)} is given twice: give it once")
    return [to_subject(text) for text in given]


def common_source(subjects: Iterable[TextSubject]) -> type[ArmsSource]:
    """The arms that all of them can take."""
    given = list(subjects)
    kinds = {one.arms for one in given}
    # Nodes of a graph are vectors, too.
    common = [kind for kind in kinds if all(issubclass(kind, other) for other in kinds)]
    if not common:
        first = given[0]
        other = next(one for one in given if one.arms is not first.arms)
        raise InputError(
            f"{first.text} and {other.text} choose from different kinds of arms: run them apart"
        )
    return common[0]


def environment_of(
    source: type[ArmsSource], text: str | None, budget: int, options: Mapping[str, Any]
) -> Environment:
    """The arms that a text stands for, with the options that were given for them."""
    own = {one.name for one in options_of(source)}
    if foreign := [name for name in options if name not in own]:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in foreign)
        known = ", ".join(flag(one) for one in options_of(source)) or "no options"
        raise InputError(f"{flags} does not belong to these arms: they have {known}")
    chosen = source.default_text() if text is None else text
    return source(**options).environment(chosen, budget)
