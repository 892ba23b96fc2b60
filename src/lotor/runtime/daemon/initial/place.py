"""What a role needs in its party.toml, by what a form says of it; nothing here knows a protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from lotor.core.errors import InputError
from lotor.protocols.form import ACT, FEATURES, MODEL, PULL, AnyForm, Member, Role
from lotor.protocols.protocol import SecureProtocol, shown_first
from lotor.runtime.daemon.config import (
    Address,
    CodeTable,
    ConsentRules,
    LocalTable,
    OwnerTable,
    PartyConfig,
    converted,
)

__all__ = ["ACT", "FEATURES", "MODEL", "PULL", "InitialSettings", "PartyPlace", "party_place"]

_OF_FUNCTIONS: Final = ("repeatable", "tick", "check")
OWNER_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    PULL: (PULL, "inbox", "arms", "reward_range", *_OF_FUNCTIONS),
    ACT: (ACT, "inbox", "arms", *_OF_FUNCTIONS),
    FEATURES: (FEATURES, "dimensions", *_OF_FUNCTIONS),
    MODEL: (MODEL,),
}
"""The keys of [owner] that are about each thing which a party can bring."""

# Nobody is named, so that every run waits for approval.
CAREFUL: Final[Mapping[str, object]] = {
    "customers": (),
    "policies": (),
    "least_budget": 100,
    "total_budget": 100_000,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialSettings:
    """What is known of a party when its party.toml is made; keys of [owner] and [consent]."""

    listen: Address | None = None
    peers: Mapping[str, Address] = field(default_factory=dict)
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    owner: Mapping[str, object] = field(default_factory=dict)
    consent: Mapping[str, object] = field(default_factory=dict)
    local: int | None = None
    protocols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartyPlace:
    """A role in a form of a protocol. `name` is the party's own, "" as long as it has none."""

    protocol: str
    form: AnyForm
    role: Role
    name: str = ""

    @property
    def opens(self) -> bool:
        """Whether it orders runs."""
        return self.role.name == self.form.opener

    @property
    def _hubs(self) -> list[int]:
        """Which of the form's hubs it can be."""
        hubs = enumerate(self.form.hubs)
        return [at for at, seat in hubs if self.form.role(seat).name == self.role.name]

    @property
    def listens(self) -> bool:
        return bool(self._hubs)

    def dials(self, given: int) -> list[str]:
        """The seats that it dials, if so many are given: of two hubs, the later the earlier one."""
        most = self.form.hubs[: max(self._hubs, default=len(self.form.hubs))]
        least = self.form.hubs[: min(self._hubs, default=len(self.form.hubs))]
        return list(most if given > len(least) else least)

    @property
    def owner_keys(self) -> list[str]:
        """The keys of [owner] that are about what it brings."""
        found = {key for thing in self.role.brings for key in OWNER_KEYS[thing]}
        return [key for key in OwnerTable.__struct_fields__ if key in found]

    @property
    def others(self) -> list[Role]:
        """The roles that it names in [members]."""
        return [role for role in self.form.roles if role.name != self.form.opener]

    def config(self, asked: InitialSettings) -> PartyConfig:
        """The settings of this party; refuses what its role has no use for."""
        self._check_addresses(asked)
        self._check_members(asked.members)
        self._check_owner(asked.owner)
        if self.opens and asked.consent:
            raise InputError(
                f"the {self.role.name} orders runs itself, and does not ask itself for consent: "
                "leave out what is about customers, policies and budgets"
            )
        consent = None
        if not self.opens:
            consent = converted({**CAREFUL, **asked.consent}, ConsentRules, "consent")
        return PartyConfig(
            listen=asked.listen,
            peers=dict(asked.peers),
            owner=converted(dict(asked.owner), OwnerTable, "owner") if asked.owner else None,
            consent=consent,
            members={role: tuple(names) for role, names in asked.members.items()},
            code=CodeTable(protocols=asked.protocols) if asked.protocols else None,
            local=None if asked.local is None else LocalTable(port=asked.local),
        )

    def missing(self, config: PartyConfig) -> list[str]:
        """What is still to be filled in, in words."""
        found = []
        if self.listens and config.listen is None:
            found.append("listen: where others dial in")
        dialled = self.dials(len(config.peers))
        if len(config.peers) < len(dialled):
            roles = " and the ".join(dialled)
            found.append(f"[peers]: name and address of the {roles}")
        if self.opens:
            found += [
                f"[members]: who is the {role.name}"
                for role in self.others
                if role.name not in config.members
            ]
        return found + self._not_brought(config.owner)

    def _not_brought(self, owner: OwnerTable | None) -> list[str]:
        brought = {} if owner is None else owner.brought
        found = []
        for thing in self.role.brings:
            by_inbox = thing in (PULL, ACT)
            if brought.get(thing) is None and not (by_inbox and owner is not None and owner.inbox):
                found.append(f"[owner]: {thing}" + (", or inbox = true" if by_inbox else ""))
        return found

    def _check_addresses(self, asked: InitialSettings) -> None:
        who = f"the {self.role.name} in {self.protocol} runs of the form {self.form.name}"
        if asked.listen is not None and not self.listens:
            raise InputError(f"nobody dials {who}: leave out the address at which it would listen")
        most = len(self.dials(len(self.form.hubs)))
        if len(asked.peers) > most:
            seats = " and the ".join(self.dials(most))
            whom = f"only the {seats}" if seats else "nobody, and is dialled by all others"
            raise InputError(
                f"{who} dials {whom}, and these are given to dial: {', '.join(asked.peers)}; leave "
                "out what is too much"
            )
        if self.name in asked.peers:
            raise InputError(f"{self.name} cannot dial itself: name another party")

    def _check_members(self, members: Mapping[str, Sequence[str]]) -> None:
        if members and not self.opens:
            raise InputError(
                f"the {self.form.opener} says who takes part in runs, and the {self.role.name} "
                "names no members: leave them out"
            )
        roles = [role.name for role in self.others]
        for role, names in members.items():
            if role not in roles:
                raise InputError(
                    f"{self.protocol} runs of the form {self.form.name} have no members of the "
                    f"role {role!r}: name those of {', '.join(roles)}"
                )
            if self.name in names:
                raise InputError(f"{self.name} orders the runs, and cannot be their {role} too")
        if set(members) == set(roles):
            named = {role: list(map(Member, names)) for role, names in members.items()}
            self.form.seats({**named, self.form.opener: [Member(self.name)]})

    def _check_owner(self, owner: Mapping[str, object]) -> None:
        for key in owner:
            if key not in self.owner_keys:
                brings = " and ".join(self.role.brings) or "nothing"
                raise InputError(
                    f"the {self.role.name} in {self.protocol} runs brings {brings}: leave out {key}"
                )


