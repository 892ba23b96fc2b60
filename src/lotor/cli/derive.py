"""Commands and options of the command line, derived from what protocols say of themselves."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from inspect import Parameter, Signature, signature
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

import typer
from typer.core import TyperGroup

from lotor.cli.lazy import show_as_written
from lotor.core.errors import InputError
from lotor.core.options import Option, flag, in_flags, to_number, to_whole
from lotor.core.registry import is_class_name
from lotor.policies import POLICIES
from lotor.policies.registry import split_text
from lotor.protocols.protocol import PROTOCOLS, SecureProtocol

PLAIN = "plain"


def whole_number(text: str | int) -> int:
    """The value of an option: 1000, 1_000 or 1e3."""
    try:
        return to_whole(text)
    except InputError as error:
        # typer adds which option it is.
        raise typer.BadParameter(str(error)) from None


def seed_number(text: str | int) -> int:
    """The value of an option: a whole number from 0 up."""
    seed = whole_number(text)
    if seed < 0:
        raise typer.BadParameter(f"{text!r} is below 0: give a whole number from 0 up")
    return seed


def number(text: str | float) -> float:
    """The value of an option."""
    try:
        return to_number(text)
    except InputError as error:
        raise typer.BadParameter(str(error)) from None


_OF_ALL = {"budget": "--budget", "seed": "--seed"}
PARSERS: Mapping[type, Callable[[Any], Any]] = {int: whole_number, float: number}

PolicyOption = Annotated[
    str | None,
    typer.Option(
        help="E.g. 'softmax:tau=0.02' (`lotor policies` lists them), or your own as module:Class."
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        parser=seed_number, help="Fixes arms and rewards; if absent, one is drawn and shown."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]


def parameter(option: Option, panel: str) -> Parameter:
    """An option of a command; its value is None unless it is given."""
    kind: Any = Literal[option.choices] if option.choices else option.kind
    shown = typer.Option(
        flag(option),
        help=option.text,
        show_default=option.shown or False,
        rich_help_panel=panel,
        parser=PARSERS.get(kind),
    )
    return Parameter(
        option.name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, shown]
    )


def _hidden(option: Option) -> Parameter:
    """An option of another protocol: accepted, so that the error can name that protocol."""
    shown = typer.Option(flag(option), hidden=True)
    kind: Any = bool if option.kind is bool else str  # as there, one takes a value or none
    name = f"foreign_{option.flag}"
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, shown]
    )


def command(
    body: Callable[..., None],
    own: Iterable[tuple[Option, str]],
    foreign: Mapping[str, tuple[Option, list[str]]],
    text: str,
) -> typer.Typer:
    """A command with the parameters of `body` (except `options`) and `own` options by panel.

    `body` gets the options that were given as `options`. An option of `foreign` is refused with an
    error that names the protocols which take it.
    """
    own = list(own)
    common = [one for one in signature(body).parameters.values() if one.name != "options"]
    # Two owners may share an option; the help shows the first one's text, and all defaults.
    derived = {
        flag(option): parameter(replace(option, shown=_defaults(option, own)), panel)
        for option, panel in reversed(own)
    }
    others = [option for name, (option, _) in foreign.items() if name not in derived]
    parameters = [*common, *reversed(derived.values()), *map(_hidden, others)]

    def run(**given: Any) -> None:
        for option in others:
            if given.pop(f"foreign_{option.flag}") is not None:
                raise InputError(f"{flag(option)} belongs to {homes(foreign, flag(option))}")
        names = [one.name for one in derived.values()]
        values = {name: given.pop(name) for name in names}
        chosen = {name: value for name, value in values.items() if value is not None}
        try:
            body(**given, options=chosen)
        except InputError as error:
            flags = {option.name: flag(option) for option, _ in own}
            error.args = (in_flags(str(error), {**_OF_ALL, **flags}),)
            raise

    run.__doc__ = text
    parameters.sort(key=lambda one: one.kind)
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(run)
    return app


def _defaults(option: Option, own: Iterable[tuple[Option, str]]) -> str:
    """What the help shows as the default of an option that several owners may have."""
    shown = dict.fromkeys(one.shown for one, _ in own if one.flag == option.flag and one.shown)
    return " or ".join(shown)


def protocol_app(
    make: Callable[[type[SecureProtocol]], typer.Typer],
    text: str,
    others: Mapping[str, Callable[[], typer.Typer]] | None = None,
) -> typer.Typer:
    """A command with one subcommand for each protocol, which `make` makes, and `others`."""

    class Group(ProtocolGroup):
        make_protocol = staticmethod(make)
        make_other = others or MappingProxyType({})

    app = typer.Typer(
        cls=Group,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        help=text,
    )
    # Without a callback, an app with no commands of its own is refused.
    app.callback()(lambda: None)
    return app


class ProtocolGroup(TyperGroup):
    """Subcommands that are made when they are used."""

    make_protocol: Callable[[type[SecureProtocol]], typer.Typer]
    make_other: ClassVar[Mapping[str, Callable[[], typer.Typer]]] = {}

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return [*PROTOCOLS, *self.make_other]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        allow(PROTOCOLS, cmd_name)
        if cmd_name not in self.list_commands(ctx):
            names = ", ".join(self.list_commands(ctx))
            meant = ""
            if cmd_name in POLICIES:
                meant = f" ({cmd_name} is a policy: give it with --policy {cmd_name})"
            raise InputError(f"no protocol is called {cmd_name!r}{meant}: choose one of {names}")
        if cmd_name in self.make_other:
            app = self.make_other[cmd_name]()
        else:
            app = type(self).make_protocol(PROTOCOLS[cmd_name])
        made = typer.main.get_command(app)
        made.name = cmd_name
        if cmd_name in PROTOCOLS:
            summary = PROTOCOLS[cmd_name].summary
            made.short_help = f"{summary[:1].upper()}{summary[1:]}."
        return show_as_written(made)


def foreign_options(
    options_of: Callable[[type[SecureProtocol]], Iterable[Option]], where: str
) -> dict[str, tuple[Option, list[str]]]:
    """The options of all protocols by their flags, and which commands take each."""
    found: dict[str, tuple[Option, list[str]]] = {}
    for name, kind in PROTOCOLS.loadable():
        for option in options_of(kind):
            found.setdefault(flag(option), (option, []))[1].append(f"`lotor {where} {name}`")
    return found


def homes(foreign: Mapping[str, tuple[Option, list[str]]], name: str) -> str:
    """The commands that take an option, in words."""
    *others, last = foreign[name][1]
    return f"{', '.join(others)} and {last}" if others else last


def allow(registry: Any, name: str) -> None:
    """Let the user's own class be imported, from the current folder too."""
    if is_class_name(name) and name not in registry:
        if "" not in sys.path:
            sys.path.append("")
        registry.allow(name)


def allow_policy(text: str | None) -> None:
    if text is not None:
        allow(POLICIES, split_text(text)[0])
