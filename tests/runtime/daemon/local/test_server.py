"""The local interface answers whoever has the token, and refuses everybody else."""

import asyncio
import stat
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from lotor.core.errors import ConfigError, InputError, JournalWriteError, TransportError
from lotor.runtime.daemon.config import LocalTable, write_config
from lotor.runtime.daemon.local import link as links
from lotor.runtime.daemon.local import server as servers
from lotor.runtime.daemon.local.answers import KINDS
from lotor.runtime.daemon.local.client import LocalClient
from lotor.runtime.daemon.local.guard import TOKEN_FILE, made_token, read_token
from lotor.runtime.daemon.local.interface import LocalInterface
from lotor.runtime.daemon.local.server import LocalServer
from lotor.runtime.daemon.node import Node
from lotor.runtime.daemon.open_kit import OpenKit
from runtime.daemon.local.desk import DECISION, GOES_ON, WAITS, Desk, at_desk, kit, parsed
from runtime.daemon.waiting import until

DECISION_ = DECISION.encode()
RESOLVE = f"/v1/runs/{GOES_ON}/resolve"
BAD_BODIES = {
    b"{": "it is not JSON",
    b"\xff": "it is not JSON",
    b'{"decision":' * 4_000: "Expected `str`",
    b"[" * 60_000: "Expected `object`",
    b"[]": "Expected `object`, got `array`",
    b"{}": "missing required field `decision`",
    b'{"decision": 1}': "Expected `str`",
    b'{"decision": "x", "more": 1}': "its fields are decision, reward, features, lost, again",
    b'{"decision": "%s"}' % DECISION_: "give exactly one of",
    b'{"decision": "%s", "lost": true, "again": true}' % DECISION_: "give exactly one of",
    b'{"decision": "%s", "reward": 7.0625}' % DECISION_: "reward_range",
    b'{"decision": "%s", "reward": "7.0625"}' % DECISION_: "Expected `float | null`",
    b'{"decision": "%s", "features": [7.0625]}' % DECISION_: "none, not 1",
    b'{"decision": "%s/9", "lost": true}' % GOES_ON.encode(): "is not in doubt",
    b'{"decision": "%s", "lost": true}' % DECISION_[:-1]: "is not in doubt",
    b'{"decision": "", "lost": true}': "is not in doubt",
}


def test_whoever_has_the_token_sees_the_runs_and_decides(tmp_path: Path) -> None:
    async def scene(made: Desk) -> None:
        (first, second) = await asyncio.to_thread(made.client.get, "/v1/runs")
        assert (first["run"], first["state"]) == (WAITS, "waiting")
        assert second == await asyncio.to_thread(made.client.get, f"/v1/runs/{GOES_ON[:6]}")
        assert second["served"] is True
        stop = await made.answer("POST", f"/v1/runs/{GOES_ON}/stop", b'{"reason": "a leak"}')
        assert stop.document == {"run": GOES_ON, "done": f"run {GOES_ON} is stopped"}
        # It was carried out before the answer left.
        row = made.node.journal.run(GOES_ON)
        assert (row.state, row.note) == ("stopped", "stopped by lyon: a leak")
        assert made.node.journal.commands.waiting() == []
        refused = await made.answer("POST", f"/v1/runs/{GOES_ON}/stop")
        assert (refused.status, "is stopped already" in refused.document["error"]) == (400, True)

    at_desk(scene, tmp_path)


