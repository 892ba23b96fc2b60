"""Orders that cannot be read: refused in one sentence, whatever the protocol."""

import msgspec
import pytest

from lotor.core.errors import ProtocolError
from lotor.protocols.protocol import PROTOCOLS

FORMS = [(name, form) for name in PROTOCOLS for form in PROTOCOLS[name].forms]
NESTED = b"\x91" * 100_000 + b"\x00"
UNREADABLE = {
    "nothing": b"",
    "a number": b"\x07",
    "an empty object": b"\x80",
    "deep nesting": NESTED,
    "deep nesting where nobody looks": b"\x81\xa4more" + NESTED,
    "deep nesting in the policy": b"\x81\xa6policy" + NESTED,
    "text that is none": b"\x81\xa3run\xa2\xff\xfe",
    "another object": msgspec.msgpack.encode({"run": "00" * 16, "budget": "many"}),
}


@pytest.mark.parametrize("what", UNREADABLE)
@pytest.mark.parametrize(("protocol", "form"), FORMS)
def test_an_order_that_cannot_be_read(protocol: str, form: str, what: str) -> None:
    with pytest.raises(ProtocolError, match="cannot read"):
        PROTOCOLS[protocol].form_called(form).plan(UNREADABLE[what])
