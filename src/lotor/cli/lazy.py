"""Commands that are imported when they are used: `lotor --help` needs only their summaries."""

import re
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

COMMANDS = {
    "demo": "Show organisations that learn together, each party as a process on this machine.",
    "run": "Simulate a run here, in one process.",
    "plan": "Say what a run will cost, without running it.",
    "audit": "Attack what parties see, and compare what leaks with what is stated.",
    "compare": "Compare policies and protocols over many seeds: means, bands and costs.",
    "tune": "Find the parameters of a policy that pay most.",
    "reproduce": "Make figures and tables of the papers again, and say what differs.",
    "policies": "List the policies, their parameters and which protocols they fit.",
    "init": "Write a commented party.toml for a role, from what its protocol says that it needs.",
    "serve": "Run one party: its role and name are in its certificate.",
    "start": "Start a run, wait for it, and print the total, as the party that learns it.",
    "runs": "Follow, approve, pause, stop, show and prune the runs of a party.",
    "decisions": "List and take the decisions that wait at a party for their outcomes.",
    "reward": "Tell what a decision has paid: once, when it is known, in any order.",
    "budget": "Show what runs have cost a party so far, and what it still allows.",
    "doctor": "Check a party's kit, journal, runs and connections, and say what to do.",
    "backup": "Write an encrypted backup of a party's kit and journal, also while it is served.",
    "restore": "Put a backup back: all of it is checked before anything takes its place.",
    "keys": "Make, show, protect, renew and revoke the keys of a federation.",
}
"""Each command has a module of the same name, with an `app` in it."""


class LazyGroup(TyperGroup):
    """The commands of `lotor`."""

    commands_here: ClassVar[dict[str, str]] = COMMANDS

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(self.commands_here)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """What --help shows of a command."""
        if cmd_name not in self.commands_here:
            return None
        return TyperCommand(cmd_name, help=self.commands_here[cmd_name])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is to run."""
        if not args or args[0] not in self.commands_here:
            return super().resolve_command(ctx, args)
        module = import_module(f"lotor.cli.{args[0]}")
        return args[0], show_as_written(typer.main.get_command(module.app)), args[1:]


# What rich takes for markup.
_MARKUP = re.compile(r"(\\*)(\[[a-z#/@^].*?])")
# The end of a line in a docstring, which is not the end of a paragraph.
_LINE_END = re.compile(r"(?<!\n)\n(?!\n)")


def show_as_written(command: Any) -> Any:
    """Let --help show all texts of a command as they are: words in brackets, whole paragraphs."""
    for thing in (command, *command.params):
        for name in ("help", "short_help", "epilog"):
            if text := getattr(thing, name, None):
                text = _LINE_END.sub(" ", text.strip())
                setattr(thing, name, _MARKUP.sub(r"\1\1\\\2", text))
    for one in getattr(command, "commands", {}).values():
        show_as_written(one)
    return command
