"""The privacy account of a federation's run, where its protocol keeps one."""

import msgspec

from lotor.protocols.ppcb import PPCB
from lotor.protocols.ppcb.terms import terms_from
from lotor.runtime.daemon.announcement import Announcement
from lotor.runtime.durable.journal import RunRow


def account_of(row: RunRow) -> dict[str, float | int | str | None] | None:
    """What the arms of the whole run tell, by its order: every party may know it beforehand."""
    announcement = msgspec.msgpack.decode(row.announcement, type=Announcement)
    if announcement.protocol != PPCB.name:
        return None
    account: dict[str, float | int | str | None] = msgspec.structs.asdict(
        terms_from(announcement.order).spent()
    )
    return account
