"""Every form's attacks can be loaded, and are on roles that it has."""

from importlib import import_module

import pytest

from lotor.protocols.attack import Attack, Distinguisher
from lotor.protocols.form import AnyForm
from lotor.protocols.protocol import PROTOCOLS

NETWORK = "network"
FORMS = [
    pytest.param(form, id=f"{name} {form.name}")
    for name, kind in PROTOCOLS.items()
    for form in map(kind.form_called, kind.forms)
]


def loaded(text: str) -> type[Attack] | type[Distinguisher]:
    module, name = text.split(":")
    found: type[Attack] | type[Distinguisher] = getattr(import_module(module), name)
    assert issubclass(found, Attack | Distinguisher)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_attacks_are_on_roles_of_the_form(form: AnyForm) -> None:
    roles = {role.name for role in form.roles} | {NETWORK}
    assert {role for attacked in form.attacks for role in attacked.split("+")} <= roles
    assert {role for coalition in form.coalitions for role in coalition} <= roles


@pytest.mark.parametrize("form", FORMS)
def test_attacks_say_what_they_guess(form: AnyForm) -> None:
    for attacks in form.attacks.values():
        assert len(set(attacks)) == len(attacks)
        for attack in map(loaded, attacks):
            assert attack.name
            assert attack.secret
            attack()
