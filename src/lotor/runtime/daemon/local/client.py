"""A small client of a party's local interface, for scripts on the party's machine."""

import json
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from lotor.core.errors import ConfigError, InputError, TransportError
from lotor.runtime.daemon.address import LOOPBACK
from lotor.runtime.daemon.config import read_config
from lotor.runtime.daemon.local.guard import read_token


class LocalClient:
    """Asks a party that is served on this machine. What it refuses is an InputError.

    client = LocalClient.of(Path("kits/lyon"))
    for run in client.get("/v1/runs"):
        if run["state"] == "waiting":
            client.post(f"/v1/runs/{run['run']}/approve")
    """

    def __init__(self, port: int, token: bytes, seconds: float = 30.0) -> None:
        self._port = port
        self._seconds = seconds
        self._headers = {"Authorization": f"Bearer {token.decode()}"}

    def __repr__(self) -> str:
        return f"<LocalClient of port {self._port}>"

    @classmethod
    def of(cls, kit: Path) -> "LocalClient":
        """The client of the party with this kit."""
        config = read_config(kit / "party.toml")
        if config.local is None or config.local.port == 0:
            raise ConfigError(
                f"{kit} has no local interface at a known port: set `port` under [local] in its "
                "party.toml, and start the party again"
            )
        return cls(config.local.port, read_token(config.state_folder(kit)))

    def get(self, path: str) -> Any:
        return self._ask("GET", path, None)

    def post(self, path: str, **fields: object) -> Any:
        """Send these fields as a JSON object."""
        return self._ask("POST", path, json.dumps(fields) if fields else None)

    def _ask(self, method: str, path: str, body: str | None) -> Any:
        connection = HTTPConnection(LOOPBACK, self._port, timeout=self._seconds)
        try:
            connection.request(method, path, body, self._headers)
            answer = connection.getresponse()
            content, kind = answer.read(), answer.headers.get_content_type()
        except (OSError, HTTPException) as error:
            raise TransportError(
                f"no answer from the local interface at port {self._port} ({error}): see that the "
                "party is served and has this port under [local] in party.toml"
            ) from None
        finally:
            connection.close()
        document: Any = json.loads(content) if kind == "application/json" else content.decode()
        if answer.status != 200:
            raise InputError(f"the party refused it ({answer.status}): {document['error']}")
        return document
