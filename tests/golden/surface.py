"""What the command line offers: commands, options, and the keys of the JSON that it prints."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from golden import commands

RECORDED = Path(__file__).with_name("command_line.json")
# Cheap ones that print JSON.
DOCUMENTS = (
    "policies",
    "run plain --budget 20",
    "run samba --compare --trajectory --key-bits 2048 --arms 0.9,0.5 --budget 6",
    "run linucb-ds --compare --trajectory --key-bits 2048 --arms linear:3,2 --budget 4",
    "run spectral-ucb-ds --compare --trajectory --key-bits 2048 --arms graph:3 --budget 4",
    "run ppcb --compare --trajectory --arms contexts:3,4 --budget 6",
    "run helba --compare --trajectory --insecure-degree 1024 --stages 2 --arms toy:5 --budget 2",
    "run helba --plan --insecure-degree 1024 --stages 2 --arms toy:5 --budget 2",
)
TYPES = {bool: "boolean", int: "number", float: "number", str: "string", type(None): "null"}


def offered() -> dict[str, dict[str, Any]]:
    """Each command, with each option under each of its names, and arguments by their place."""
    found: dict[str, dict[str, Any]] = {}
    for command, node in walk("lotor", commands.tree()):
        taken = found[command] = {}
        options = [one for one in node.params if one.param_type_name == "option"]
        arguments = [one for one in node.params if one.param_type_name == "argument"]
        for option in options:
            for name in (*option.opts, *option.secondary_opts):
                taken[name] = described(option)
        for place, argument in enumerate(arguments, 1):
            taken[f"argument {place}"] = described(argument)
    return found


def walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """A command and all below it; their classes depend on the version of typer."""
    yield name, command
    for part, below in getattr(command, "commands", {}).items():
        yield from walk(f"{name} {part}", below)


def described(parameter: Any) -> dict[str, Any]:
    """An option without a default may state what happens then, such as '3072'."""
    default, stated = parameter.default, getattr(parameter, "show_default", None)
    if default is None and isinstance(stated, str) and " " not in stated:
        default = stated
    return {
        "default": str(default),
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
