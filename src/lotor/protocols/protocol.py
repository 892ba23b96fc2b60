"""What a protocol is: a policy made secure, which describes itself by its class.

A protocol is a frozen dataclass. Its fields are its options; its class says what it is called,
which arms it takes and in which forms it exists. CONTRIBUTING.md shows how to add one.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from functools import cache
from typing import ClassVar, TypeVar

from lotor.core.effects import Decision
from lotor.core.errors import InputError, PolicyError
from lotor.core.options import Option, options_of
from lotor.core.registry import Registry, load
from lotor.crypto.signing import trusting_identities
from lotor.environments.sources import ArmsSource
from lotor.policies import POLICIES, AnyPolicy, from_text, to_text
from lotor.policies.registry import given_parameters
from lotor.protocols.form import MODEL, AnyForm, Assignment, Form
from lotor.protocols.party import Party, Run

P = TypeVar("P", bound="SecureProtocol")
OptionValue = int | float | str | bool


class Protocol(ABC):
    """What `lotor.run` runs: a policy made into parties, in plain or secure."""

    __slots__ = ()

    name: ClassVar[str]
    """As on the command line."""

    @property
    @abstractmethod
    def learner(self) -> str:
        """The party whose output is the total reward."""

    @property
    def least_budget(self) -> int | None:
        """The smallest budget; None where each arm is pulled once to begin with."""
        return None

    @abstractmethod
    def options(self) -> Mapping[str, str | int]:
        """All that was chosen, for the record."""

    @abstractmethod
    def parties(self, run: Run) -> Mapping[str, Party]:
        """Fresh parties for one run within one process."""

    def opened(self, run: Run) -> tuple[bytes, Mapping[str, Party]]:
        """The order, if there is one, and fresh parties."""
        return b"", self.parties(run)

    def rounds_before(self, run: Run) -> int:  # noqa: ARG002
        """How many rounds there were before this run, where it continues one and counts on."""
        return 0

    def decided_reward(self, run: Run) -> Callable[[Decision], float] | None:  # noqa: ARG002
        """What a decision pays in a simulation whose parties draw rewards themselves (`Decided`).

        None where the environment is asked.
        """
        return None

    def delays(self, run: Run) -> Callable[[int], int]:  # noqa: ARG002
        """How many rounds late the outcome of each round is in a simulation."""
        return lambda _t: 0

    def privacy(self, run: Run) -> Mapping[str, float | int | str | None] | None:  # noqa: ARG002
        """What the arms of a run tell, where the protocol accounts for it."""
        return None


class SecureProtocol(Protocol):
    """A policy made secure, in one of its forms."""

    __slots__ = ()

    summary: ClassVar[str]
    """What it is for, in half a sentence."""

    arms: ClassVar[type[ArmsSource]]
    """What `--arms` may say."""

    forms: ClassVar[Mapping[str, str | type[AnyForm]]]
    """Its forms, each as module:Class so that it is loaded when used; the first is the default."""

    form_notes: ClassVar[Mapping[str, str]] = {}
    """What `--help` says of each form, where there are several: who learns what, at what cost."""

    refused_forms: ClassVar[Mapping[str, str]] = {}
    """Forms that other protocols have and this one never will, each with the reason."""

    default_budget: ClassVar[int] = 1000
    demo_budget: ClassVar[int] = 300
    shown_first: ClassVar[bool] = False
    """Whether a demonstration shows this protocol if no other is asked for."""

    policy_options: ClassVar[tuple[str, ...]] = ()
    """Parameters of the policy that are options of their own on the command line."""

    paper_options: ClassVar[tuple[str, ...]] = ()
    """The options that only the paper's form has."""

    paper_forms: ClassVar[tuple[str, ...]] = ("paper",)
    """The forms that have them."""

    may_reveal: ClassVar[Mapping[str, str]] = {}
    """What its runs can tell beyond their result, in words, by the names of `RunPlan.reveals`."""

    figures: ClassVar[Mapping[str, str]] = {}
    """The figures and tables of its paper, each as module:Class so that it is loaded when used."""

    policy: AnyPolicy
    form: str

    @abstractmethod
    def plain(self) -> Protocol:
        """The same policy with no cryptography."""

    @property
    def learner(self) -> str:
        return self.in_form().opener

    @property
    def reveals(self) -> Mapping[str, str]:
        """What its runs tell beyond their result, among what they may."""
        return {}

    def in_form(self) -> AnyForm:
        """The form that was chosen."""
        return self.form_called(self.form)

    @property
    def exact(self) -> bool:
        """Whether it computes with exactly the numbers of plain; if not, it rounds."""
        return self.in_form().exact

    @property
    def demo_rounds(self) -> int:
        """How many rounds a demonstration of the form that was chosen has."""
        own = self.in_form().demo_budget
        return self.demo_budget if own is None else own

    @classmethod
    def form_called(cls, name: str) -> AnyForm:
        """A form by its name."""
        cls.check_form(name)
        return _form(cls.forms[name])

    @classmethod
    def check_form(cls, name: str) -> None:
        """Refuse a form that does not exist, naming those that do."""
        if name not in cls.forms:
            reason = f", because {cls.refused_forms[name]}" if name in cls.refused_forms else ""
            choices = " or ".join(cls.forms)
            raise InputError(f"{cls.name} has no form {name!r}{reason}: choose {choices}")

    def check_paper_options(self) -> None:
        """Refuse in the other forms what only the paper's form has."""
        for one in fields(self):  # type: ignore[arg-type]
            given = self.form not in self.paper_forms and one.name in self.paper_options
            if given and getattr(self, one.name) != one.default:
                raise InputError(
                    f"{one.name} is an option of the paper's form, and form={self.form!r} has no "
                    "use for it: leave it out, or choose form='paper'"
                )

    @classmethod
    def better_forms(cls, name: str) -> tuple[str, ...]:
        """The forms on which no attack was measured to succeed, if one did on the form `name`."""
        if not cls.form_called(name).leaks:
            return ()
        return tuple(one for one in cls.forms if not cls.form_called(one).leaks)

    @classmethod
    def default_form(cls) -> str:
        return next(iter(cls.forms))

    def parties(self, run: Run) -> Mapping[str, Party]:
        return self.opened(run)[1]

    def decided_reward(self, run: Run) -> Callable[[Decision], float] | None:
        return self.plain().decided_reward(run)

    def rounds_before(self, run: Run) -> int:
        return 0 if run.earlier is None else self.in_form().rounds_of(run.earlier.order)

    def opened(self, run: Run) -> tuple[bytes, Mapping[str, Party]]:
        """The order, and every party of a simulation, built as a daemon would build it."""
        form = self.in_form()
        members = form.simulated(self, run)
        seats = form.seats(members)
        identities = trusting_identities(list(seats))
        earlier, opening = run.earlier, (self, run.id, members, run.budget, identities[form.opener])
        if earlier is None:
            order, opener = form.open(*opening)
        else:
            order, opener = form.reopen(*opening, earlier.at(form.opener))
        parties = {form.opener: opener}
        for seat, member in seats.items():
            if seat != form.opener:
                assignment = Assignment(
                    run=run.id,
                    seat=seat,
                    order=order,
                    identity=identities[seat],
                    contribution=member.contribution,
                    seed=run.seed,
                    brings=frozenset(form.role(seat).brings),
                    data=run.environment if MODEL in form.role(seat).brings else None,
                    environment=run.environment,
                    workers=self.simulated_workers,
                    simulated=self,
                    earlier=None if earlier is None else earlier.at(seat),
                )
                parties[seat] = form.party(assignment)
        return order, parties

    @property
    def simulated_workers(self) -> int:
        """With how many processes a party computes in a simulation."""
        return 1

    @classmethod
    def all_options(cls) -> tuple[Option, ...]:
        """Its own options, and those of its policy that it takes as its own."""
        chosen = dict.fromkeys(cls.policy_options)
        of_policy = [one for one in options_of(cls.policy_kind()) if one.name in chosen]
        return (*map(cls._with_forms, options_of(cls)), *of_policy)

    @classmethod
    def simulated_options(cls) -> tuple[Option, ...]:
        """Those of them that commands which simulate a run offer."""
        return tuple(one for one in cls.all_options() if one.simulated)

    @classmethod
    def _with_forms(cls, one: Option) -> Option:
        """The option `form` says which forms there are."""
        if one.name != "form":
            return one
        text = f"{one.text.removesuffix('.')}: {' or '.join(cls.forms)}."
        notes = [f"{form}: {note}." for form, note in cls.form_notes.items()]
        return replace(one, text=" ".join([text, *notes]))

    @classmethod
    def policy_kind(cls) -> type:
        """The class of the policy that it takes unless another one is given."""
        (field,) = (one for one in fields(cls) if one.name == "policy")  # type: ignore[arg-type]
        kind: type = field.default_factory  # type: ignore[assignment]
        return kind

    @classmethod
    def configured(cls: type[P], policy: str | None, options: Mapping[str, OptionValue]) -> P:
        """The protocol with a policy by its text, and options by their names."""
        known = {one.name: one for one in cls.all_options()}
        if unknown := sorted(set(options) - set(known)):
            raise InputError(
                f"{cls.name} does not take {', '.join(unknown)}: it takes {', '.join(known)}"
            )
        values = {name: known[name].read(value) for name, value in options.items()}
        for name in values:
            if policy is not None and name in given_parameters(policy):
                raise InputError(
                    f"{name} is given twice, by the policy {policy} and on its own: give it once"
                )
        own = {name: values.pop(name) for name in cls.policy_options if name in values}
        chosen = cls.policy_kind()() if policy is None else from_text(policy)
        if (reason := cls.why_not(chosen)) is not None:
            raise cls._misfit(chosen, reason)
        if own:
            chosen = replace(chosen, **own)  # type: ignore[type-var]
        return cls(chosen, **values)  # type: ignore[call-arg]

    @classmethod
    def why_not(cls, policy: AnyPolicy) -> InputError | None:
        """Why it does not take a policy, in its own words; None if one of its forms does."""
        reasons = list(cls.reasons(policy).values())
        return None if None in reasons else reasons[0]

    @classmethod
    def reasons(cls, policy: AnyPolicy) -> dict[str, InputError | None]:
        """For each form None, or why it does not take a policy."""
        found: dict[str, InputError | None] = {}
        for form in cls.forms:
            try:
                cls(policy, form=form)  # type: ignore[call-arg]
            except InputError as error:
                found[form] = error
            else:
                found[form] = None
        return found

    @classmethod
    def _misfit(cls, policy: AnyPolicy, reason: InputError) -> InputError:
        """Which protocols run a policy that this one does not, if any do."""
        others = [name for name, kind in PROTOCOLS.loadable() if kind.why_not(policy) is None]
        if not others:
            return reason
        name, usual = (POLICIES.name_of(kind) for kind in (type(policy), cls.policy_kind()))
        return PolicyError(
            f"{cls.name} does not run the policy {name}, which is for {' and '.join(others)}: "
            f"choose a policy for {cls.name}, such as {usual}, or another protocol (`lotor "
            "policies` lists what goes together)"
        )

    def apart(self) -> "SecureProtocol | None":
        """The same, with decisions that do not wait for outcomes; None where they always do."""
        return None

    def alternatives(self) -> "Mapping[str, SecureProtocol]":
        """The same run in other ways, by the options for them: a plan says which is quickest."""
        return {}

    def why_not_anew(self) -> str:
        """Why a run of it must continue another one; empty if it can begin anew."""
        return ""

    def order_options(self) -> dict[str, str | int]:
        """Its options in an order to a federation; floats are written as exact text."""
        said: dict[str, str | int] = {"policy": to_text(self.policy)}
        for one in options_of(type(self)):
            value = getattr(self, one.name)
            # The policy's text has its parameters.
            if one.ordered and value is not None and not one.of_policy:
                said[one.name] = int(value) if isinstance(value, int) else str(value)
        return said

    @classmethod
    def ordered(cls: type[P], options: Mapping[str, str | int]) -> P:
        """The protocol that an order asks for."""
        given = dict(options)
        policy = given.pop("policy", None)
        allowed = {one.name for one in options_of(cls) if one.ordered}
        if refused := sorted(set(given) - allowed):
            raise InputError(f"an order of {cls.name} cannot set {', '.join(refused)}")
        return cls.configured(None if policy is None else str(policy), given)


