"""What the messages carry, checked by the party that receives them."""

from struct import Struct

from lotor.core.errors import ProtocolError

COMP_KEY = "Comp's Paillier key"
_PLACE = Struct(">Q")
_POSITION = Struct(">I")


def place_of(t: int) -> bytes:
    """After t pulls."""
    return _PLACE.pack(t)


def position_of(winner: int) -> bytes:
    return _POSITION.pack(winner)


def position_from(data: bytes, k: int, t: int) -> int:
    """The position that Comp names, if there is one."""
    position = int(_POSITION.unpack(data)[0]) if len(data) == _POSITION.size else k
    if position >= k:
        raise ProtocolError(f"comp named a position in round {t} that none of {k} arms has")
    return position


def arm_from(place: bytes, data: bytes, k: int, t: int) -> int:
    """The arm that P names for round t, if there is one."""
    arm = int(_POSITION.unpack(data)[0]) if len(data) == _POSITION.size else k
    if place != place_of(t) or arm >= k:
        raise ProtocolError(
            f"principal named no arm of {k} for round {t}: a message was altered, or it is of "
            "another round; nothing was pulled"
        )
    return arm
