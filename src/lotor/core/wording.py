"""Numbers in sentences."""


def counted(count: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "arm"), counted(3, "arm")
    ('1 arm', '3 arms')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
