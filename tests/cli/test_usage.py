"""What is typed wrongly gets one line, in the words of the command line."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

import lotor as library
from commands import lotor
from golden.commands import tree
from golden.surface import walk
from lotor.core.errors import InputError
from lotor.core.options import Option, flag, options_of, to_whole
from lotor.protocols.protocol import PROTOCOLS


def numbers() -> Iterator[tuple[str, str, Any]]:
    """Every option of every command that takes a number, with the command that has it."""
    for command, node in walk("lotor", tree()):
        for one in node.params:
            if one.param_type_name == "option" and not one.hidden:
                kind = one.type_descriptor.annotation
                if kind in (int, float):
                    yield command, max(one.opts, key=len), kind


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("nope", "no such command 'nope': see `lotor --help`"),
        ("run samba --nonsense", "there is no option --nonsense"),
        ("run samba --owner 3", "there is no option --owner (did you mean --owners?)"),
        ("run samba --budget", "--budget requires an argument"),
        ("run samba --selection bytes", "--selection: 'bytes' is not one of 'bits', 'position'"),
        ("run samba more", "unexpected extra argument"),
        ("run samba --json=yes", "--json does not take a value"),
        ("serve", "--kit is missing: see `lotor serve --help`"),
        ("keys sign", "REQUEST is missing: see `lotor keys sign --help`"),
        ("runs show --kit x", "RUN is missing: see `lotor runs show --help`"),
        ("serve --kit x --log xml", "--log: 'xml' is not one of 'text', 'json'"),
    ],
)
def test_a_command_that_is_not_understood(words: str, said: str) -> None:
    done = lotor(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("lotor: ")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("group", ["run", "runs", "keys"])
def test_a_group_without_a_command_shows_its_help(group: str) -> None:
    done = lotor(group)
    assert done.returncode == 2
    assert "Usage: lotor" in done.stdout + done.stderr


def test_every_number_is_read_in_one_way() -> None:
    for command, name, kind in numbers():
        done = lotor(*command.split()[1:], name, "1.5x")
        what = "a whole number" if kind is int else "a number"
        assert done.returncode == 2
        assert done.stderr.startswith(f"lotor: {name}: '1.5x' is not {what}: give one, such as ")
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("text", ["1000", "1e3", "1_000", "1E+3", "0.1e4", "1000.0", " 1000 "])
def test_whole_numbers_as_people_write_them(text: str) -> None:
    assert to_whole(text) == 1000
    done = lotor("run", "plain", "--budget", text, "--arms", "0.9,0.5", "--seed", "1e0", "--json")
    assert '"budget": 1000' in done.stdout
    assert '"seed": 1,' in done.stdout


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1.5e0", "has a fraction"),
        ("1e-3", "has a fraction"),
        ("1e999999999", "is too large"),
        ("inf", "is too large"),
        ("nan", "is not a whole number"),
        ("many", "is not a whole number"),
        ("", "is not a whole number"),
        ("0x10", "is not a whole number"),
    ],
)
def test_what_is_no_whole_number_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        to_whole(text)
    done = lotor("run", "plain", "--budget", text)
    assert done.stderr.startswith(f"lotor: --budget: {text!r} {why}")


@pytest.mark.parametrize("protocol", [*PROTOCOLS, "plain"])
@pytest.mark.parametrize("option", ["--arms", "--policy"])
def test_an_empty_text_is_not_the_default(protocol: str, option: str) -> None:
    done = lotor("run", protocol, option, "", "--budget", "30")
    assert (done.returncode, done.stdout) == (2, "")
    assert "''" in done.stderr


@pytest.mark.parametrize("owners", ["", "lyon,", "lyon,,porto", "lyon,Porto", "lyon,lyon"])
def test_names_that_nobody_can_have_are_refused_before_anybody_is_looked_for(owners: str) -> None:
    order = ["start", "samba", "--kit", "/nowhere", "--budget", "9"]
    done = lotor(*order, "--owners", owners)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"lotor: --owners {owners!r}")


def test_an_option_without_a_value_is_refused_as_one_of_another_protocol() -> None:
    done = lotor("start", "helba", "--keep", "--budget", "9", "--kit", "/nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("lotor: --keep belongs to ")


def wrong(option: Option) -> list[str]:
    """Values of the right type that hardly any option takes."""
    return {int: ["-1", "0", "1e25"], float: ["-1", "nan", "1e300"], str: ["", "@"]}.get(
        option.kind, []
    )


def complaints(protocol: str) -> Iterator[tuple[str, str]]:
    """The errors that each option of a protocol and of its arms gets for such a value."""
    kind = PROTOCOLS[protocol]
    for one in kind.all_options():
        for value in wrong(one):
            # The kit is not there, so nothing can start.
            start = ["start", protocol, "--kit", "/nowhere/at/all", "--budget", "9"]
            command = start if one.ordered else ["run", protocol, "--budget", "9"]
            if one.ordered or value == "-1":
                yield f"{flag(one)} {value}", lotor(*command, flag(one), value).stderr
    for one in options_of(kind.arms):
        for value in wrong(one)[:2]:
            words = ["plan", protocol, "--budget", "9", flag(one), value]
            file = one.name == "noise_sd" and "npz" in kind.arms.text
            arms = ["--arms", "npz:/nowhere.npz"] if file else []
            yield f"{flag(one)} {value}", lotor(*words, *arms).stderr


CLASSES = {name for name in library.__all__ if name[:1].isupper() and not name.isupper()} - {"UCB"}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_error_names_what_only_python_has(protocol: str) -> None:
    kind = PROTOCOLS[protocol]
    names = [one.name for one in (*kind.all_options(), *options_of(kind.arms))]
    spelled = [rf"(?<![-\w]){name}=" for name in names]
    spelled += [rf"(?<![-\w/:]){name}\b" for name in names if "_" in name]
    spelled += [rf"\b{name}\b" for name in CLASSES]
    spelled += [r"^lotor: (\w+) (is|takes|must) .*: give"]
    found = list(complaints(protocol))
    assert len({said for _, said in found}) > 3
    for typed, said in found:
        assert len(said.splitlines()) <= 1, (typed, said)
        for pattern in spelled:
            assert re.search(pattern, said) is None, (typed, said)


@pytest.mark.parametrize(
    ("protocol", "policy", "home"),
    [
        ("samba", "linucb", "linucb-ds"),
        ("linucb-ds", "ucb", "samba"),
        ("linucb-ds", "spectral-ucb", "spectral-ucb-ds"),
        ("ppcb", "softmax:tau=0.1", "samba"),
        ("helba", "linear-epsilon-greedy", "ppcb"),
    ],
)
@pytest.mark.parametrize("command", ["run", "plan", "start"])
def test_a_policy_of_another_protocol_is_named_with_its_home(
    command: str, protocol: str, policy: str, home: str
) -> None:
    kit = ["--kit", "/nowhere", "--budget", "9"] if command == "start" else []
    done = lotor(command, protocol, "--policy", policy, *kit)
    name = policy.partition(":")[0]
    assert done.returncode == 2
    expected = f"lotor: {protocol} does not run the policy {name}, which is for {home}: choose"
    assert done.stderr.startswith(expected)


def test_help_shows_what_is_in_brackets() -> None:
    """Rich would take [consent] for markup and leave it out."""
    bracketed = re.compile(r"(?<!\\)\[[a-z#/@^][^]\n]*]")
    found = 0
    for command, node in walk("lotor", tree()):
        texts = [node.help, node.epilog, *(getattr(one, "help", "") for one in node.params)]
        words = bracketed.findall(" ".join(filter(None, texts)).replace("\\[", "["))
        if words:
            shown = " ".join(lotor(*command.split()[1:], "--help").stdout.replace("│", " ").split())
            assert all(word in shown for word in words), command
            found += len(words)
    assert found


def test_help_breaks_no_line_where_its_source_does() -> None:
    assert "received them; this drops them" in lotor("runs", "stop", "--help").stdout


def test_a_policy_in_the_place_of_a_protocol_is_recognised() -> None:
    done = lotor("run", "ucb")
    assert (done.returncode, done.stdout) == (2, "")
    assert "ucb is a policy: give it with --policy ucb" in done.stderr
