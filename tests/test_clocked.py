"""The clock of the benchmarks leaves nothing of a run out, and its pauses do not count."""

import sys
from pathlib import Path
from time import thread_time

import pytest

import lotor

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
import clocked

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")


def test_threads_and_worker_processes_count_and_pauses_do_not() -> None:
    paused: list[float] = []

    def pause() -> None:
        began = thread_time()
        sum(range(100_000))
        paused.append(thread_time() - began)

    arms = lotor.LinearArms([[1, 0], [0, 1], [0.7, 0.7]], theta=[0.8, 0.3])
    protocol = lotor.LinUCBDS(form="paper", insecure_key_bits=512, workers=2)
    began = clocked.Clocks.read()
    costs = clocked.run(protocol, arms, 20, [pause] * 30)
    ended = clocked.Clocks.read()
    assert len(paused) == 30
    assert costs.rounds == 19
    assert costs.workers > 0
    parts = costs.principal + costs.comp + costs.prepared + costs.pool + costs.workers
    everything = ended.process - began.process + ended.children - began.children
    assert parts <= costs.total <= everything - sum(paused)
