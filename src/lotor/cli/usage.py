"""What the command line says of a command that was not understood: one line, and what to do.

The classes of these errors depend on the version of typer, so they are known by their names.
"""

from typing import Any


def explained(error: Any) -> str:
    """An error of typer in one line."""
    kind = type(error).__name__
    message = str(error.message or "").removeprefix("Value error, ").rstrip(".")
    if kind == "MissingParameter":
        return f"{_named(error.param)} is missing{_see(error)}"
    if kind == "BadParameter" and error.param is not None:
        return f"{_named(error.param)}: {message}"
    if kind == "NoSuchOption":
        return f"there is no option {error.option_name}{_near(error)}{_see(error)}"
    if kind == "BadOptionUsage":
        message = message.removeprefix(f"Option {error.option_name!r} ")
        return f"{error.option_name} {message}{_see(error)}"
    return f"{message[:1].lower()}{message[1:]}{_see(error)}"


def _named(parameter: Any) -> str:
    """An option as it is typed, or an argument as --help shows it."""
    if parameter.param_type_name == "option":
        return str(max(parameter.opts, key=len))
    return str(parameter.metavar or parameter.name).upper()


def _near(error: Any) -> str:
    """Options of similar names, those left out that are there only to be refused."""
    shown = {
        name
        for one in error.ctx.command.params
        if not getattr(one, "hidden", False)
        for name in one.opts
    }
    near = [name for name in error.possibilities or () if name in shown]
    return f" (did you mean {' or '.join(sorted(near))}?)" if near else ""


def _see(error: Any) -> str:
    return "" if error.ctx is None else f": see `{error.ctx.command_path} --help`"
