"""One new estimate by one process and by several: wall, CPU and memory of each."""

from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np
from machine import Others
from rich.table import Table

import lotor
from lotor.core.fixed_point import RewardScale
from lotor.crypto.ckks import Ciphertext, Encrypted, EvaluationKeys, Evaluator, SecretKey
from lotor.protocols.helba.paper.helper_processes import HelperProcesses

AIM = 1.6
SCALE = RewardScale(-9, 9)


class Bench:
    """A server's keys and sums, for d = 5 and 5 arms."""

    def __init__(self) -> None:
        self.setting = lotor.Helba(form="paper").setting(
            "benchmark", budget=130, arms=5, d=5, scale=SCALE
        )
        parameters, circuit = self.setting.parameters, self.setting.circuit
        self.secret = SecretKey.generate(parameters)
        self.evaluation = self.secret.evaluation_keys(circuit.rotations)
        fingerprint = self.secret.fingerprint
        keys = EvaluationKeys.from_bytes(self.evaluation, parameters, fingerprint)
        self.evaluator = Evaluator(keys)
        ridge = [self.secret.public.encrypt(value) for value in self.setting.packing.ridge()]
        self.sums = tuple(Encrypted(self.evaluator, one) for one in ridge)
        values = np.linspace(-1, 1, parameters.slots)
        self.contexts = [self.secret.encrypt_to_bytes(values, *spot) for spot in circuit.spots]

    def tables(self) -> list[Encrypted]:
        parameters, key = self.setting.parameters, self.secret.fingerprint
        loaded = (Ciphertext.from_bytes(data, parameters, key) for data in self.contexts)
        return [Encrypted(self.evaluator, one) for one in loaded]

    def alone(self) -> None:
        """A new estimate and what is compared, by one process."""
        circuit = self.setting.circuit
        circuit.differences(circuit.estimate(self.sums, 130), self.tables(), 130, 130)

    def shared(self, helpers: HelperProcesses) -> None:
        helpers.renew(self.sums, 130)
        helpers.differences(self.contexts, self.tables)


def workers_table(counts: tuple[int, ...], turns: int) -> Table:
    bench = Bench()
    table = Table(
        title=f"A new estimate and one round's differences, d = 5, K = 5 (aim: 2 workers {AIM}x)"
    )
    headings = ("workers", "wall s", "faster", "own CPU s", "busiest helper", "faster by CPU")
    for heading in (*headings, "others meanwhile"):
        table.add_column(heading, justify="right")
    with Others() as others:
        walls, cpus = zip(*(_timed(bench.alone) for _ in range(turns)), strict=True)
    wall, cpu = min(walls), min(cpus)
    table.add_row("1", f"{wall:.1f}", "", f"{cpu:.1f}", "", "", others.text)
    for count in counts:
        table.add_row(str(count), *_row(bench, count, turns, wall, cpu))
    return table


def _row(bench: Bench, count: int, turns: int, wall: float, cpu: float) -> list[str]:
    helpers = HelperProcesses(bench.setting, bench.evaluator, bench.evaluation, count)
    try:
        helpers.take(bench.sums)
        found = []
        with Others(lambda: helpers.cpu_seconds) as others:
            for _ in range(turns):
                before = helpers.cpu_by_helper
                taken, own = _timed(lambda: bench.shared(helpers))
                after = zip(helpers.cpu_by_helper, before, strict=True)
                found.append((taken, own, max(a - b for a, b in after)))
    finally:
        helpers.close()
    fastest, own, helper = (min(column) for column in zip(*found, strict=True))
    return [
        f"{fastest:.1f}",
        f"{wall / fastest:.2f}x",
        f"{own:.1f}",
        f"{helper:.1f}",
        f"{cpu / max(own, helper):.2f}x",
        others.text,
    ]


def _timed(action: Callable[[], None]) -> tuple[float, float]:
    began, since = process_time(), perf_counter()
    action()
    return perf_counter() - since, process_time() - began
