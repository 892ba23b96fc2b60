"""One name is one class in the whole package, and nothing but protocols knows protocols by name."""

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import lotor

ROOT = Path(lotor.__file__).parent

TWICE = {
    # Two schemes: each has these by the names that every scheme has, within its own package.
    "Ciphertext": {"crypto/ckks", "crypto/paillier"},
    "Evaluator": {"crypto/ckks", "crypto/garbling"},
    "PublicKey": {"crypto/ckks", "crypto/paillier"},
}

PROTOCOL_NAME = re.compile(r"samba|linucb|helba|ppcb|spectral", re.IGNORECASE)
ROLES = ("controller", "comp", "principal", "dealer", "actor", "referee")
ROLE_NAME = re.compile(
    "|".join(rf"(?<![A-Za-z]){role}s?(?![a-z])|{role.capitalize()}s?(?![a-z])" for role in ROLES)
)
WITHOUT_ROLES = ("runtime", "transport", "sandbox")

POLICY_NAMES = {
    *("LinUCB", '"LinUCB"', "SpectralUCB", '"SpectralUCB"', "linucb", "spectral_ucb"),
    '"SpectralUCB needs arms that form a graph: give it GraphArms"',
}
ALLOWED: dict[str, set[str]] = {
    # One protocol is demonstrated where none is named.
    "cli/demo.py": {'"samba"'},
    "cli/keys.py": {'"samba"'},
    # Policies, which run in plain too, and after which two protocols are called.
    "policies/__init__.py": POLICY_NAMES,
    "policies/linear/__init__.py": POLICY_NAMES,
    "policies/linear/linucb.py": POLICY_NAMES,
    "policies/linear/spectral_ucb.py": POLICY_NAMES,
    # The conditions that it checks are those of a theorem about SAMBA.
    "testing.py": {"fits_samba"},
}


def modules() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), path.read_text()


def code_of(source: str) -> list[str]:
    """Identifiers and texts of a module, without comments and docstrings."""
    bare = {
        (node.lineno, node.col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }
    # Texts with values in them are tokens of their own kind from Python 3.12 on.
    kinds = {tokenize.NAME, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [one.string for one in tokens if one.type in kinds and one.start not in bare]


def found(pattern: re.Pattern[str], source: str) -> set[str]:
    return {text for text in code_of(source) if pattern.search(text)}


def test_no_public_class_name_is_defined_twice() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for name, source in modules():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name.rpartition("/")[0])
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert {name: set(where) for name, where in twice.items()} == TWICE
    assert all(len(where) == len(TWICE[name]) for name, where in twice.items())


def test_only_protocols_know_protocols_by_name() -> None:
    for name, source in modules():
        if not name.startswith("protocols/") and name != "__init__.py":
            assert found(PROTOCOL_NAME, source) <= ALLOWED.get(name, set()), name


def test_no_exception_is_left_over() -> None:
    sources = dict(modules())
    for name in ALLOWED:
        assert found(PROTOCOL_NAME, sources[name]), name


@pytest.mark.parametrize("folder", WITHOUT_ROLES)
def test_what_carries_and_runs_parties_knows_no_roles(folder: str) -> None:
    sources = {name: source for name, source in modules() if name.startswith(f"{folder}/")}
    assert sources
    for name, source in sources.items():
        assert found(ROLE_NAME, source) == set(), name


def test_what_is_looked_for_is_found() -> None:
    source = '''"""About samba and its controller."""
import lotor.protocols.samba  # for samba
class PPCBThing:
    """Of ppcb."""
    role = "controller"
    """The controller."""
    def to_comp(self, factor, computed): return f"{self} is a dealer", "compress it", CompMemory
'''
    assert found(PROTOCOL_NAME, source) == {"samba", "PPCBThing"}
    roles = {text for text in found(ROLE_NAME, source) if "dealer" not in text}
    assert roles == {'"controller"', "to_comp", "CompMemory"}
    assert len(found(ROLE_NAME, source)) == 4
