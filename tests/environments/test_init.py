import doctest
from importlib import import_module
from pkgutil import iter_modules

import pytest

import lotor.environments

MODULES = [module.name for module in iter_modules(lotor.environments.__path__)]


def test_public_names() -> None:
    assert lotor.environments.__all__ == [
        "LOOKALIKES",
        "BernoulliArms",
        "CallbackArms",
        "Environment",
        "PullFunction",
        "RatingArms",
        "lookalike",
    ]
    assert all(hasattr(lotor.environments, name) for name in lotor.environments.__all__)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    failed, tried = doctest.testmod(import_module(f"lotor.environments.{name}"))
    assert tried > 0
    assert failed == 0
