"""Which server and user a run has, by the form of its index."""

from typing import Final

from lotor.crypto.signing import Identity
from lotor.protocols.helba.form import Form
from lotor.protocols.helba.plane import Plane
from lotor.protocols.helba.quadratic import Quadratic
from lotor.protocols.helba.root_form import Root
from lotor.protocols.helba.root_server import HelpedServer
from lotor.protocols.helba.root_user import HelpingUser
from lotor.protocols.helba.server import Server
from lotor.protocols.helba.setting import Setting
from lotor.protocols.helba.shared_server import SharedServer
from lotor.protocols.helba.user import User
from lotor.protocols.store import Store

_ROLES: Final[dict[type[Form], tuple[type[Server], type[User]]]] = {
    Plane: (Server, User),
    Quadratic: (Server, User),
    Root: (HelpedServer, HelpingUser),
}


def server_of(
    setting: Setting, store: Store, *, workers: int = 1, snapshot: bytes | None = None
) -> Server:
    """With helpers if there are to be more workers than one."""
    if workers > 1:
        return SharedServer(setting, store, workers, snapshot=snapshot)
    role, _ = _ROLES[type(setting.form)]
    return role(setting, store, snapshot=snapshot)


def user_of(
    identity: Identity, setting: Setting, store: Store, *, snapshot: bytes | None = None
) -> User:
    _, role = _ROLES[type(setting.form)]
    return role(identity, setting, store, snapshot=snapshot)
