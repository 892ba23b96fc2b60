"""What a host asks before a round begins."""

from typing import Protocol as Interface


class Gate(Interface):
    """Says when a party may begin its rounds; call `advance` when the answer has changed."""

    def may_begin(self, t: int) -> bool:
        """Whether round t may begin; once it may, it has begun."""

    def may_go_on(self, t: int) -> bool:
        """Whether the party may pass the checkpoint of round t."""


class OpenGate:
    """Rounds begin as soon as they can."""

    def may_begin(self, t: int) -> bool:  # noqa: ARG002
        return True

    def may_go_on(self, t: int) -> bool:  # noqa: ARG002
        return True
