"""Looks for what is wrong with a party's kit, its journal or its connections; changes nothing."""

from collections.abc import Mapping
from pathlib import Path

from lotor.core.errors import ConfigError
from lotor.protocols.protocol import (
    PROTOCOLS,
    SecureProtocol,
    roles_that_bring,
    roles_that_order,
)
from lotor.runtime.daemon.doctor import (
    function_checks,
    journal_checks,
    kit_checks,
    network_checks,
    run_checks,
    trust_checks,
)
from lotor.runtime.daemon.doctor.findings import DoctorFinding, Result, guarded
from lotor.runtime.daemon.doctor.kit_checks import ExaminedKit

__all__ = ["DoctorFinding", "Result", "examine"]


def examine(
    path: Path, *, protocols: Mapping[str, type[SecureProtocol]] = PROTOCOLS
) -> list[DoctorFinding]:
    """All checks of a kit, in order; ConfigError if there is no kit at all."""
    if not kit_checks.is_a_kit(path):
        raise ConfigError(
            f"there is no kit {path}: make one with "
            f"`lotor keys request --role ROLE --name NAME --kit {path}`"
        )
    kit = ExaminedKit(path)
    openers = roles_that_order(protocols)
    bringers = roles_that_bring(protocols)
    checks = {
        "folder": lambda: kit_checks.check_folder(kit),
        "protection": lambda: kit_checks.check_protection(kit),
        "key": lambda: kit_checks.check_key(kit),
        "certificate": lambda: kit_checks.check_certificate(kit),
        "revocation list": lambda: kit_checks.check_revocations(kit),
        "validity": lambda: kit_checks.check_validity(kit),
        "party.toml": lambda: kit_checks.check_party_toml(kit),
        "role": lambda: kit_checks.check_role(kit, openers, bringers),
        "pull": lambda: function_checks.check_functions(kit),
        "code": lambda: function_checks.check_code(kit),
        "state": lambda: journal_checks.check_state(kit),
        "journal": lambda: journal_checks.check_journal(kit),
        "runs": lambda: run_checks.check_runs(kit),
        "trusted": lambda: trust_checks.check_trusted(kit),
        "served": lambda: journal_checks.check_served(kit),
        "port": lambda: network_checks.check_port(kit),
        "peers": lambda: network_checks.check_peers(kit),
    }
    return [finding for name, look in checks.items() for finding in guarded(name, look)]
