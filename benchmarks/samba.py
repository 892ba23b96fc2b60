"""What SAMBA costs here: ratios from one run, in CPU time.

A machine's speed drifts, so what is compared runs in alternation, the yardstick before and after
each run, and the least and the median ratio are shown. Nothing fails: a limit is only named.
"""

import argparse
import gc
import os
import tracemalloc
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import repeat
from statistics import median
from time import process_time
from typing import Literal, TypeAlias

import paper_samba
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from measure import Effort, Progress, Timed, alternate, milliseconds, per_round, ratios
from phe import paillier
from rich.console import Console
from rich.table import Table
from tables import table

import lotor
from lotor.crypto.aead import NONCE_BYTES
from lotor.crypto.paillier import Ciphertext, InsecureKeyWarning, generate_keypair
from lotor.environments import lookalike
from lotor.policies import Policy
from lotor.protocols.samba.paper.mask import WIDTH
from lotor.protocols.samba.paper.wire import BIT_WIDTH, POSITION_WIDTH, Bindings
from lotor.protocols.samba.wire import place_of

ARMS = "movielens-like"
EPSILON = 0.1
PAPER_BUDGET = 100_000
Selection: TypeAlias = Literal["bits", "position"]

FULL = Effort(
    alternations=10,
    seconds=0.25,
    plain_rounds=PAPER_BUDGET,
    plain_repeats=3,
    keys=5,
    memory_rounds=4_000,
)
QUICK = Effort(
    alternations=3,
    seconds=0.06,
    plain_rounds=PAPER_BUDGET,
    plain_repeats=1,
    keys=1,
    memory_rounds=2_000,
)


def lotor_rounds(protocol: lotor.Samba | Policy, k: int) -> Timed:
    arms = lookalike(ARMS, k)

    def start(budget: int, progress: Progress) -> None:
        lotor.run(protocol, arms, budget=budget, seed=7, trajectory=False, progress=progress)

    return lambda rounds: per_round(k, rounds, start)


def paper_rounds(algorithm: paper_samba.Algorithm, k: int) -> Timed:
    means = lookalike(ARMS, k).means

    def start(budget: int, progress: Progress) -> None:
        paper_samba.run(algorithm, means, budget=budget, key_bits=0, progress=progress)

    return lambda rounds: per_round(k, rounds, start)


def bare_rounds(k: int, policy: Policy, selection: Selection) -> Timed:
    """Only the AES-GCM calls of a round, of the same widths, on nonces made beforehand."""
    cipher = AESGCM(os.urandom(32))
    bindings, place = Bindings("0" * 32), place_of(1, 1)
    nonces = [os.urandom(NONCE_BYTES) for _ in range(k)]
    answers, width = (k, BIT_WIDTH) if selection == "bits" else (1, POSITION_WIDTH)
    batches = []
    for count, size, bound in (
        (k, WIDTH, bindings.to_comp(place)),
        (answers, width, bindings.to_owner(place)),
    ):
        plain = [os.urandom(size) for _ in range(count)]
        sealed = [cipher.encrypt(n, p, bound) for n, p in zip(nonces, plain, strict=False)]
        batches.append((plain, sealed, bound))

    def timed(rounds: int) -> float:
        began = process_time()
        for _ in range(rounds * policy.iterations):
            for plain, sealed, bound in batches:
                deque(map(cipher.encrypt, nonces, plain, repeat(bound)), maxlen=0)
                deque(map(cipher.decrypt, nonces, sealed, repeat(bound)), maxlen=0)
        return (process_time() - began) / rounds * 1e6

    return timed


def show(least: float, middle: float, digits: int = 2) -> tuple[str, str]:
    return f"{least:.{digits}f}", f"{middle:.{digits}f}"


def verdict(middle: float, limit: float | None) -> str:
    if limit is None:
        return ""
    return f"{'within' if middle <= limit else 'above'} the limit of {limit:g}"


def samba(policy: Policy, selection: Selection = "bits", owners: int = 1) -> lotor.Samba:
    """With a small key, since Paillier is measured apart."""
    return lotor.Samba(
        policy, form="paper", insecure_key_bits=256, selection=selection, owners=owners
    )


def secure_rounds(effort: Effort) -> Table:
    made = table(
        "1. A secure round against its bare AES-GCM calls (one process, one owner)",
        *("policy", "selection", "K", "calls", "calls µs", "round µs"),
        *("least ratio", "median", "the median is"),
    )
    limits = {10: 4.0, 100: 2.2}
    forms: Sequence[tuple[Policy, Selection, bool]] = (
        (lotor.UCB(), "bits", True),
        (lotor.UCB(), "position", False),
        (lotor.ThompsonSampling(), "bits", False),
        (lotor.Pursuit(), "bits", False),
    )
    for policy, selection, limited in forms:
        for k in (10, 100):
            limit = limits[k] if limited else None
            floor, (taken,) = alternate(
                bare_rounds(k, policy, selection),
                [lotor_rounds(samba(policy, selection), k)],
                effort,
            )
            ratio = ratios(taken, floor)
            calls = policy.iterations * (4 * k if selection == "bits" else 2 * k + 2)
            made.add_row(
                *(type(policy).__name__, selection, str(k), str(calls)),
                *(f"{min(floor):.1f}", f"{min(taken):.1f}"),
                *show(min(ratio), median(ratio)),
                verdict(median(ratio), limit),
            )
    return made


