"""`lotor init`: a first party.toml, with every key explained."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from lotor.cli.derive import JsonOption, allow, number, whole_number
from lotor.cli.keys_show import print_document
from lotor.core.errors import ConfigError, InputError
from lotor.core.registry import is_class_name
from lotor.protocols.protocol import PROTOCOLS
from lotor.runtime.daemon.config import Address
from lotor.runtime.daemon.initial.meanings import KEY_MEANINGS, sentence
from lotor.runtime.daemon.initial.place import InitialSettings, party_place
from lotor.runtime.daemon.initial.writing import write_first_config
from lotor.runtime.daemon.kit import CERTIFICATE, REQUEST
from lotor.runtime.daemon.protecting import identity_of

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

FLAGS = ("inbox", "repeatable")
NETWORK, BRINGS, CONSENT = "Who talks to whom", "What it brings", "What starts unasked"


def _network(text: str, metavar: str | None = None, parser: Any = None) -> Any:
    return typer.Option(help=text, metavar=metavar, parser=parser, rich_help_panel=NETWORK)


def _brings(key: str, metavar: str | None = None, parser: Any = None) -> Any:
    """The option for a key of [owner]; one without a value has only one name."""
    text = sentence(KEY_MEANINGS["owner"][key].text)
    names = (f"--{key}",) if key in FLAGS else ()
    return typer.Option(*names, help=text, metavar=metavar, parser=parser, rich_help_panel=BRINGS)


def _consents(key: str, parser: Any) -> Any:
    """The option for a key of [consent]."""
    text = sentence(KEY_MEANINGS["consent"][key].text)
    return typer.Option(help=text, parser=parser, rich_help_panel=CONSENT)


def _allows(text: str, metavar: str) -> Any:
    return typer.Option(help=text, metavar=metavar, rich_help_panel=CONSENT)


@app.command()
def init_command(
    role: Annotated[
        str | None,
        typer.Option(help="What the party does in runs.", show_default="that of its certificate"),
    ] = None,
    kit: Annotated[Path, typer.Option("--kit", help="The party's folder.")] = Path(),
    protocol: Annotated[
        str | None,
        typer.Option(
            help="By its name, or your own as module:Class.",
            show_default="the first that has the role",
        ),
    ] = None,
    form: Annotated[
        str | None, typer.Option(help="Of the protocol.", show_default="the first with this role")
    ] = None,
    dial: Annotated[
        list[str] | None,
        _network("Whom it dials, by the name in the certificate; repeat.", "NAME=HOST:PORT"),
    ] = None,
    listen: Annotated[str | None, _network("Where others dial in.", "HOST:PORT")] = None,
    member: Annotated[
        list[str] | None, _network("Who takes part in its runs; repeat.", "ROLE=NAME")
    ] = None,
    local: Annotated[
        int | None, _network("The port of its local interface.", "PORT", whole_number)
    ] = None,
    inbox: Annotated[bool, _brings("inbox")] = False,
    pull: Annotated[str | None, _brings("pull", "MODULE:FUNCTION")] = None,
    act: Annotated[str | None, _brings("act", "MODULE:FUNCTION")] = None,
    features: Annotated[str | None, _brings("features", "MODULE:FUNCTION")] = None,
    model: Annotated[str | None, _brings("model", "MODULE:NAME")] = None,
    dimensions: Annotated[int | None, _brings("dimensions", parser=whole_number)] = None,
    arms: Annotated[int | None, _brings("arms", parser=whole_number)] = None,
    reward_range: Annotated[str | None, _brings("reward_range", "LOW,HIGH")] = None,
    repeatable: Annotated[bool, _brings("repeatable")] = False,
    customer: Annotated[
        list[str] | None, _allows("Whose runs may start; '*' for anybody's; repeat.", "NAME")
    ] = None,
    policy: Annotated[
        list[str] | None, _allows("Which policies; '*' for any; repeat.", "POLICY")
    ] = None,
    least_owners: Annotated[int | None, _consents("least_owners", whole_number)] = None,
    least_budget: Annotated[int | None, _consents("least_budget", whole_number)] = None,
    total_budget: Annotated[int | None, _consents("total_budget", whole_number)] = None,
    privacy_budget: Annotated[float | None, _consents("privacy_budget", number)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a party.toml.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a commented party.toml for a role, from what its protocol says that it needs."""
    known_role, name = _role_and_name(kit, role)
    if protocol is not None:
        allow(PROTOCOLS, protocol)
    place = party_place(PROTOCOLS, known_role, protocol, form, name)
    owner = {
        "inbox": inbox or None,
        "pull": pull,
        "act": act,
        "features": features,
        "model": model,
        "dimensions": dimensions,
        "arms": arms,
        "reward_range": _range(reward_range),
        "repeatable": repeatable or None,
    }
    consent = {
        "customers": customer,
        "policies": policy,
        "least_owners": least_owners,
        "least_budget": least_budget,
        "total_budget": total_budget,
        "privacy_budget": privacy_budget,
    }
    own_code = protocol is not None and is_class_name(protocol)
    config = place.config(
        InitialSettings(
            listen=None if listen is None else Address.parse(listen),
            peers=dict(_dialled(dial or [])),
            members=_members(member or []),
            owner=_given(owner),
            consent=_given(consent),
            local=local,
            protocols=(protocol,) if own_code and protocol is not None else (),
        )
    )
    path = kit / "party.toml"
    write_first_config(path, place, config, replace=force)
    missing = place.missing(config)
    document: dict[str, object] = {
        "file": str(path),
        "role": known_role,
        "protocol": place.protocol,
        "form": place.form.name,
        "missing": missing,
    }
    print_document(
        document if as_json else {**document, "missing": len(missing) or None}, as_json=as_json
    )
    for one in missing:
        typer.echo(f"Fill in {one}.", err=True)
    if config.consent is not None and not config.consent.customers:
        typer.echo(
            "Every run waits for `lotor runs approve` until [consent] names customers and "
            "policies.",
            err=True,
        )
    then = f"start {place.protocol}" if place.opens else "serve"
    typer.echo(f"Next: `lotor doctor --kit {kit}`, and `lotor {then} --kit {kit}`.", err=True)


