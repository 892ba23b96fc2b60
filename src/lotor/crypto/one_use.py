"""Places that take one content each: a second one would give a secret away."""

from lotor.core.errors import CryptoError


class OneUse:
    """Refuses a second, different content at a place; places must come in order.

    A party that is built anew after a crash repeats its places with the contents that they had.

    >>> uses = OneUse("batch", "the choices of both")
    >>> uses.take((1,), b"once")
    >>> uses.take((1,), b"once")
    >>> uses.take((1,), b"twice")
    Traceback (most recent call last):
    ...
    lotor.core.errors.CryptoError: batch 1 was used already, with another content: ...
    """

    __slots__ = ("_content", "_gives", "_latest", "_what")

    def __init__(self, what: str, gives: str) -> None:
        self._what = what
        self._gives = gives
        self._latest: tuple[int, ...] = ()
        self._content = b""

    def __repr__(self) -> str:
        return f"<OneUse of each {self._what}>"

    def take(self, place: tuple[int, ...], content: bytes) -> None:
        """Use a place for this content, which is the latest place again or a later one."""
        if place > self._latest:
            self._latest, self._content = place, content
        elif place < self._latest:
            raise CryptoError(
                f"{self._what} {_text(place)} comes after {_text(self._latest)}: places are used "
                "in order, each once; send again what was sent then, from the journal"
            )
        elif content != self._content:
            raise CryptoError(
                f"{self._what} {_text(place)} was used already, with another content: a second "
                f"one would give away {self._gives}; a restarted party must repeat the first"
            )


def _text(place: tuple[int, ...]) -> str:
    return ".".join(map(str, place))