def party_place(
    protocols: Mapping[str, type[SecureProtocol]],
    role: str,
    protocol: str | None = None,
    form: str | None = None,
    name: str = "",
) -> PartyPlace:
    """The place of a role, in the first form that has it unless one is named.

    Without a protocol, in the one that is shown first if it has the role, else in the only one
    that does.
    """
    if protocol is None:
        protocol = _protocol_with(protocols, role)
    kind = protocols[protocol]
    if form is None:
        having = [one for one in _forms(kind) if role in _roles(one)]
        chosen = having[0] if having else kind.form_called(kind.default_form())
    else:
        chosen = kind.form_called(form)
        chosen.check_federated(protocol)
    found = next((one for one in chosen.roles if one.name == role), None)
    if found is None:
        raise InputError(
            f"{protocol} runs of the form {chosen.name} have no {role}: their roles are "
            f"{', '.join(_roles(chosen))}"
        )
    return PartyPlace(protocol, chosen, found, name)


def _roles(form: AnyForm) -> list[str]:
    return [role.name for role in form.roles]


def _protocol_with(protocols: Mapping[str, type[SecureProtocol]], role: str) -> str:
    having = [
        one for one in protocols if any(role in _roles(form) for form in _forms(protocols[one]))
    ]
    if not having:
        raise InputError(f"no protocol has the role {role!r}: `lotor keys request` lists them")
    first = shown_first(protocols)
    if first not in having and len(having) > 1:
        raise InputError(
            f"the role {role} is one of {', '.join(having)}: say by --protocol which one this is"
        )
    return first if first in having else having[0]


def _forms(kind: type[SecureProtocol]) -> list[AnyForm]:
    found = [kind.form_called(form) for form in kind.forms]
    return [form for form in found if not form.in_process_only]
