"""Whatever a machine's programs send to the local interface: refused, and nothing changes."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.runtime.daemon.local.answers import LocalRefusedError
from lotor.runtime.daemon.local.guard import HOSTS, Guard
from lotor.runtime.daemon.local.link import LocalRequest
from lotor.runtime.daemon.local.routes import ROUTES, routed
from mutations import SEED, Mutator
from runtime.daemon.local.desk import DECISION, GOES_ON, WAITS, Desk, at_desk

FEW, MANY = 300, 100_000
TOGETHER = 25
PORT, TOKEN = 7411, b"t" * 43
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
NO_RUN, NO_DECISION = "cc" * 16, "nothing/1"
PACING = ("next", "pause", "resume")
BODIES = [
    json.dumps(body).encode()
    for body in (
        {"reason": "not now"},
        {"decision": NO_DECISION, "reward": 1.0},
        {"decision": NO_DECISION, "features": [0.5, -0.5], "lost": False},
        {"decision": NO_DECISION, "again": True},
    )
]


def strangers(made: Desk) -> list[bytes]:
    """Requests for everything that there is, by somebody who has no token."""
    paths = [(route.method, route.path.replace("{run}", WAITS)) for route in ROUTES]
    bodies = [b"", b'{"decision": "%s", "lost": true}' % DECISION.encode(), *BODIES]
    return [
        made.request(method, path, body, authorization=shown, connection="keep-alive")
        for method, path in paths
        for body in bodies
        for shown in (None, "Bearer", f"Bearer {'A' * 43}", f"Basic {made.token}")
    ]


def mistaken(made: Desk, mutator: Mutator) -> bytes:
    """A request with the token that cannot be carried out: of no run, or with a body that is bad.

    None of the bodies names the decision that is in doubt, so that no change makes it a good one.
    """
    method, path, body, headers = mutator.dice.choice(
        [
            ("POST", f"/v1/runs/{GOES_ON}/resolve", mutator.altered(BODIES), {}),
            ("POST", f"/v1/runs/{NO_RUN}/resolve", mutator.altered(BODIES), {}),
            ("POST", f"/v1/runs/{NO_RUN}/stop", BODIES[0], {}),
            ("POST", f"/v1/runs/{WAITS}/approve", b"{}", {}),
            ("POST", f"/v1/runs/{WAITS}/approve", b"", {"host": "lyon.example.org"}),
            ("POST", f"/v1/runs/{WAITS}/approve", b"", {"origin": "http://lyon.example.org"}),
            ("GET", f"/v1/runs/{NO_RUN}", b"", {}),
            ("GET", f"/v1/runs/{NO_RUN}/decisions", b"", {}),
            ("POST", f"/v1/runs/{WAITS}/{mutator.dice.choice(PACING)}", b"", {}),
            ("POST", "/v1/decisions/take", b'{"run": "%s"}' % NO_RUN.encode(), {}),
            ("POST", "/v1/decisions/give-back", mutator.altered(BODIES), {}),
            ("POST", "/v1/rewards", mutator.altered(BODIES), {}),
            ("POST", "/v1/rewards/many", b'{"outcomes": [%s]}' % BODIES[1], {}),
            ("PUT", "/v1/runs", b"", {}),
            ("POST", f"/v1/{mutator.dice.randbytes(8).hex()}", mutator.altered(BODIES), {}),
        ]
    )
    return made.request(method, path, body, connection="keep-alive", **headers)


async def refused(made: Desk, *requests: bytes) -> int:
    """How many refusals come back, and nothing else."""
    with suppress(OSError):
        statuses = STATUS.findall(await made.ask(*requests, ends=True))
        assert all(int(status) >= 400 for status in statuses), (statuses, requests)
        return len(statuses)
    return 0


async def attack(made: Desk, count: int, mutator: Mutator) -> int:
    """So many hostile requests, every second one malformed; how many were answered."""
    samples, answered = strangers(made), 0
    for _ in range(count // (2 * TOGETHER)):
        answered += await refused(made, b"".join(mistaken(made, mutator) for _ in range(TOGETHER)))
        for _ in range(TOGETHER):
            answered += await refused(made, mutator.altered(samples))
    return answered


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
def test_hostile_requests_are_refused_and_change_nothing(count: int, tmp_path: Path) -> None:
    async def scene(made: Desk) -> None:
        before = made.written()
        answered = await attack(made, count, Mutator(SEED))
        assert answered > 0.5 * count
        assert made.written() == before
        assert made.node.error is None
        refusals = [line for line in made.log if "refused a request" in line]
        assert 4 < len(refusals) == len(set(refusals))
        assert made.server.connections == 0
        # It goes on serving who may ask.
        done = await made.answer("POST", f"/v1/runs/{GOES_ON}/stop")
        assert done.status == 200

    at_desk(scene, tmp_path)


names = st.sampled_from([f"{host}:{PORT}".encode() for host in HOSTS])
anything = st.binary(max_size=60) | st.builds(lambda a, b: a + b, names, st.binary(max_size=2))


def request(name: str, values: list[bytes], *more: tuple[bytes, bytes]) -> LocalRequest:
    headers = tuple((name.encode(), value) for value in values)
    return LocalRequest("GET", "/v1/runs", (*headers, *more))


def refusal(asked: Callable[[], object]) -> LocalRefusedError | None:
    try:
        asked()
    except LocalRefusedError as error:
        return error
    return None


@given(st.lists(anything, max_size=3), st.lists(anything, max_size=3))
def test_only_this_machines_own_names_are_let_in(hosts: list[bytes], origins: list[bytes]) -> None:
    own = {f"{host}:{PORT}".encode() for host in HOSTS}
    fits = bool(hosts) and all(host.lower() in own for host in hosts)
    fits = fits and all(origin.lower() in {b"http://" + one for one in own} for origin in origins)
    asked = request("host", hosts, *((b"origin", origin) for origin in origins))
    refused = refusal(lambda: Guard(PORT, TOKEN).check_place(asked))
    assert (refused is None) == fits
    assert refused is None or refused.status == 403


schemes = st.sampled_from([b"Bearer ", b"Basic ", b"Bearer", b""])
tokens = st.sampled_from([TOKEN, TOKEN[:-1], TOKEN + b"t", b""]) | st.binary(max_size=60)


@given(st.lists(st.builds(lambda scheme, token: scheme + token, schemes, tokens), max_size=3))
def test_only_the_token_itself_is_let_in(shown: list[bytes]) -> None:
    refused = refusal(lambda: Guard(PORT, TOKEN).check_token(request("authorization", shown)))
    assert (refused is None) == ([one.strip() for one in shown] == [b"Bearer " + TOKEN])
    assert refused is None or (refused.status, TOKEN.decode() in str(refused)) == (401, False)


@given(st.text(max_size=8), st.text(max_size=60))
def test_any_path_is_an_operation_or_refused(method: str, path: str) -> None:
    for target in (path, f"/v1/runs/{path}", f"/v1/runs/{path}/approve"):
        refused = refusal(partial(routed, method, target))
        assert refused is None or refused.status in (400, 404, 405)
        assert (refused is None) <= (method in {route.method for route in ROUTES})
