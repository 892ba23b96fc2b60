"""How many hostile inputs the long tests try, of members and strangers, in all."""

from crypto import test_hostile_objects as objects
from protocols import test_hostile_messages as messages
from runtime.daemon import test_hostile_inputs as inputs
from transport import test_hostile_handshakes as handshakes


def test_there_are_a_hundred_thousand() -> None:
    total = (
        sum(objects.LONG.values())
        + sum(case.many for case in messages.CASES.values())
        + messages.MANY_ORDERS * len(messages.CASES)
        + inputs.MANY * len(inputs.LOCAL)
        + inputs.MANY_STRANGE
        + inputs.MANY_OF_MEMBERS * len(inputs.MEMBERS)
        + inputs.MANY_SIGNED * len(inputs.SCENES)
        + handshakes.MANY
    )
    assert total >= 100_000