def _role_and_name(kit: Path, role: str | None) -> tuple[str, str]:
    """Of a party, as far as its kit has them; "" for the name if it has none."""
    if not kit.is_dir():
        raise ConfigError(f"there is no folder {kit}: make a kit with `lotor keys request`")
    if not any((kit / name).exists() for name in (CERTIFICATE, REQUEST)):
        if role is None:
            raise InputError(
                f"{kit} has neither certificate nor request, so nobody knows its role: say it by "
                "--role"
            )
        return role, ""
    found, _ = identity_of(kit)
    if role is not None and role != found.role:
        raise InputError(
            f"the kit {kit} is that of the {found.role} {found.name}, not of a {role}: leave out "
            "--role, or name another kit"
        )
    return found.role, found.name


def _given(values: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None}


def _pairs(option: str, texts: Iterable[str], written: str) -> Iterable[tuple[str, str]]:
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option} is {text!r}: write it as {written}")
        yield name, value


def _dialled(texts: list[str]) -> Iterable[tuple[str, Address]]:
    seen = set()
    for name, address in _pairs("--dial", texts, "NAME=HOST:PORT"):
        if name in seen:
            raise InputError(f"--dial names {name} twice: one address is enough")
        seen.add(name)
        yield name, Address.parse(address)


def _members(texts: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for role, name in _pairs("--member", texts, "ROLE=NAME"):
        found.setdefault(role, []).append(name)
    return found


def _range(text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        low, high = (float(word) for word in text.split(","))
    except ValueError:
        raise InputError(
            f"--reward-range is {text!r}: give two numbers with a comma between them, e.g. 0,10"
        ) from None
    return low, high
