"""Sweeps on a Ray cluster of two nodes on this machine, whose processes are killed meanwhile."""

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lotor
from lotor.core.errors import InputError, StudyError
from lotor.protocols.cell import Outcome, RunCell, Task, TaskCell
from lotor.studies import cluster as cluster_module
from lotor.studies.sweep import sweep

pytestmark = [
    pytest.mark.long,
    # Ray's own, in its shutdown and its imports.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LOOPBACK = "127.0.0.1"
NODE: dict[str, Any] = {
    "num_cpus": 1,
    "node_ip_address": LOOPBACK,
    "object_store_memory": 80 * 2**20,
}
ARMS = lotor.BernoulliArms([0.9, 0.1])


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # Ray takes 127.0.0.1 for the machine's outer address unless this says it has none.
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        # Processes of the nodes find the classes of this file.
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[2]), prepend=os.pathsep)
        pytest.importorskip("ray")
        patch.setattr("ray._private.ray_constants.ENABLE_RAY_CLUSTER", False)
        from ray.cluster_utils import Cluster  # noqa: PLC0415

        head = {**NODE, "include_dashboard": False}
        found: Any = Cluster(initialize_head=True, head_node_args=head)
        found.add_node(**NODE)
        found.wait_for_nodes()
        yield found
        found.shutdown()


@dataclass(frozen=True)
class KillsOnce:
    """Arms that kill the process of the first run that begins after the file appears."""

    file: Path
    means: tuple[float, ...] = (0.9, 0.1)

    @property
    def k(self) -> int:
        return 2

    @property
    def reward_range(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def start(self, seed: int) -> Callable[[lotor.Decision], float]:
        try:
            self.file.rename(self.file.with_suffix(".done"))
        except FileNotFoundError:
            return lotor.BernoulliArms(self.means).start(seed)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


@dataclass(frozen=True)
class Fatal(Task):
    """Kills every process that tries it."""

    def measure(self) -> dict[str, float]:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


def cells(count: int, environment: Any = ARMS) -> list[RunCell]:
    return [
        RunCell({"seed": seed}, lotor.UCB(), environment, 5, seed, at=(2, 4))
        for seed in range(count)
    ]


def told(outcomes: list[Outcome]) -> list[object]:
    return [(one.labels, one.figures["reward"], one.at, one.rewards) for one in outcomes]


def test_a_comparison_is_complete_and_the_same_after_a_killed_worker(
    nodes: Any, tmp_path: Path
) -> None:
    order = tmp_path / "kill"
    policies = [lotor.UCB(), lotor.ThompsonSampling()]

    def kill_one(done: int, total: int) -> None:
        if done == 30:
            order.touch()

    found = lotor.compare(
        policies,
        KillsOnce(order),
        20,
        seeds=range(50),
        cluster=nodes.address,
        progress=kill_one,
    ).to_frame("pandas")
    assert order.with_suffix(".done").exists()
    serial = lotor.compare(policies, KillsOnce(order), 20, seeds=range(50), workers=1)
    for name in ("protocol", "runs", "reward", "reward_sd", "reward_low", "reward_high"):
        assert found[name].tolist() == serial.to_frame("pandas")[name].tolist()


def test_1000_cells_interrupted_twice_equal_those_that_were_not(nodes: Any, tmp_path: Path) -> None:
    for after in (300, 700):

        def interrupt(done: int, total: int, after: int = after) -> None:
            if done >= after:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            sweep(cells(1000), kept=tmp_path, cluster=nodes.address, progress=interrupt)
        assert len(list(tmp_path.iterdir())) == after
    found = sweep(cells(1000), kept=tmp_path, cluster=nodes.address)
    assert told(found) == told(sweep(cells(1000), workers=1))


def test_errors_of_cells_are_those_of_this_machine(nodes: Any) -> None:
    few = [RunCell({"seed": 1}, lotor.UCB(), ARMS, 1, 1)]
    with pytest.raises(InputError, match=r"^\(seed 1\): .*budget") as raised:
        sweep(few, cluster=nodes.address)
    assert type(raised.value) is InputError


def test_a_cell_that_kills_each_process_ends_the_sweep(
    nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "RETRIES", 1)
    with pytest.raises(StudyError, match="the cluster lost a cell 2 times"):
        sweep([TaskCell({"n": 1}, Fatal())], cluster=nodes.address)


def test_a_node_of_another_version_is_refused(nodes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "VERSION", "0.0.0")
    with pytest.raises(StudyError, match=r"and this machine 0\.0\.0: install the same version"):
        sweep(cells(1), cluster=nodes.address)


def test_a_sweep_survives_the_loss_of_a_node(nodes: Any) -> None:
    lost = nodes.add_node(**NODE)
    nodes.wait_for_nodes()

    def lose(done: int, total: int) -> None:
        if done == 20:
            nodes.remove_node(lost, allow_graceful=False)

    found = sweep(cells(100), cluster=nodes.address, progress=lose)
    assert told(found) == told(sweep(cells(100), workers=1))