def test_every_refusal_is_told_counted_logged_once_and_changes_nothing(tmp_path: Path) -> None:
    async def scene(made: Desk) -> None:
        before = made.written()
        for _ in range(2):
            for status, answer in [
                (401, await made.answer(authorization=None)),
                (401, await made.answer(authorization=f"Bearer {made.token[:-1]}")),
                (401, await made.answer(authorization=f"Basic {made.token}")),
                (401, await made.answer(path="/anything", authorization="Bearer")),
                (403, await made.answer(host="lyon.example.org")),
                (403, await made.answer(path="/healthz", host="127.0.0.1")),
                (403, await made.answer(host="127.0.0.1:1")),
                (403, await made.answer(origin="null")),
                (403, await made.answer(path="/metrics", origin="https://lyon.example.org")),
                (404, await made.answer(path="/v2/runs")),
                (404, await made.answer(path="/v1/runs/")),
                (404, await made.answer(path="/v1/runs/cc")),
                (404, await made.answer("POST", "/v1/runs/cc/approve")),
                (405, await made.answer("POST", "/v1/runs")),
                (405, await made.answer("DELETE", f"/v1/runs/{WAITS}")),
                (405, await made.answer("POST", "/healthz")),
                (400, await made.answer(path="/v1/runs?state=waiting")),
                (400, await made.answer("POST", f"/v1/runs/{WAITS}/approve", b"{}")),
                (400, await made.answer("POST", f"/v1/runs/{GOES_ON}/approve")),
                (413, await made.answer("POST", RESOLVE, b"x" * (links.MOST_BODY + 1))),
                (413, await made.answer("POST", RESOLVE, b"x" * 4 * links.MOST_BODY)),
                (400, await made.answer(content_length="-1")),
                (400, parsed(await made.ask(b"HELLO\r\n\r\n"))),
                (431, await made.answer(more="x" * 2 * links.MOST_HEAD)),
            ]:
                assert answer.status == status
                assert answer.document["error"]
        assert made.written() == before
        metrics = (await made.answer(path="/metrics")).body.decode()
        assert 'lotor_local_requests_refused_total{kind="token"} 8.0' in metrics
        refusals = [line for line in made.log if "refused a request" in line]
        assert len(refusals) == len(set(refusals)) == len(KINDS) - len({"crowd", "failed", "slow"})
        assert made.token not in "".join([*made.log, metrics])

    at_desk(scene, tmp_path)


def test_a_body_that_cannot_be_used_is_explained_and_no_value_of_it_shown(tmp_path: Path) -> None:
    async def scene(made: Desk) -> None:
        before = made.written()
        for body, words in BAD_BODIES.items():
            answer = await made.answer("POST", RESOLVE, body)
            assert answer.status == 400
            assert words in answer.document["error"], body
            assert "7.06" not in answer.document["error"]
        assert made.written() == before
        done = await made.answer("POST", RESOLVE, b'{"decision": "%s", "reward": 1}' % DECISION_)
        assert done.status == 200

    at_desk(scene, tmp_path)


def test_health_and_metrics_need_no_token(tmp_path: Path) -> None:
    async def scene(made: Desk) -> None:
        for host in (made.host, made.host.replace("127.0.0.1", "LocalHost")):
            health = await made.answer(path="/healthz", authorization=None, host=host)
            assert (health.status, health.document["state"]) == (200, "serving")
        own = await made.answer(path="/metrics", authorization=None, origin=f"http://{made.host}")
        assert own.status == 200
        assert own.headers["content-type"].startswith("text/plain")
        made.node.error = JournalWriteError("the disk is full")
        health = await made.answer(path="/healthz", authorization=None)
        assert (health.status, health.document["state"]) == (503, "stopping")
        made.node.error = None

    at_desk(scene, tmp_path)


def test_one_connection_takes_several_requests(tmp_path: Path) -> None:
    async def scene(made: Desk) -> None:
        kept = made.request(connection="keep-alive")
        head = made.request("HEAD", connection="keep-alive")
        chunked = made.request(
            "POST",
            RESOLVE,
            connection="keep-alive",
            content_length=None,
            transfer_encoding="chunked",
        )
        asked = [kept, head, chunked, b"2\r\n{}\r\n", b"0\r\n\r\n", made.request(path="/healthz")]
        for pieces in ([b"".join(asked)], [bytes([one]) for one in b"".join(asked)]):
            answers = (await made.ask(*pieces)).split(b"HTTP/1.1 ")[1:]
            assert [int(answer[:3]) for answer in answers] == [200, 405, 400, 200]
            assert answers[1].endswith(b"\r\n\r\n")  # to HEAD, no body
        curl = made.request("POST", RESOLVE, b"{}", expect="100-continue")
        answers = (await made.ask(curl)).split(b"HTTP/1.1 ")[1:]
        assert [int(answer[:3]) for answer in answers] in ([100, 400], [400])

    at_desk(scene, tmp_path)


def test_who_takes_too_long_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "REQUEST_SECONDS", 0.25)

    async def scene(made: Desk) -> None:
        whole = made.request("POST", RESOLVE, b"{}")
        for cut in (1, len(whole) // 2, len(whole) - 1):
            assert parsed(await made.ask(whole[:cut])).status == 408
        assert await made.ask() == b""  # who has asked nothing is told nothing

    at_desk(scene, tmp_path)


def test_who_asks_nothing_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "MOST_LINKS", 4)

    async def scene(made: Desk) -> None:
        idle = [await asyncio.open_connection("127.0.0.1", made.server.port) for _ in range(40)]
        await until(lambda: made.server.connections <= 4)
        answer = b""
        while not answer:  # a newcomer may be the one that has to go, and tries again
            with suppress(OSError):
                answer = await made.ask(made.request(path="/metrics"))
        assert 'kind="crowd"} 0.0' not in parsed(answer).body.decode()
        for _, writer in idle:
            writer.transport.abort()

    at_desk(scene, tmp_path)


