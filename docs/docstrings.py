"""Prepares docstrings, which are plain text with doctests, for the pages of the API."""

import re
from collections.abc import Iterator
from contextlib import suppress
from textwrap import dedent
from typing import Any

import griffe

# A doctest ends at the next empty line, as it does for the doctest module.
DOCTEST = re.compile(r"^ *>>> .*(?:\n *\S.*)*", re.MULTILINE)
CODE = re.compile(r"(`[^`]*`|^ {4}.*$)", re.MULTILINE)


class PlainText(griffe.Extension):
    """Turns docstrings into Markdown, and drops members that tell a reader nothing."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        _prepare(pkg)
        _prefer_names_to_modules(pkg)


def _prefer_names_to_modules(package: griffe.Module) -> None:
    """Let `lotor.run` be the function, as in Python: Griffe takes the module of the same name."""
    aliases = [found for found in _below(package) if isinstance(found, griffe.Alias)]
    for alias in aliases:
        with suppress(griffe.AliasResolutionError, griffe.CyclicAliasError):
            alias.resolve_target()
    for module in [found for found in _below(package) if isinstance(found, griffe.Module)]:
        meant = module.members.get(module.name)
        if meant is None or module.parent.imports.get(module.name) != meant.path:
            continue
        alias = griffe.Alias(module.name, meant, parent=module.parent)
        module.parent.members[module.name] = alias
        for alias in aliases:
            if alias.resolved and alias.target is module:
                alias.target = meant


def _below(found: griffe.Object) -> Iterator[griffe.Object | griffe.Alias]:
    for member in found.members.values():
        yield member
        if isinstance(member, griffe.Module):
            yield from _below(member)


def _prepare(found: griffe.Object) -> None:
    if found.docstring is not None:
        found.docstring.value = to_markdown(found.docstring.value)
    if isinstance(found, griffe.Class) and "msgspec.Struct" in map(str, found.bases):
        _add_constructor(found)
    for name, member in list(found.members.items()):
        if isinstance(member, griffe.Alias):
            continue
        if member.docstring is None and _is_noise(member):
            found.del_member(name)
        else:
            _prepare(member)


def _is_noise(member: griffe.Object) -> bool:
    """Whether it is a special method, a type variable or a field, which a constructor shows."""
    if isinstance(member, griffe.Attribute):
        has_constructor = member.parent.is_class and "__init__" in member.parent.members
        is_field = has_constructor and "property" not in member.labels
        return is_field or str(member.value).startswith("TypeVar(")
    return member.name.startswith("__") and member.name != "__init__"


def to_markdown(text: str) -> str:
    """Fence the doctests of a text, and escape what Markdown would take for HTML."""
    parts, start = [], 0
    for example in DOCTEST.finditer(text):
        parts += [_escaped(text[start : example.start()])]
        parts += [f"```pycon\n{dedent(example[0])}\n```"]
        start = example.end()
    return "".join([*parts, _escaped(text[start:])])


def _escaped(text: str) -> str:
    pieces = CODE.split(text)
    pieces[::2] = [piece.replace("<", "&lt;") for piece in pieces[::2]]
    return "".join(pieces)


def _add_constructor(struct: griffe.Class) -> None:
    """Griffe adds the constructors of dataclasses, but not those of msgspec's structures."""
    kind = griffe.ParameterKind.positional_or_keyword
    fields = [
        griffe.Parameter(field.name, annotation=field.annotation, default=field.value, kind=kind)
        for field in struct.members.values()
        if isinstance(field, griffe.Attribute) and "property" not in field.labels
    ]
    parameters = griffe.Parameters(griffe.Parameter("self", kind=kind), *fields)
    struct.set_member("__init__", griffe.Function("__init__", parameters=parameters))
