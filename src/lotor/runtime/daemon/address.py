"""Where a party listens or is found: host and port."""

import re
from ipaddress import IPv6Address

from lotor.core.errors import ConfigError

LOOPBACK = "127.0.0.1"
_HOST = re.compile(r"[A-Za-z0-9._-]+")
_PORT = re.compile(r"[0-9]{1,5}")


class Address(tuple[str, int]):
    """A host and a port, as the network calls take them; 127.0.0.1 where no host is given.

    >>> Address.parse("hub.example.org:7400")
    Address('hub.example.org', 7400)
    >>> str(Address.parse("[::1]:7400"))
    '[::1]:7400'
    >>> Address.parse(":7400").host
    '127.0.0.1'
    """

    __slots__ = ()

    def __new__(cls, host: str, port: int) -> "Address":
        if not 0 <= port <= 65535:
            raise ConfigError(f"{port} is not a port: a port is a whole number from 0 to 65535")
        if not (_HOST.fullmatch(host) or _is_ipv6(host)):
            raise ConfigError(
                f"{host!r} is not a host: give a name, an IPv4 address, or an IPv6 address in "
                "brackets"
            )
        return super().__new__(cls, (host, port))

    @classmethod
    def parse(cls, text: object) -> "Address":
        """Read "host:port", "[IPv6]:port", ":port" or "port"."""
        if not isinstance(text, str):
            raise _not_an_address(text)
        host, colon, port = text.rpartition(":")
        if not _PORT.fullmatch(port):
            raise _not_an_address(text)
        if host.startswith("[") and host.endswith("]") and ":" in host:
            host = host[1:-1]
        elif ":" in host or (colon and host.startswith("[")):
            raise _not_an_address(text)
        return cls(host or LOOPBACK, int(port))

    @property
    def host(self) -> str:
        return self[0]

    @property
    def port(self) -> int:
        return self[1]

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __repr__(self) -> str:
        return f"Address({self.host!r}, {self.port})"


def _not_an_address(text: object) -> ConfigError:
    return ConfigError(
        f'{text!r} is not an address: write it in quotes as "host:port", "[IPv6 address]:port", '
        f'or "port" alone for {LOOPBACK}'
    )


def _is_ipv6(host: str) -> bool:
    try:
        # A zone such as %eth0 may hold any character; a line break has no place here.
        return host.isprintable() and "]" not in host and bool(IPv6Address(host))
    except ValueError:
        return False
