"""The terms of a run with two servers: those of the shared form, and whose turn it is."""

from lotor.core.errors import InputError
from lotor.protocols.helba.shared.terms import HelbaSharedTerms, read_terms
from lotor.protocols.helba.two_servers.messages import WIRE


class HelbaTwoServersTerms(HelbaSharedTerms, frozen=True, tag=WIRE + "terms", kw_only=True):
    """Users take turns, in the order of `users`."""

    users: tuple[str, ...]

    def check(self) -> None:
        super().check()
        if not self.users or len(set(self.users)) != len(self.users):
            raise InputError("users are missing, or one is named twice: name each user once")

    def user_of(self, t: int) -> str:
        """Whose round t is."""
        return self.users[(t - 1) % len(self.users)]

    def rounds_of(self, user: str) -> range:
        """The rounds of a user."""
        return range(1 + self.users.index(user), self.budget + 1, len(self.users))


def two_servers_terms_from(data: bytes) -> HelbaTwoServersTerms:
    """The terms in these bytes, if a run can keep them."""
    return read_terms(HelbaTwoServersTerms, data, "customer")
