"""Names of classes that packages offer, and that nothing is imported unless somebody asked."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.packages import Pet, install
from lotor.core.errors import InputError
from lotor.core.registry import Registry, is_class_name, load
from lotor.policies import POLICIES
from lotor.policies.base import Policy
from lotor.protocols.protocol import PROTOCOLS

GROUP = "lotor.test_pets"


class Cat(Pet):
    pass


def registry() -> Registry[Pet]:
    return Registry(GROUP, "pet", (Pet,))


def offer(folder: Path, patch: pytest.MonkeyPatch, package: str, **offers: str) -> None:
    module = "from core.packages import Pet\nclass Dog(Pet): ...\nclass Stone: ...\nbone = 1\n"
    again = f"from {package}.dogs import Dog\n"
    install(folder, patch, package, {"dogs.py": module, "again.py": again}, {GROUP: offers})


def test_names_are_known_without_importing_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(tmp_path, monkeypatch, "kennel", dog="kennel.dogs:Dog", stone="kennel.dogs:Stone")
    pets = registry()
    assert list(pets) == ["dog", "stone"]
    assert len(pets) == 2
    assert "dog" in pets
    assert "cat" not in pets
    assert "kennel.dogs" not in sys.modules
    assert pets["dog"].__name__ == "Dog"
    assert "kennel.dogs" in sys.modules
    assert pets["dog"] is pets["dog"]


def test_one_name_offered_by_two_packages_is_refused_with_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(tmp_path, monkeypatch, "kennel", dog="kennel.dogs:Dog")
    offer(tmp_path, monkeypatch, "shelter", dog="shelter.dogs:Dog")
    with pytest.raises(InputError, match=r"two packages offer a pet called 'dog'") as caught:
        registry()["dog"]
    for value in ("kennel.dogs:Dog", "shelter.dogs:Dog", "uninstall"):
        assert value in str(caught.value)
    assert not {"kennel.dogs", "shelter.dogs"} & set(sys.modules)


def test_the_same_class_offered_twice_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(tmp_path / "one", monkeypatch, "kennel", dog="kennel.dogs:Dog")
    offer(tmp_path / "two", monkeypatch, "kennel", dog="kennel.dogs:Dog")
    assert registry()["dog"].__name__ == "Dog"


@pytest.mark.parametrize("wrong", ["Stone", "bone"])
def test_a_class_of_the_wrong_kind_is_refused(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(tmp_path, monkeypatch, "kennel", stone=f"kennel.dogs:{wrong}")
    with pytest.raises(InputError, match="stone is not a pet: it must be a class derived from Pet"):
        registry()["stone"]


@pytest.mark.parametrize("value", ["kennel.dogs:Wolf", "kennel.nothing:Dog"])
def test_an_offer_that_cannot_be_imported_says_why(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(tmp_path, monkeypatch, "kennel", dog=value)
    with pytest.raises(InputError, match=f"the pet {value} cannot be imported .*installed here"):
        registry()["dog"]


def test_an_unknown_name_is_refused_with_those_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(tmp_path, monkeypatch, "kennel", dog="kennel.dogs:Dog", hound="kennel.dogs:Dog")
    with pytest.raises(InputError, match="no pet is called 'cat': choose one of dog, hound"):
        registry()["cat"]


def test_a_class_that_was_not_allowed_is_never_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(tmp_path, monkeypatch, "kennel")
    pets = registry()
    for _ in range(2):
        assert "kennel.dogs:Dog" not in pets
        with pytest.raises(InputError, match=r"no package offers .* or list it under \[code\]"):
            pets["kennel.dogs:Dog"]
        assert "kennel.dogs" not in sys.modules
    pets.allow("kennel.dogs:Dog")
    assert "kennel.dogs:Dog" in pets
    assert "kennel.dogs" not in sys.modules
    assert pets["kennel.dogs:Dog"].__name__ == "Dog"
    assert list(pets) == ["kennel.dogs:Dog"]


def test_what_was_allowed_is_checked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(tmp_path, monkeypatch, "kennel")
    pets = registry()
    pets.allow("kennel.dogs:Stone")
    with pytest.raises(InputError, match=r"kennel\.dogs:Stone is not a pet"):
        pets["kennel.dogs:Stone"]


@pytest.mark.parametrize("name", ["dog", "kennel.dogs", "kennel:", ":Dog", "a b:C", "1a:B", ""])
def test_only_module_and_class_can_be_allowed(name: str) -> None:
    with pytest.raises(InputError, match="does not name a pet: write it as module:Class"):
        registry().allow(name)


def test_a_class_has_the_name_under_which_it_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the offer names another module than the one that defines it."""
    offer(tmp_path, monkeypatch, "kennel", dog="kennel.again:Dog")
    pets = registry()
    assert pets.name_of(pets["dog"]) == "dog"
    assert registry().name_of(pets["dog"]) == "dog"
    assert pets.name_of(Cat) == f"{Cat.__module__}:Cat"


def test_finding_a_name_imports_no_other_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(tmp_path, monkeypatch, "kennel", dog="kennel.again:Dog")
    assert registry().name_of(Cat) == f"{Cat.__module__}:Cat"
    assert "kennel.again" not in sys.modules


@pytest.mark.parametrize("names", [POLICIES, PROTOCOLS], ids=["policies", "protocols"])
def test_every_registered_class_is_called_by_its_name(names: Registry[object]) -> None:
    assert len(set(names)) == len(names)
    for name, kind in names.items():
        assert names.name_of(kind) == name


words = st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True)
paths = st.lists(words, min_size=1, max_size=3).map(".".join)


@given(paths, paths)
def test_class_names(module: str, path: str) -> None:
    assert is_class_name(f"{module}:{path}")
    assert not is_class_name(f"{module}.{path}")
    assert not is_class_name(f"{module}:{path}:{path}")
    assert not is_class_name(f" {module}:{path}")


@given(st.text(max_size=20))
def test_no_other_text_can_be_allowed(text: str) -> None:
    if is_class_name(text):
        module, path = text.split(":")
        assert all(part.isidentifier() for part in (*module.split("."), *path.split(".")))
    else:
        with pytest.raises(InputError):
            registry().allow(text)


def test_nested_classes_are_found() -> None:
    assert load("lotor.policies:Policy", "policy") is Policy
    assert load(f"{Policy.__module__}:Policy.score", "policy") is Policy.score
