"""A federation on hosts of its own: each party in a network namespace, joined by a switch.

Needs root and `ip` (iproute2) on Linux, and for the rough network the netem module of the kernel
as well; where something is missing the test is skipped and says what.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from lotor.runtime.daemon.address import Address
from lotor.runtime.daemon.config_tables import LimitsTable
from lotor.sandbox import Federation
from trials import Trial, change, dial, events, links, prepared, until

NETWORK = "10.203.77"
PORT = 7400
KEEP_ALIVE = 1.0
PARTIES = ("controller", "comp", "customer", "lyon", "porto", "graz")
WATCHED = ("porto", "comp")


def refusal(*arguments: str) -> str:
    """Run `ip`; why it was refused, or nothing."""
    command = ["ip", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return f"`{' '.join(command)}`: {done.stderr.strip()}" if done.returncode else ""


def ip(*arguments: str) -> None:
    if why := refusal(*arguments):
        pytest.skip(f"no hosts of one's own can be made here: {why}")


class Hosts:
    """A namespace for each party, and one for the switch between them."""

    def __init__(self) -> None:
        self._mark = f"lotor{os.getpid()}"
        self._made: list[str] = []

    def build(self) -> None:
        switch = self._space("switch")
        ip("-n", switch, "link", "add", "switch", "type", "bridge")
        ip("-n", switch, "link", "set", "switch", "up")
        for number, party in enumerate(PARTIES, 1):
            space = self._space(party)
            ends = ("link", "add", "eth0", "netns", space, "type", "veth")
            ip(*ends, "peer", "name", party, "netns", switch)
            ip("-n", switch, "link", "set", party, "master", "switch", "up")
            ip("-n", space, "address", "add", f"{NETWORK}.{number}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                ip("-n", space, "link", "set", device, "up")

    def _space(self, name: str) -> str:
        space = self.space(name)
        ip("netns", "add", space)
        self._made.append(space)
        return space

    def space(self, party: str) -> str:
        return f"{self._mark}-{party}"

    def plug(self, party: str, state: str) -> None:
        """Pull a party's cable out of the switch ("down"), or put it back ("up")."""
        assert not refusal("-n", self.space("switch"), "link", "set", party, state)

    def roughen(self) -> None:
        """20 ms there and back, and one packet of a hundred lost."""
        for party in PARTIES:
            netem = ("tc", "qdisc", "add", "dev", "eth0", "root", "netem")
            host = ("netns", "exec", self.space(party))
            if why := refusal(*host, *netem, "delay", "10ms", "loss", "1%"):
                pytest.skip(f"this kernel cannot lose packets (netem): {why}")

    def remove(self) -> None:
        """The links go with their namespaces."""
        for space in self._made:
            refusal("netns", "delete", space)


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    if sys.platform != "linux" or not shutil.which("ip"):
        pytest.skip("network namespaces need Linux and its `ip` command (iproute2)")
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    made = Hosts()
    try:
        made.build()
        yield made
    finally:
        made.remove()


class Apart(Federation):
    """Starts each party on its own host."""

    hosts: Hosts
    _party = ""

    def launch(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        self._party = name
        return super().launch(name, *arguments)

    def command(self, *arguments: str) -> list[str]:
        return ["ip", "netns", "exec", self.hosts.space(self._party), *super().command(*arguments)]


def settle(federation: Federation, hosts: Hosts) -> None:
    """Give the parties addresses on their hosts, and let them notice soon that a peer is gone."""
    assert isinstance(federation, Apart)
    federation.hosts = hosts
    limits = LimitsTable(wait=120.0, keep_alive=KEEP_ALIVE)
    controller = Address(f"{NETWORK}.1", PORT)
    for name in federation.kits:
        change(federation, name, lambda config: msgspec.structs.replace(config, limits=limits))
        if name == "controller":
            change(
                federation, name, lambda config: msgspec.structs.replace(config, listen=controller)
            )
        else:
            dial(federation, name, controller)


def cut(federation: Federation, hosts: Hosts, party: str) -> None:
    """Pull a party's cable out until both ends have noticed."""
    peers = WATCHED if party == "controller" else (party,)
    # Who is away already, on a busy machine, would not be away once more.
    until(federation, lambda: links(federation, peers) == {True})
    hosts.plug(party, "down")
    until(federation, lambda: links(federation, peers) == {False})
    hosts.plug(party, "up")


@pytest.mark.long
def test_a_cable_pulled_out_changes_nothing(tmp_path: Path, hosts: Hosts) -> None:
    with prepared(tmp_path, 200, Apart) as federation:
        settle(federation, hosts)
        federation.serve()
        trial = Trial(federation, "ucb", 200)
        trial.start()
        trial.reach(0.2)
        cut(federation, hosts, "porto")
        trial.reach(0.4)
        cut(federation, hosts, "controller")
        trial.reach(0.6)
        cut(federation, hosts, "comp")
        trial.finish()
        for peer in WATCHED:
            assert events(federation, peer, "gone", "controller") >= 2
            assert events(federation, "controller", "gone", peer) >= 2


@pytest.mark.slow
def test_distance_lost_packets_and_a_cut_change_nothing(tmp_path: Path, hosts: Hosts) -> None:
    hosts.roughen()
    with prepared(tmp_path, 120, Apart) as federation:
        settle(federation, hosts)
        federation.serve()
        trial = Trial(federation, "ucb", 120)
        trial.start()
        trial.reach(0.4)
        cut(federation, hosts, "porto")
        trial.finish()
        assert events(federation, "controller", "gone", "porto") >= 1
