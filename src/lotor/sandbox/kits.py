"""A whole federation's keys on one machine: for trials, tests and benchmarks, never for real."""

from collections.abc import Mapping
from pathlib import Path

from lotor.core.errors import InputError
from lotor.crypto.certificates import PartyKey, Subject
from lotor.runtime.daemon.authority import AuthorityFolder
from lotor.runtime.daemon.key_files import make_folder, replace_file, write_new
from lotor.runtime.daemon.kit import CERTIFICATE, KEY, REQUEST, REVOKED

FEDERATION = "demo"
AUTHORITY_FOLDER = "authority"


def make_kits(folder: Path, members: Mapping[str, str]) -> dict[str, Path]:
    """An authority and a kit for each member (name -> role); returns name -> kit."""
    if AUTHORITY_FOLDER in members:
        raise InputError(f"no member can be called {AUTHORITY_FOLDER!r}: its folder is taken")
    keys = {Subject(name, role): PartyKey.new() for name, role in members.items()}
    requests = {subject: key.request(subject) for subject, key in keys.items()}
    authority = AuthorityFolder.create(folder / AUTHORITY_FOLDER, FEDERATION)
    certificates = authority.sign_all(list(requests.values()))
    kits = {}
    for (subject, key), certificate in zip(keys.items(), certificates, strict=True):
        kit = folder / subject.name
        make_folder(kit)
        write_new(kit / KEY, key.to_pem())
        replace_file(kit / REQUEST, requests[subject])
        replace_file(kit / REVOKED, authority.revoked_path.read_bytes())
        replace_file(kit / CERTIFICATE, authority.bundle(certificate))
        kits[subject.name] = kit
    return kits
