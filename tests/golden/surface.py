"""What the command line offers: commands, options, and the keys of the JSON that it prints."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from golden import commands
from lotor.cli.derive import ProtocolGroup

RECORDED = Path(__file__).with_name("command_line.json")
ENCRYPTED = "--form paper --insecure-degree 1024 --stages 2 --arms toy:5 --budget 2"
PAPER = "--compare --trajectory --form paper --key-bits 2048"
# Cheap ones that print JSON.
DOCUMENTS = (
    "policies",
    "run plain --budget 20",
    f"run samba {PAPER} --arms 0.9,0.5 --budget 6",
    f"run linucb-ds {PAPER} --arms linear:3,2 --budget 4",
    f"run spectral-ucb-ds {PAPER} --arms graph:3 --budget 4",
    "run ppcb --form dealt --compare --trajectory --arms contexts:3,4 --budget 6",
    f"run helba --compare --trajectory {ENCRYPTED}",
    f"plan helba {ENCRYPTED}",
    "audit samba --form paper --key-bits 2048 --arms 0.9,0.5 --budget 6 --repeat 1",
    "compare ucb --arms 0.9,0.5 --budget 6 --repeat 2 --workers 1",
    "tune softmax --grid tau=0.1,0.2 --arms 0.9,0.5 --budget 6 --repeat 2 --workers 1",
    "reproduce",
)
# What was recorded by another name, or is gone on purpose; CHANGELOG.md names each.
FORMERLY = {
    "run ppcb --form dealt --compare --trajectory --arms contexts:3,4 --budget 6": (
        "run ppcb --compare --trajectory --arms contexts:3,4 --budget 6"
    ),
    f"run spectral-ucb-ds {PAPER} --arms graph:3 --budget 4": (
        "run spectral-ucb-ds --compare --trajectory --key-bits 2048 --arms graph:3 --budget 4"
    ),
    f"run linucb-ds {PAPER} --arms linear:3,2 --budget 4": (
        "run linucb-ds --compare --trajectory --key-bits 2048 --arms linear:3,2 --budget 4"
    ),
    f"run samba {PAPER} --arms 0.9,0.5 --budget 6": (
        "run samba --compare --trajectory --key-bits 2048 --arms 0.9,0.5 --budget 6"
    ),
    f"run helba --compare --trajectory {ENCRYPTED}": (
        "run helba --compare --trajectory --insecure-degree 1024 --stages 2 --arms toy:5 --budget 2"
    ),
    f"plan helba {ENCRYPTED}": (
        "run helba --plan --insecure-degree 1024 --stages 2 --arms toy:5 --budget 2"
    ),
}
GONE = {
    "lotor run": {"--plan"},  # is `lotor plan PROTOCOL`
    "lotor policies --json": {"[]/why_not_samba"},  # is why_not, for every protocol
}
TYPES = {bool: "boolean", int: "number", float: "number", str: "string", type(None): "null"}


def offered() -> dict[str, dict[str, Any]]:
    """Each command, with each option under each of its names, and arguments by their place.

    Where protocols are subcommands, the command offers what any of them does, and the protocol is
    its argument.
    """
    found: dict[str, dict[str, Any]] = {}
    for command, node in walk("lotor", commands.tree()):
        taken = found[command] = _taken(node)
        if isinstance(node, ProtocolGroup):
            for one in below(node).values():
                for name, option in _taken(one).items():
                    taken.setdefault(name, option)
            choices = list(below(node))
            taken["argument 1"] = {
                "default": "None",
                "given": "None",
                "required": True,
                "choices": choices,
            }
    return found


def _taken(node: Any) -> dict[str, Any]:
    """The options that --help shows; the others are there to be refused."""
    taken = {}
    options = [one for one in node.params if one.param_type_name == "option" and not one.hidden]
    arguments = [one for one in node.params if one.param_type_name == "argument"]
    for option in options:
        for name in (*option.opts, *option.secondary_opts):
            taken[name] = described(option)
    for place, argument in enumerate(arguments, 1):
        taken[f"argument {place}"] = described(argument)
    return taken


def walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """A command and all below it."""
    yield name, command
    for part, one in below(command).items():
        yield from walk(f"{name} {part}", one)


def below(command: Any) -> dict[str, Any]:
    """The commands of a group, loaded; their classes depend on the version of typer."""
    if not hasattr(command, "list_commands"):
        return {}
    with command.make_context("lotor", [], resilient_parsing=True) as context:
        return {
            name: command.resolve_command(context, [name])[1]
            for name in command.list_commands(context)
        }


def described(parameter: Any) -> dict[str, Any]:
    """An option without a default may state what happens then, such as '3072'."""
    default, stated = parameter.default, getattr(parameter, "show_default", None)
    if default is None and isinstance(stated, str) and " " not in stated:
        default = stated
    return {
        "default": str(default),
        "given": str(parameter.default),
        "required": parameter.required,
        "choices": [str(one) for one in _choices(parameter)],
    }


def _choices(parameter: Any) -> Sequence[object]:
    if hasattr(parameter, "type_descriptor"):
        annotation = parameter.type_descriptor.annotation
        return get_args(annotation) if get_origin(annotation) is Literal else ()
    # Older versions of typer are built on click.
    return getattr(parameter.type, "choices", ())


def keys(folder: Path, line: str) -> dict[str, str]:
    """The keys of the JSON that a command prints, with the types of their values.

    Lists count as one: of `[]` are all their elements.
    """
    found: dict[str, set[str]] = {}
    for path, kind in _leaves("", commands.read(folder, *line.split(), "--json")):
        found.setdefault(path, set()).add(kind)
    return {path: " or ".join(sorted(kinds)) for path, kinds in found.items()}


def _leaves(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        yield path, "object"
        for key, below in value.items():
            yield from _leaves(f"{path}/{key}", below)
    elif isinstance(value, list):
        yield path, "list"
        for below in value:
            yield from _leaves(f"{path}[]", below)
    else:
        yield path, TYPES[type(value)]


def lost(today: Mapping[str, Any], recorded: Mapping[str, Any]) -> list[str]:
    """What is recorded but there no more; where there was nothing, there may be something.

    >>> lost({"/a": "number", "/c": "string"}, {"/a": "null", "/b": "string", "/c": "number"})
    ['/b', '/c']
    """
    return [
        path
        for path, kinds in recorded.items()
        if path not in today or set(kinds.split(" or ")) - {"null"} - set(today[path].split(" or "))
    ]
