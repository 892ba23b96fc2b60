"""A server with helpers decides as one without, after crashes too, and leaves no process."""

import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import lotor
from helpers import run_openly
from lotor.core.errors import CryptoError, InputError
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.paper.estimators import DividedEstimator
from lotor.protocols.helba.paper.server import HelbaServer
from lotor.protocols.party import Party
from protocols.helba.stage import setting_of, small, some_contexts
from restarting import Restarting

# The published form, which takes its time; what `make test` runs covers its common case.
pytestmark = pytest.mark.long

ROUNDS = 4
CONTEXTS = some_contexts(3, rounds=ROUNDS, arms=2, d=3)


def children() -> set[str]:
    gc.collect()
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def shared(eta: float = 0.5) -> lotor.Helba:
    return small(BatchedOFUL(eta=eta), stages=2, noise_bits=12, workers=2)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts processes by /proc")
def test_a_run_equals_plain_and_leaves_no_process() -> None:
    before = children()
    helba = shared(eta=0.0)
    secure = lotor.run(helba, CONTEXTS, budget=ROUNDS, seed=1)
    plain = lotor.run(helba.plain(), CONTEXTS, budget=ROUNDS, seed=1)
    assert secure.arms == plain.arms
    assert secure.reward == plain.reward
    assert secure.options["workers"] == 2
    assert secure.parties["server"].cpu_seconds > 0
    alone = lotor.run(small(stages=2, noise_bits=12), CONTEXTS, budget=ROUNDS, seed=1)
    # Each part relinearises its own share of h.
    for operation in ("ckks_multiply", "ckks_rescale"):
        assert secure.operations[operation] >= alone.operations[operation]
    assert children() <= before


def test_restarted_equals_uninterrupted() -> None:
    """Within batches too."""
    wrapped: list[Restarting] = []

    def wrap(name: str, party: Party) -> Party:
        if not isinstance(party, HelbaServer):
            return party
        assert isinstance(party._estimator, DividedEstimator)

        def rebuild(snapshot: bytes) -> Party:
            return HelbaServer(party._setting, party._state.store, workers=2, snapshot=snapshot)

        wrapped.append(Restarting(party, rebuild, 29))
        return wrapped[-1]

    smooth = run_openly(shared(), CONTEXTS, budget=ROUNDS, seed=6)
    broken = run_openly(shared(), CONTEXTS, budget=ROUNDS, seed=6, wrap=wrap)
    assert wrapped[0].restarts > 1
    assert broken.arms == smooth.arms
    assert broken.seats["user"].output == smooth.seats["user"].output


def test_a_helper_that_is_killed_ends_the_run_with_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learn: Callable[[DividedEstimator, int], None] = DividedEstimator.learn

    def killing(self: DividedEstimator, t: int) -> None:
        self._helpers._processes._processes[0].kill()
        learn(self, t)

    monkeypatch.setattr(DividedEstimator, "learn", killing)
    with pytest.raises(CryptoError, match="a worker process has ended"):
        lotor.run(shared(), CONTEXTS, budget=ROUNDS, seed=1)


def test_what_cannot_be_shared_is_refused_before_the_run() -> None:
    toy = lotor.LinearContexts.toy(2, seed=1)
    with pytest.raises(InputError, match="Take workers=1"):
        lotor.run(small(workers=2), toy, budget=2, seed=1)
    setting = setting_of(small(BatchedOFUL(index="sqrt", C=1, eta=1)), rounds=2, arms=2, d=2)
    with pytest.raises(InputError, match="Take workers=1"):
        HelbaServer(setting, store=None, workers=2)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="workers is -1"):
        lotor.Helba(workers=-1, form="paper")
    with pytest.raises(InputError, match=r"workers is 2\.5"):
        lotor.Helba(workers=2.5, form="paper")  # type: ignore[arg-type]
    assert lotor.Helba(workers=0, form="paper").options() == lotor.Helba(form="paper").options()
