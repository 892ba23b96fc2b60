"""What a round of HELBA costs on shares, with one server and with two, beside bare AES and plain.

All parties run in one process, messages included, and CPU time is counted for each. A run of two
rounds is taken away from a longer one, so that keys and base transfers do not count. Bare AES is
the blocks that garbling (8 an AND gate), evaluating (4) and products (3 a word) cannot do without,
in calls of 4096. Every run is held against plain, arm by arm.
"""

import argparse
from dataclasses import dataclass
from time import thread_time

from machine import Others
from rich.console import Console
from rich.table import Table

import lotor
from lotor.crypto.garbling import HashKeys, Purpose
from lotor.policies import BatchedOFUL

QUADRATIC = BatchedOFUL()
ROOT = BatchedOFUL(index="sqrt", width="union", eta=0.1)
# protocol, dimensions, arms, rounds
CASES = (
    (lotor.Helba(QUADRATIC), 2, 2, 130),
    (lotor.Helba(QUADRATIC), 2, 10, 60),
    (lotor.Helba(QUADRATIC), 5, 5, 60),
    (lotor.Helba(QUADRATIC), 10, 10, 16),
    (lotor.Helba(ROOT), 2, 2, 130),
    (lotor.Helba(ROOT), 5, 5, 20),
    (lotor.Helba(ROOT), 10, 10, 8),
    (lotor.Helba(QUADRATIC, servers=2), 2, 2, 130),
    (lotor.Helba(QUADRATIC, servers=2), 5, 5, 60),
    (lotor.Helba(QUADRATIC, servers=2), 10, 10, 16),
    (lotor.Helba(ROOT, servers=2), 2, 2, 130),
    (lotor.Helba(ROOT, servers=2), 5, 5, 20),
    (lotor.Helba(ROOT, servers=2), 10, 10, 8),
)
SERVERS = ("server", "pad-server")
SETTLED = 2
BLOCKS_AT_ONCE = 4096


@dataclass
class Measured:
    """Of one round: ms of CPU of users and servers, in plain and for bare AES, and kB sent."""

    users: float
    servers: float
    plain: float
    aes: float
    kilobytes: float


def measure(helba: lotor.Helba, d: int, k: int, rounds: int, seed: int) -> Measured:
    arms = lotor.LinearContexts.random(rounds, arms=k, d=d, seed=seed)
    short = lotor.run(helba, arms, budget=SETTLED, seed=seed)
    long = lotor.run(helba, arms, budget=rounds, seed=seed)
    plain = lotor.run(helba.plain(), arms, budget=rounds, seed=seed)
    assert long.agrees_with(plain)
    counted = rounds - SETTLED

    def spent(*, by_servers: bool) -> float:
        names = [name for name in long.parties if (name in SERVERS) == by_servers]
        more, less = (sum(one.parties[name].cpu_seconds for name in names) for one in (long, short))
        return 1e3 * (more - less) / counted

    done = {name: count / rounds for name, count in long.operations.items()}
    blocks = 12 * done["garbled_and_gates"] + 3 * done["product_words"]
    return Measured(
        spent(by_servers=False),
        spent(by_servers=True),
        1e3 * plain.cpu_seconds / rounds,
        bare_aes(int(blocks)),
        (long.bytes_sent - short.bytes_sent) / counted / 1e3,
    )


def bare_aes(count: int) -> float:
    """Ms of CPU for so many blocks."""
    encrypt = HashKeys(bytes(32)).of(0, 0, Purpose.PRODUCTS).encrypt
    blocks, room = bytearray(16 * BLOCKS_AT_ONCE), bytearray(16 * BLOCKS_AT_ONCE + 15)
    whole, rest = divmod(count, BLOCKS_AT_ONCE)
    began = thread_time()
    for size in [BLOCKS_AT_ONCE] * whole + [rest]:
        encrypt(memoryview(blocks)[: 16 * size], memoryview(room)[: 16 * size + 15])
    return 1e3 * (thread_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="some seconds, and less precise")
    options = parser.parse_args()
    table = Table(title="A round of HELBA on shares, ms of CPU", title_justify="left")
    for column in ("form", "index", "d", "K", "users", "servers", "plain", "AES", "ratio", "kB"):
        table.add_column(column, justify="right", no_wrap=True)
    with Others() as others:
        for helba, d, k, rounds in CASES:
            tries = range(1 if options.quick else 5)
            found = [measure(helba, d, k, rounds, seed) for seed in tries]
            least = min(found, key=lambda one: one.users + one.servers)
            both = least.users + least.servers
            times = (least.users, least.servers, least.plain, least.aes)
            table.add_row(
                *(helba.form, helba.policy.index, str(d), str(k)),
                *(f"{each:.2f}" for each in times),
                *(f"{both / least.aes:.1f}", f"{least.kilobytes:,.0f}"),
            )
    console = Console(width=120)
    console.print(table)
    console.print("Ratio: users and servers together, to bare AES.")
    console.print(f"Others used {others.text}.")


if __name__ == "__main__":
    main()
