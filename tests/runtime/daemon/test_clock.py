"""The machine's clock never calls too early, nor after it was told not to."""

import asyncio
import time

import pytest

from lotor.runtime.daemon.clock import EARLY, SystemClock


def test_an_alarm_rings_at_its_moment_or_after_it_and_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SystemClock()

    async def scenario() -> None:
        rung: list[tuple[float, float]] = []
        done = asyncio.Event()
        now = clock.now()
        moments = [now - 1, now, now + EARLY / 2, now + EARLY, now + 3 * EARLY, now + 5 * EARLY]

        def ring(moment: float) -> None:
            rung.append((moment, clock.now()))
            if moment == moments[-1]:
                done.set()

        with monkeypatch.context() as patch:
            # Clock and loop look at the time one after the other: a machine that lets neither run
            # in between would put off one alarm, and not the next.
            patch.setattr(time, "monotonic", lambda: now)
            for moment in moments:
                clock.call_at(moment, lambda moment=moment: ring(moment))  # type: ignore[misc]
            clock.call_at(now + 2 * EARLY, lambda: ring(0.0)).cancel()
        await done.wait()
        assert [moment for moment, _ in rung] == moments
        assert all(moment <= when for moment, when in rung)

    asyncio.run(scenario())
