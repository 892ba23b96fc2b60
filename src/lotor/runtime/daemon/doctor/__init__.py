"""What is wrong with a party's kit, its journal or its connections; looks, and changes nothing."""

from collections.abc import Mapping
from pathlib import Path

from lotor.core.errors import ConfigError
from lotor.protocols.catalogue import DEPLOYMENTS
from lotor.protocols.deployment import Deployment
from lotor.runtime.daemon.doctor import journal_checks, kit_checks, network_checks, run_checks
from lotor.runtime.daemon.doctor.findings import Finding, Result, guarded
from lotor.runtime.daemon.doctor.kit_checks import Patient

__all__ = ["Finding", "Result", "examine"]


def examine(path: Path, *, deployments: Mapping[str, Deployment] = DEPLOYMENTS) -> list[Finding]:
    """All checks of a kit, in order; ConfigError if there is no kit at all."""
    if not kit_checks.is_a_kit(path):
        raise ConfigError(
            f"there is no kit {path}: make one with "
            f"`lotor keys request --role ROLE --name NAME --kit {path}`"
        )
    patient = Patient(path)
    openers = {deployment.opener for deployment in deployments.values()}
    checks = {
        "folder": lambda: kit_checks.check_folder(patient),
        "key": lambda: kit_checks.check_key(patient),
        "certificate": lambda: kit_checks.check_certificate(patient),
        "revocation list": lambda: kit_checks.check_revocations(patient),
        "validity": lambda: kit_checks.check_validity(patient),
        "party.toml": lambda: kit_checks.check_party_toml(patient),
        "role": lambda: kit_checks.check_role(patient, openers),
        "pull": lambda: kit_checks.check_pull(patient),
        "state": lambda: journal_checks.check_state(patient),
        "journal": lambda: journal_checks.check_journal(patient),
        "runs": lambda: run_checks.check_runs(patient),
        "served": lambda: journal_checks.check_served(patient, openers),
        "port": lambda: network_checks.check_port(patient),
        "peers": lambda: network_checks.check_peers(patient),
    }
    return [finding for name, look in checks.items() for finding in guarded(name, look)]
