from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import ConfigError
from lotor.runtime.daemon.address import Address

names = st.from_regex(r"[a-z0-9][a-z0-9.-]{0,30}", fullmatch=True)
hosts = st.one_of(names, st.ip_addresses(v=4).map(str), st.ip_addresses(v=6).map(str))
addresses = st.builds(Address, hosts, st.integers(0, 65535))


@given(address=addresses)
def test_an_address_survives_being_written(address: Address) -> None:
    assert Address.parse(str(address)) == address


@given(port=st.integers(0, 65535), lead=st.sampled_from(["", ":"]))
def test_a_port_alone_is_on_the_loopback(port: int, lead: str) -> None:
    assert Address.parse(f"{lead}{port}") == ("127.0.0.1", port)


@given(text=st.text())
def test_any_other_text_is_refused_by_name(text: str) -> None:
    try:
        address = Address.parse(text)
    except ConfigError as error:
        assert "is no" in str(error)  # noqa: PT017
    else:
        assert 0 <= address.port <= 65535
        assert ":" not in address.host or IPv6Address(address.host)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "host",
        "host:",
        "::1:7400",
        "[::1]",
        "[host]:1",
        "[]:1",
        "a b:1",
        "x:99999",
        "x:-1",
        "*:1",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is no"):
        Address.parse(text)


def test_a_bare_number_asks_for_quotes() -> None:
    with pytest.raises(ConfigError, match="7400 is not an address: write it in quotes"):
        Address.parse(7400)
