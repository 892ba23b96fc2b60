"""Hello and Refusal: what goes out comes in, and text from outside is made harmless."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core import errors
from lotor.core.errors import ConfigError, LotorError, ProtocolError, TransportError, VersionError
from lotor.transport import Hello, Refusal
from lotor.transport.handshake import (
    MAX_CARD,
    MAX_GREETING,
    MAX_TEXT,
    check_wire,
    decode_greeting,
    encode_hello,
    encode_refusal,
    plain_text,
    refused,
)

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, LotorError)
]

hellos = st.builds(
    Hello,
    st.integers(0, 2**31),
    st.integers(0, 2**31),
    st.text(st.characters(codec="utf-8"), max_size=64),
    st.floats(allow_nan=False, allow_infinity=False),
    st.binary(max_size=1_000),
)


@given(hellos)
def test_a_hello_arrives_as_it_was(hello: Hello) -> None:
    assert decode_greeting(encode_hello(hello), "lyon", hello.wire) == hello


def test_the_largest_card_fits_and_a_larger_one_does_not() -> None:
    hello = Hello(1, 1, "v" * 64, 1e300, b"\xff" * MAX_CARD)
    assert len(encode_hello(hello)) < MAX_GREETING
    assert decode_greeting(encode_hello(hello), "lyon", 1) == hello
    larger = msgspec.structs.replace(hello, card=bytes(MAX_CARD + 1))
    with pytest.raises(ConfigError, match="put less into it"):
        encode_hello(larger)
    with pytest.raises(ProtocolError):
        decode_greeting(msgspec.json.encode(larger), "lyon", 1)


@given(st.sampled_from(KINDS), st.text(st.characters(codec="utf-8")))
def test_a_refusal_is_the_same_kind_of_error_on_the_other_side(
    kind: type[LotorError], text: str
) -> None:
    refusal = decode_greeting(encode_refusal(kind(text)), "lyon", 1)
    assert isinstance(refusal, Refusal)
    error = refused(refusal, "lyon")
    assert type(error) is kind
    assert str(error).startswith("lyon refused")


@given(st.text(max_size=64))
def test_an_unknown_code_is_a_transport_error(code: str) -> None:
    error = refused(Refusal(code, "no"), "lyon")
    assert isinstance(error, LotorError)
    if code not in vars(errors):
        assert type(error) is TransportError


@given(st.text(max_size=3_000))
def test_text_from_outside_is_one_short_printable_line(text: str) -> None:
    plain = plain_text(text)
    assert len(plain) <= MAX_TEXT
    assert plain.isprintable()


@given(st.binary(max_size=200))
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError, match="lyon sent something"):
        decode_greeting(b"\x00" + data, "lyon", 1)


@given(hellos, hellos)
def test_versions_agree_or_the_older_side_is_told_what_to_install(a: Hello, b: Hello) -> None:
    if a.wire == b.wire:
        check_wire("a", a, "b", b)
        return
    with pytest.raises(VersionError) as here:
        check_wire("a", a, "b", b)
    with pytest.raises(VersionError) as there:
        check_wire("b", b, "a", a)
    assert str(here.value) == str(there.value)
    assert f"at {'a' if a.wire < b.wire else 'b'} and start" in str(here.value)
    assert str(a.wire) in str(here.value)
    assert str(b.wire) in str(here.value)