def test_a_client_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    async def scene(made: Desk) -> None:
        for data in (b"", b"GET", made.request(), made.request("POST", RESOLVE, b"x" * 70_000)):
            _, writer = await asyncio.open_connection("127.0.0.1", made.server.port)
            writer.write(data)
            writer.transport.abort()
        await until(lambda: not made.server.connections)
        assert (await made.answer()).status == 200

    at_desk(scene, tmp_path)


def test_what_cannot_be_written_ends_the_daemon_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise JournalWriteError("the journal could not be written: the disk is full")

    async def scene(made: Desk) -> None:
        monkeypatch.setattr(made.node.journal.commands, "add", full)
        answer = await made.answer("POST", f"/v1/runs/{WAITS}/approve")
        assert (answer.status, "the disk is full" in answer.document["error"]) == (503, True)
        assert made.node.ended.is_set()
        assert (await made.answer(path="/healthz")).status == 503

    at_desk(scene, tmp_path)


def test_an_error_that_nobody_has_foreseen_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ValueError("secret")

    async def scene(made: Desk) -> None:
        monkeypatch.setattr(made.node.journal, "runs", fails)
        answer = await made.answer()
        assert (answer.status, "ValueError: report" in answer.document["error"]) == (500, True)
        assert "secret" not in "".join([answer.document["error"], *made.log])

    at_desk(scene, tmp_path)


def server_of(made: Desk) -> LocalServer:
    at = OpenKit(made.node.kit, made.node.context.config, made.node.journal)
    return LocalServer(LocalInterface(at), {}, b"", made.node.context.fatal, Counter())


def test_it_listens_on_this_machine_only(tmp_path: Path) -> None:
    async def scene(made: Desk) -> None:
        assert [one.host for one in made.server.addresses] == ["127.0.0.1"]
        with pytest.raises(TransportError, match="another program uses the port"):
            await server_of(made).start(made.server.port, ipv6=False)
        both = server_of(made)
        with suppress(TransportError):  # a machine may have no ::1
            await both.start(0, ipv6=True)
            assert [one.host for one in both.addresses] == ["127.0.0.1", "::1"]
            assert len({one.port for one in both.addresses}) == 1
        await both.close()

    at_desk(scene, tmp_path)


def test_the_token_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    first = made_token(tmp_path)
    path = tmp_path / TOKEN_FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert made_token(tmp_path) == read_token(tmp_path) == first
    assert made_token(_folder(tmp_path / "other")) != first
    path.chmod(0o640)
    with pytest.raises(ConfigError, match="chmod 600"):
        made_token(tmp_path)
    path.chmod(0o600)
    path.write_bytes(first[:20])
    with pytest.raises(ConfigError, match="remove it") as refused:
        made_token(tmp_path)
    assert first[:8].decode() not in str(refused.value)


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize("module", ["h11", "prometheus_client"])
def test_what_is_not_installed_is_named(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(made: Desk) -> None:
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ConfigError, match=r"pip install 'lotor\[ops\]'"):
            Node(made.node.kit, made.node.context.config, made.node.journal)

    at_desk(scene, tmp_path)


def test_a_client_finds_its_party_by_the_kit(tmp_path: Path) -> None:
    async def scene(made: Desk) -> None:
        config = made.node.context.config
        with pytest.raises(ConfigError, match="no local interface at a known port"):
            LocalClient.of(kit())
        write_config(
            kit() / "party.toml",
            msgspec.structs.replace(config, local=LocalTable(port=made.server.port)),
        )
        client = LocalClient.of(kit())
        assert made.token not in repr(client)
        runs = await asyncio.to_thread(client.get, "/v1/runs")
        assert [one["run"] for one in runs] == [WAITS, GOES_ON]
        done = await asyncio.to_thread(client.post, f"/v1/runs/{WAITS}/refuse", reason="not now")
        assert done["done"] == f"run {WAITS} is refused"
        with pytest.raises(InputError, match=r"refused it \(404\): there is no such path"):
            await asyncio.to_thread(client.get, "/v1")
        await made.server.close()
        with pytest.raises(TransportError, match="see that the party is served"):
            await asyncio.to_thread(client.get, "/v1/runs")

    at_desk(scene, tmp_path)
