"""What a stranger without a certificate can do to a run: every party a process, one run.

The stranger opens connections to the controller's port at a given rate. It shares the cores with
the parties, so the same stranger at an unrelated port, where connections are accepted and dropped,
is the yardstick. Windows without it, with it elsewhere and with it here alternate. In the last
ones an owner is killed and started again. Nothing fails: an aim is only named.
"""

import argparse
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from statistics import median

import msgspec
from processes import KEY_BITS, Federation, free_address, hub_address
from rich.console import Console
from rich.table import Table

from lotor.runtime.daemon.frames import Status
from lotor.runtime.daemon.serving import open_kit
from lotor.runtime.durable.journal import RUNNING, Journal

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from flood import RESET, Flood

OWNERS, RATE = 3, 4_000
ROUNDS = 100_000
AIM, RETURN_AIM = 0.5, 15.0
NOTHING = Status("", "controller", 0.0, "", "", 0)
NOBODY, ELSEWHERE, HERE = "nobody", "a stranger elsewhere", "a stranger here"


@contextmanager
def unrelated() -> Iterator[tuple[str, int]]:
    """A port of nobody's, where connections are accepted and dropped at once."""
    with socket.create_server(free_address(), backlog=1024) as listening:

        def drop_all() -> None:
            while True:
                try:
                    connected, _ = listening.accept()
                except OSError:
                    return
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                connected.close()

        dropping = threading.Thread(target=drop_all)
        dropping.start()
        try:
            yield listening.getsockname()
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            dropping.join()


class LongRun:
    """A federation with one run under way."""

    def __init__(self, federation: Federation, journal: Journal) -> None:
        self._federation, self._journal = federation, journal
        federation.serve()
        federation.launch(
            *("customer", "start", "samba", "--json", "--policy", "ucb"),
            *("--key-bits", str(KEY_BITS), "--budget", str(ROUNDS)),
        )
        while not journal.runs():
            time.sleep(0.05)
        self._run = journal.runs()[0].id
        self.after(self.seen())

    def seen(self) -> Status:
        """What the controller said last, once a second: its round, and when that was."""
        row = self._journal.find(self._run)
        if row is None or row.state != RUNNING:
            raise SystemExit(f"the run has ended: {row}")
        said = self._journal.statuses(self._run).get("controller")
        return NOTHING if said is None else msgspec.msgpack.decode(said, type=Status)

    def after(self, seen: Status, rounds: int = 1) -> Status:
        """The first word of the controller that is so many rounds later."""
        while (now := self.seen()).round < seen.round + rounds:
            time.sleep(0.02)
        return now

    def rate(self, seconds: float) -> float:
        first = self.after(self.seen())
        time.sleep(seconds)
        last = self.after(self.seen())
        return (last.round - first.round) / (last.time - first.time)

    def restart(self, name: str) -> float:
        """Seconds from the start of an owner that was killed until the run goes on."""
        self._federation.kill(name)
        time.sleep(2.0)
        seen, began = self.seen(), time.time()
        self._federation.launch(name, "serve")
        # The round that stood still, and some more.
        return self.after(seen, 2 * OWNERS).time - began


def windows(
    run: LongRun, port: tuple[str, int], rate: float, seconds: float, turns: int, *, speaks: bool
) -> Table:
    rates: dict[str, list[float]] = {NOBODY: [], ELSEWHERE: [], HERE: []}
    returns: dict[str, list[float]] = {where: [] for where in rates}
    opened: dict[str, list[float]] = {where: [] for where in rates}
    with unrelated() as elsewhere:
        places = {NOBODY: None, ELSEWHERE: elsewhere, HERE: port}
        for turn in range(turns):
            for where, place in places.items():
                at_work = None if place is None else Flood(place, rate, speaks=speaks)
                began = time.perf_counter()
                with at_work or nullcontext():
                    time.sleep(1.0)
                    rates[where].append(run.rate(seconds))
                    returns[where].append(run.restart(f"owner{turn % OWNERS}"))
                if at_work is not None:
                    opened[where].append(at_work.opened / (time.perf_counter() - began))
    table = Table(title=f"A run of {OWNERS} owners, and {rate:g} connections a second")
    for column in ("who is there", "opened/s", "rounds/s", "ratio", "an owner is back after s"):
        table.add_column(column, justify="left" if column.startswith("who") else "right")
    ratio = median(a / b for a, b in zip(rates[HERE], rates[ELSEWHERE], strict=True))
    longest = max(returns[HERE])
    for where, taken in rates.items():
        table.add_row(
            where,
            f"{median(opened[where]):.0f}" if opened[where] else "",
            f"{median(taken):.1f}",
            f"{ratio:.2f} (aim {AIM})" if where == HERE else "",
            f"{max(returns[where]):.1f}" + (f" (aim {RETURN_AIM:g})" if where == HERE else ""),
        )
    table.caption = (
        f"The ratio is {'within' if ratio >= AIM else 'below'} its aim, the return is "
        f"{'within' if longest <= RETURN_AIM else 'above'} its own."
    )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a minute, and less precise")
    parser.add_argument("--rate", type=float, default=RATE, help="connections a second")
    parser.add_argument(
        "--speaks", action="store_true", help="the stranger begins a TLS handshake, and stalls"
    )
    options = parser.parse_args()
    turns, seconds = (1, 5.0) if options.quick else (3, 10.0)
    with tempfile.TemporaryDirectory() as folder:
        made = Federation.make(Path(folder), OWNERS, ROUNDS)
        with closing(made), open_kit(made.kits["customer"]) as at:
            run = LongRun(made, at.journal)
            table = windows(
                run, hub_address(made), options.rate, seconds, turns, speaks=options.speaks
            )
    Console(width=max(120, Console().width)).print(table)


if __name__ == "__main__":
    main()
