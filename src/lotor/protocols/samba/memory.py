"""What SAMBA's parties also write down: the policy, and the terms once they are known."""

from typing import TypeVar

from lotor.core.errors import InputError
from lotor.policies import Policy, to_text
from lotor.protocols.memory import Memory, restored
from lotor.protocols.samba.terms import SambaTerms


class SambaMemory(Memory, kw_only=True):
    """Until the set-up is over, `terms` is None. Each form says which terms it has."""

    policy: str
    terms: SambaTerms | None = None


M = TypeVar("M", bound=SambaMemory)


def restored_with(kind: type[M], snapshot: bytes, party: str, run: str, policy: Policy) -> M:
    """The memory in a snapshot, if it is this party's, of this run and this policy."""
    memory = restored(kind, snapshot, party, run)
    if memory.policy != to_text(policy):
        raise InputError(
            f"this snapshot of {party} is of a run with {memory.policy}, not with "
            f"{to_text(policy)}: restore it with its own policy"
        )
    return memory