def plain_rounds(effort: Effort) -> Table:
    rounds = effort.plain_rounds
    made = table(
        f"2. A plain round, K = 100, N = {rounds}",
        *("policy", "least µs", "median", "the median is"),
    )
    policies: Sequence[tuple[Policy, float]] = (
        (lotor.UCB(), 15.0),
        (lotor.ThompsonSampling(), 150.0),
    )
    for policy, limit in policies:
        timed = lotor_rounds(policy, 100)
        timed(1000)
        repeats = effort.plain_repeats * (3 if limit < 100 else 1)
        taken = [timed(rounds - 100) for _ in range(repeats)]
        made.add_row(
            type(policy).__name__,
            *show(min(taken), median(taken), 1),
            verdict(median(taken), limit),
        )
    return made


def against_the_paper(effort: Effort) -> Table:
    made = table(
        "3. Secure Lotor against the paper's pseudo-code: a round, the ratio paper / Lotor, and "
        f"the whole run of N = {PAPER_BUDGET}",
        *("policy", "K", "Lotor µs", "paper µs", "least ratio", "median"),
        *("Lotor s", "paper s"),
    )
    forms: Sequence[tuple[Policy, bool, dict[str, paper_samba.Algorithm]]] = (
        (lotor.UCB(), False, {"UCB": paper_samba.UCB}),
        (lotor.UCB(), True, {"UCB, K owners": paper_samba.UCB}),
        (
            lotor.EpsilonGreedy(EPSILON),
            False,
            {
                "epsilon-greedy": paper_samba.epsilon_greedy(EPSILON, shortcut=False),
                "  paper with shortcut": paper_samba.epsilon_greedy(EPSILON, shortcut=True),
            },
        ),
    )
    own, phe = own_paillier(2048, effort.keys), phe_paillier(2048, effort.keys)
    for policy, spread, algorithms in forms:
        for k in (10, 100):
            papers = [paper_rounds(algorithm, k) for algorithm in algorithms.values()]
            secure = samba(policy, owners=k if spread else 1)
            ours, taken = alternate(lotor_rounds(secure, k), papers, effort)
            for name, times in zip(algorithms, taken, strict=True):
                ratio = ratios(times, ours)
                made.add_row(
                    *(name, str(k), f"{min(ours):.1f}", f"{min(times):.1f}"),
                    *show(min(ratio), median(ratio)),
                    f"{whole_run(median(ours), k, own):.1f}",
                    f"{whole_run(median(times), k, phe):.1f}",
                )
    return made


def whole_run(round_us: float, k: int, paillier_ms: tuple[float, float, float]) -> float:
    """Seconds of the paper's longest run: rounds, key, K encryptions and one decryption."""
    keygen, encrypt, decrypt = paillier_ms
    return round_us * 1e-6 * (PAPER_BUDGET - k) + (keygen + k * encrypt + decrypt) * 1e-3


def own_paillier(bits: int, keys: int) -> tuple[float, float, float]:
    """ms to make a key, to encrypt and send, to read and decrypt."""
    key = generate_keypair(bits)
    data = key.public.encrypt(1 << 40).to_bytes()
    return (
        milliseconds(lambda: generate_keypair(bits), keys),
        milliseconds(lambda: key.public.encrypt(1 << 40).to_bytes(), 5 * keys),
        milliseconds(lambda: key.decrypt(Ciphertext.from_bytes(data, key.public)), 5 * keys),
    )


def phe_paillier(bits: int, keys: int) -> tuple[float, float, float]:
    public, private = paillier.generate_paillier_keypair(n_length=bits)
    sealed = public.encrypt(1.0)
    return (
        milliseconds(lambda: paillier.generate_paillier_keypair(n_length=bits), keys),
        milliseconds(lambda: public.encrypt(1.0).ciphertext(), 5 * keys),
        milliseconds(lambda: private.decrypt(sealed), 5 * keys),
    )


def paillier_costs(effort: Effort) -> Table:
    made = table("4. Paillier, ms", "library, bits", "make a key", "encrypt", "decrypt")
    for bits in (2048, 3072):
        for name, cost in (("Lotor", own_paillier), ("phe", phe_paillier)):
            made.add_row(f"{name}, {bits}", *(f"{ms:.1f}" for ms in cost(bits, effort.keys)))
    return made


def memory(effort: Effort) -> Table:
    n, arms = effort.memory_rounds, lookalike(ARMS, 10)
    made = table(
        f"5. Memory: 4N rounds against N = {n}, K = 10, no trajectory",
        *("protocol", "peak KiB, N", "peak KiB, 4N", "bytes a round"),
    )
    protocols: dict[str, lotor.Samba | Policy] = {
        "plain UCB": lotor.UCB(),
        "secure UCB": samba(lotor.UCB()),
    }
    for name, protocol in protocols.items():
        lotor.run(protocol, arms, budget=n, seed=7, trajectory=False)
        peaks = []
        for budget in (n, 4 * n):
            gc.collect()
            tracemalloc.start()
            lotor.run(protocol, arms, budget=budget, seed=7, trajectory=False)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        growth = (peaks[1] - peaks[0]) / (3 * n)
        made.add_row(
            name, *(f"{peak / 1024:.0f}" for peak in peaks), f"{round(growth, 2) + 0.0:.2f}"
        )
    return made


def tables(effort: Effort) -> Iterator[Table]:
    for section in (secure_rounds, plain_rounds, against_the_paper, paillier_costs, memory):
        yield section(effort)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="half a minute, and less precise")
    effort = QUICK if parser.parse_args().quick else FULL
    warnings.simplefilter("ignore", InsecureKeyWarning)
    console = Console(width=max(120, Console().width))
    for made in tables(effort):
        console.print(made)


if __name__ == "__main__":
    main()
