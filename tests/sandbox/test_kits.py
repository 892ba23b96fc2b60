from itertools import product
from pathlib import Path

import pytest

from lotor.core.errors import ConfigError, InputError
from lotor.crypto.certificates import Subject
from lotor.runtime.daemon.kit import Kit
from lotor.sandbox.kits import make_kits

MEMBERS = {"customer": "customer", "cloud-a": "controller", "cloud-b": "comp", "lyon": "owner"}


def test_every_member_trusts_every_other(tmp_path: Path) -> None:
    paths = make_kits(tmp_path / "federation", MEMBERS)
    assert list(paths) == list(MEMBERS)
    kits = [Kit(path) for path in paths.values()]
    for one, other in product(kits, kits):
        subject = one.trust.check(other.certificate)
        assert subject == Subject(subject.name, MEMBERS[subject.name])
    assert len({kit.key.public_bytes for kit in kits}) == len(MEMBERS)


def test_it_never_overwrites_and_refuses_senseless_names(tmp_path: Path) -> None:
    make_kits(tmp_path, MEMBERS)
    with pytest.raises(ConfigError, match="exists already"):
        make_kits(tmp_path, MEMBERS)
    with pytest.raises(InputError):
        make_kits(tmp_path / "other", {"authority": "owner"})
    with pytest.raises(InputError):
        make_kits(tmp_path / "other", {"../lyon": "owner"})
    assert not (tmp_path / "other").exists()
