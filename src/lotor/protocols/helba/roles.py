"""Which server and user a run has, by the form of its index."""

from typing import Final

from lotor.crypto.signing import Identity
from lotor.protocols.helba.index_circuit import IndexCircuit
from lotor.protocols.helba.plane import PlaneCircuit
from lotor.protocols.helba.quadratic import QuadraticCircuit
from lotor.protocols.helba.root import RootCircuit
from lotor.protocols.helba.root_server import HelpedServer
from lotor.protocols.helba.root_user import HelpingUser
from lotor.protocols.helba.server import Server
from lotor.protocols.helba.setting import HelbaSetting
from lotor.protocols.helba.shared_server import SharedServer
from lotor.protocols.helba.user import User
from lotor.protocols.store import Store

_ROLES: Final[dict[type[IndexCircuit], tuple[type[Server], type[User]]]] = {
    PlaneCircuit: (Server, User),
    QuadraticCircuit: (Server, User),
    RootCircuit: (HelpedServer, HelpingUser),
}


def server_of(
    setting: HelbaSetting, store: Store, *, workers: int = 1, snapshot: bytes | None = None
) -> Server:
    """With helpers if there are to be more workers than one."""
    if workers > 1:
        return SharedServer(setting, store, workers, snapshot=snapshot)
    role, _ = _ROLES[type(setting.circuit)]
    return role(setting, store, snapshot=snapshot)


def user_of(
    identity: Identity, setting: HelbaSetting, store: Store, *, snapshot: bytes | None = None
) -> User:
    _, role = _ROLES[type(setting.circuit)]
    return role(identity, setting, store, snapshot=snapshot)
