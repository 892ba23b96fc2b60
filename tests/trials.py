"""Trials on a loopback federation, compared with plain."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

import lotor
from lotor.protocols.samba.cast import hospitals
from lotor.protocols.samba.shared.form import SambaShared
from lotor.runtime.daemon.address import Address
from lotor.runtime.daemon.config import PartyConfig, read_config, write_config
from lotor.sandbox import Federation
from lotor.sandbox.journals import Journals

MEANS = {"lyon": 0.3, "porto": 0.5, "graz": 0.7}
SEED = 7
# Far more than anything here takes: a test that hangs is to end, and none asserts a time.
PATIENCE = 150.0


def order(policy: str, budget: int) -> list[str]:
    """The command of a customer who asks for a run."""
    return [
        *("start", "samba", "--json", "--policy", policy, "--budget", str(budget)),
    ]


def until(federation: Federation, true: Callable[[], object]) -> None:
    """Wait until something is so; fails when a party has ended with an error, and after long."""
    end = time.monotonic() + PATIENCE
    while not true():
        for name in federation.kits:
            if federation.spent[name].starts and federation.exit_code(name):
                raise federation.complaint(name)
        assert time.monotonic() < end, "it takes far too long: some party hangs"
        time.sleep(0.05)


def assert_like_plain(federation: Federation, run: str, policy: str, budget: int) -> None:
    """Total and arms of a finished run are those of plain."""
    plain = lotor.run(
        lotor.Samba.configured(policy, {}).plain(),
        lotor.BernoulliArms(list(MEANS.values())),
        budget=budget,
        seed=SEED,
    )
    journals = Journals(federation)
    assert journals.total(run) == plain.reward
    assert plain.arms is not None
    assert journals.trajectory(run, budget) == list(plain.arms)


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a federation that is up."""

    federation: Federation
    policy: str = "ucb"
    budget: int = 120

    def start(self) -> None:
        self.federation.launch("customer", *order(self.policy, self.budget))

    def reach(self, share: float) -> None:
        """Wait until this share of all rounds is done."""
        until(self.federation, lambda: self._round() >= share * self.budget)

    def _round(self) -> int:
        journals = Journals(self.federation)
        run = journals.run()
        return 0 if run is None else journals.round(run)

    def finish(self) -> None:
        """Wait for the total, and compare all with plain."""
        until(self.federation, lambda: not self.federation.running("customer"))
        assert self.federation.exit_code("customer") == 0, self.federation.complaint("customer")
        run = Journals(self.federation).run()
        assert run is not None
        said = json.loads(self.federation.out_file("customer").read_text().splitlines()[-1])
        assert said["run"] == run
        assert said["reward"] == Journals(self.federation).total(run)
        assert_like_plain(self.federation, run, self.policy, self.budget)


def events(federation: Federation, name: str, event: str, peer: str) -> int:
    """How often a party's log tells this of a peer."""
    found = 0
    for line in federation.log_file(name).read_text().splitlines(keepends=True):
        if line.startswith("{") and line.endswith("\n"):  # the last one may be under way
            entry = json.loads(line)
            found += (entry.get("event"), entry.get("peer")) == (event, peer)
    return found


def links(federation: Federation, peers: Iterable[str]) -> set[bool]:
    """Whether the controller and these peers are connected, as both ends say."""
    return {
        events(federation, here, "connected", there) > events(federation, here, "gone", there)
        for peer in peers
        for here, there in (("controller", peer), (peer, "controller"))
    }


def change(federation: Federation, name: str, alter: Callable[[PartyConfig], PartyConfig]) -> None:
    """Edit a party.toml."""
    file = federation.kits[name] / "party.toml"
    write_config(file, alter(read_config(file)))


def dial(federation: Federation, name: str, address: tuple[str, int]) -> None:
    """Let a party find the controller elsewhere."""
    peers = {"controller": Address(*address)}
    change(federation, name, lambda config: msgspec.structs.replace(config, peers=peers))


def listens(federation: Federation) -> tuple[str, int]:
    """Where the controller is."""
    address = read_config(federation.kits["controller"] / "party.toml").listen
    assert address is not None
    return address


@contextmanager
def prepared(
    folder: Path, budget: int, kind: type[Federation] = Federation, hospital: str | None = None
) -> Iterator[Federation]:
    """A federation that is ready to be started; its processes are ended after the block."""
    cast = hospitals(MEANS, budget=budget, seed=SEED, policy="ucb")
    if hospital is not None:
        for name in MEANS:
            files = {**cast.members[name].files, "hospital.py": hospital}
            cast = replace(
                cast, members={**cast.members, name: replace(cast.members[name], files=files)}
            )
    federation = kind(folder, SambaShared(), cast, SEED)
    federation.prepare()
    try:
        yield federation
    finally:
        federation.close()
