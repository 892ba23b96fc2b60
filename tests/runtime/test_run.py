import asyncio
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import lotor
from lotor.core.draws import Draws
from lotor.core.errors import FormatError, InputError, LotorError, PullError
from lotor.policies import ArmStates, Policy
from lotor.transport import MemoryTransport

ARMS = lotor.BernoulliArms([0.9, 0.1])


@pytest.mark.parametrize("budget", [1, 0, -5, 2**40])
def test_budgets_that_do_not_fit(budget: int) -> None:
    with pytest.raises(InputError, match="budget"):
        lotor.run(lotor.UCB(), ARMS, budget=budget)


@pytest.mark.parametrize("name", ["budget", "seed"])
@pytest.mark.parametrize("value", [2.5, "10", True])
def test_numbers_that_are_not_whole(name: str, value: object) -> None:
    arguments = {"budget": 10, "seed": 1, name: value}
    with pytest.raises(InputError, match=f"{name} is a whole number"):
        lotor.run(lotor.UCB(), ARMS, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", [lotor.UCB, lotor.Samba, "ucb", None])
def test_what_is_no_protocol(protocol: Any) -> None:
    with pytest.raises(InputError, match="run takes a protocol or a policy"):
        lotor.run(protocol, ARMS, budget=10)


@pytest.mark.parametrize("environment", [[0.5, 0.4], lotor.BernoulliArms, None])
def test_what_is_no_environment(environment: Any) -> None:
    with pytest.raises(InputError, match="run takes an environment"):
        lotor.run(lotor.UCB(), environment, budget=10)


@pytest.mark.parametrize(
    "reward_range", [(1.0, 0.0), (0.0, 0.0), (-1e308, 1e308), (0.0, float("nan")), ("low", "high")]
)
def test_ranges_that_are_none(reward_range: Any) -> None:
    with pytest.raises(InputError, match="reward_range"):
        lotor.CallbackArms([lambda _: 0.0], reward_range=reward_range)


@dataclass
class Odd:
    """An environment of the user's own that is none."""

    k: Any = 2
    reward_range: Any = (0.0, 1.0)

    def start(self, seed: int) -> Callable[[lotor.Decision], float]:
        return lambda _: 0.0


@pytest.mark.parametrize(
    "environment",
    [
        Odd(k=0),
        Odd(k=-1),
        Odd(k=2.0),
        Odd(k=None),
        Odd(reward_range=5),
        Odd(reward_range=None),
        Odd(reward_range=(0, 1, 2)),
        Odd(reward_range=(0, 10**400)),
    ],
    ids=str,
)
def test_environments_that_make_no_sense(environment: Odd) -> None:
    with pytest.raises(InputError):
        lotor.run(lotor.UCB(), environment, budget=5)


def test_numpy_numbers_are_whole_numbers() -> None:
    result = lotor.run(lotor.UCB(), ARMS, budget=np.int64(9), seed=np.int64(1))
    assert (result.budget, result.seed) == (9, 1)


@dataclass(frozen=True)
class Broken(Policy):
    """A policy that keeps no promise."""

    answer: Any = None

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Any:
        return self.answer


@dataclass(frozen=True)
class NoIterations(Broken):
    iterations: ClassVar[int] = 0


@pytest.mark.parametrize(
    "policy",
    [
        Broken(),
        Broken([0.1, 0.2]),
        Broken(np.array(["a", "b"])),
        NoIterations(),
        lotor.EpsilonGreedy(lambda _: None),  # type: ignore[arg-type,return-value]
    ],
)
def test_policies_that_make_no_sense(policy: Policy) -> None:
    with pytest.raises(InputError):
        lotor.run(policy, ARMS, budget=5)


def test_the_least_budget_pulls_each_arm_once() -> None:
    result = lotor.run(lotor.Samba(form="paper", key_bits=2048), ARMS, budget=2, seed=1)
    assert result.arms == [0, 1]


@pytest.mark.parametrize("bad", [float("nan"), 1.5, -0.1, "1", None, float("inf")])
def test_bad_rewards_name_the_decision_and_hide_the_value(bad: object) -> None:
    arms = lotor.CallbackArms([lambda _: 0.5, lambda _: bad])  # type: ignore[list-item,return-value]
    with pytest.raises(PullError, match=r"arm 1 in round 2 did not answer .*reward_range") as error:
        lotor.run(lotor.UCB(), arms, budget=5)
    assert repr(bad) not in str(error.value).replace("(0.0, 1.0)", "")


def test_a_failing_pull_names_the_decision() -> None:
    def broken(decision: lotor.Decision) -> float:
        raise OSError("table is locked")

    with pytest.raises(PullError, match=r"arm 0 in round 1 failed \(OSError; decision ") as error:
        lotor.run(lotor.UCB(), lotor.CallbackArms([broken]), budget=3)
    assert isinstance(error.value.__cause__, OSError)


def rewards(kind: type) -> Callable[[lotor.Decision], float]:
    return lambda decision: kind(decision.round % 2)


@pytest.mark.parametrize("kind", [int, bool, np.float64, np.int64, np.float32])
def test_any_kind_of_number_is_a_reward(kind: type) -> None:
    result = lotor.run(lotor.UCB(), lotor.CallbackArms([rewards(kind)]), budget=9)
    assert result.reward == 5.0


async def slow_pull(decision: lotor.Decision) -> float:
    await asyncio.sleep(0)
    return 1.0


def test_async_pulls() -> None:
    arms = lotor.CallbackArms([slow_pull, lambda _: 0.0])
    result = lotor.run(lotor.UCB(), arms, budget=20, seed=1)
    assert result.arms is not None
    assert result.reward == result.arms.count(0)


ENDLESS = """
import asyncio, os, signal, lotor

async def endless(decision):
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(3600)

try:
    lotor.run(lotor.UCB(), lotor.CallbackArms([endless]), budget=5)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_does_not_wait_for_a_pull() -> None:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "interrupted\n", done.stderr


def test_async_pulls_inside_a_running_loop() -> None:
    """As in a notebook."""

    async def notebook() -> float:
        return lotor.run(lotor.UCB(), lotor.CallbackArms([slow_pull]), budget=7).reward

    assert asyncio.run(notebook()) == 7.0


def test_results_round_trip_through_json() -> None:
    result = lotor.run(lotor.Samba(form="paper", key_bits=2048), ARMS, budget=10, seed=1)
    assert lotor.Result.from_json(result.to_json()) == result
    assert result.version == lotor.__version__
    assert result.options["key_bits"] == 2048
    with pytest.raises(FormatError, match="not the JSON of a result"):
        lotor.Result.from_json("{}")


def test_costs_of_each_party() -> None:
    result = lotor.run(lotor.Samba(form="paper", key_bits=2048, owners=2), ARMS, budget=10, seed=1)
    assert list(result.parties) == ["customer", "controller", "comp", "owner-1", "owner-2"]
    assert all(cost.cpu_seconds >= 0 for cost in result.parties.values())
    assert result.parties["owner-1"].messages_sent > 8
    assert result.bytes_sent == sum(cost.bytes_sent for cost in result.parties.values())


def test_without_a_trajectory() -> None:
    assert lotor.run(lotor.UCB(), ARMS, budget=10, trajectory=False).arms is None


@pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")
@pytest.mark.parametrize(
    "protocol",
    [lotor.UCB(), lotor.Samba(lotor.Pursuit(), form="paper", insecure_key_bits=128)],
    ids=repr,
)
def test_memory_does_not_grow_with_the_budget(protocol: Any) -> None:
    def peak(budget: int) -> int:
        tracemalloc.start()
        lotor.run(protocol, ARMS, budget=budget, seed=1, trajectory=False)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(200)  # whatever is kept once, such as decoders
    # Less than a byte a round; what is kept once, in a longer run, shows the first time only.
    assert any(peak(4000) - peak(2000) < 2000 for _ in range(5))


def test_progress_is_reported_to_the_end() -> None:
    reports: list[tuple[int, int]] = []
    lotor.run(lotor.UCB(), ARMS, budget=1000, progress=lambda *at: reports.append(at))
    assert reports[-1] == (1000, 1000)
    assert len(reports) == 200


def test_every_deliberate_error_is_a_lotor_error() -> None:
    assert issubclass(PullError, LotorError)
    assert issubclass(InputError, ValueError)


def test_decisions_are_named() -> None:
    seen: list[lotor.Decision] = []

    def pull(decision: lotor.Decision) -> float:
        seen.append(decision)
        return 1.0

    result = lotor.run(lotor.UCB(), lotor.CallbackArms([pull, pull]), budget=6)
    assert [decision.round for decision in seen] == [1, 2, 3, 4, 5, 6]
    assert {decision.run for decision in seen} == {result.run}
    assert len({decision.id for decision in seen}) == 6
    assert seen[0].id == f"{result.run}/0/1"


class CountingTransport(MemoryTransport):
    """A transport of somebody's own."""

    def __init__(self) -> None:
        super().__init__()
        self.links: Counter[tuple[str, str]] = Counter()

    def send(self, sender: str, to: str, payload: bytes) -> None:
        self.links[sender, to] += 1
        super().send(sender, to, payload)


@pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")
def test_a_run_takes_a_transport_of_ones_own() -> None:
    arms = lotor.BernoulliArms([0.9, 0.5, 0.1])
    samba, transport = (
        lotor.Samba(form="paper", insecure_key_bits=128, owners=2),
        CountingTransport(),
    )
    result = lotor.run(samba, arms, budget=20, seed=7, transport=transport)
    assert result.agrees_with(lotor.run(samba.plain(), arms, budget=20, seed=7))
    assert sum(transport.links.values()) == sum(
        one.messages_sent for one in result.parties.values()
    )
    assert all("controller" in link for link in transport.links)
