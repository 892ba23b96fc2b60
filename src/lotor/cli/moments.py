"""Moments as commands print them."""

from datetime import UTC, datetime


def moment(seconds: float) -> str:
    """Seconds since 1970 in UTC.

    >>> moment(0.0)
    '1970-01-01 00:00 UTC'
    """
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
