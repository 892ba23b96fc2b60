"""Federations of LinUCB-DS whose owner brings arms of a test."""

from dataclasses import replace
from pathlib import Path

from lotor.environments.sources import MadeUpArms
from lotor.protocols.cast import CastMember
from lotor.protocols.protocol import SecureProtocol
from lotor.sandbox import Federation


def survey_federation(
    folder: Path, protocol: SecureProtocol, arms: MadeUpArms, *, seed: int
) -> Federation:
    """The demonstration of a protocol, but for the arms."""
    federation = Federation.of(folder, protocol, budget=1, seed=seed)
    owner = CastMember("owner", table={"model": "survey:model"}, files={"survey.py": arms.module()})
    members = {**federation.cast.members, "owner": owner}
    federation.cast = replace(federation.cast, members=members, environment=arms.arms())
    return federation