PROTOCOLS: Registry[SecureProtocol] = Registry("lotor.protocols", "protocol", (SecureProtocol,))
"""The protocols that packages offer by entry points, and those that were allowed by name."""


def shown_first(protocols: Mapping[str, type[SecureProtocol]]) -> str:
    """The protocol that is demonstrated if no other is asked for."""
    return next(name for name, kind in protocols.items() if kind.shown_first)


def all_forms(protocols: Mapping[str, type[SecureProtocol]]) -> list[AnyForm]:
    """Every form of every protocol; one that cannot be loaded warns, and is left out."""
    return [form for name in protocols for form in _forms_of(name, protocols)]


def _forms_of(name: str, protocols: Mapping[str, type[SecureProtocol]]) -> list[AnyForm]:
    try:
        kind = protocols[name]
        return [kind.form_called(form) for form in kind.forms]
    except InputError as error:
        warnings.warn(f"the protocol {name} is left out: {error}", UserWarning, stacklevel=3)
        return []


def roles_that_bring(protocols: Mapping[str, type[SecureProtocol]]) -> set[str]:
    """The roles whose parties must bring something, whatever protocol and form they run."""
    roles = [role for form in all_forms(protocols) for role in form.roles]
    return {role.name for role in roles} - {role.name for role in roles if not role.brings}


def roles_that_order(protocols: Mapping[str, type[SecureProtocol]]) -> set[str]:
    """The roles whose parties order runs, whatever protocol and form they run."""
    forms = all_forms(protocols)
    others = {role.name for form in forms for role in form.roles if role.name != form.opener}
    return {form.opener for form in forms} - others


def must_bring(role: str, protocols: Mapping[str, type[SecureProtocol]]) -> bool:
    """Whether parties of a role must bring something, whatever protocol and form they run.

    A daemon asks when it starts, so protocols are loaded only until one says no, the one that is
    shown first before all others.
    """

    def later(name: str) -> bool:
        with suppress(InputError):  # which a warning tells below
            return not protocols[name].shown_first
        return True

    known = False
    for name in sorted(protocols, key=later):
        roles = [one for form in _forms_of(name, protocols) for one in form.roles]
        brought = [bool(one.brings) for one in roles if one.name == role]
        if not all(brought):
            return False
        known = known or bool(brought)
    return known


@cache
def _form(name: str | type[AnyForm]) -> AnyForm:
    kind = load(name, "form") if isinstance(name, str) else name
    if not isinstance(kind, type) or not issubclass(kind, Form):
        raise InputError(f"{name} is not a form: it must be a class derived from Form")
    return kind()
