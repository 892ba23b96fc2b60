"""Anything at all, through the same code as what comes from the network."""

import random
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lotor.core.errors import LotorError
from lotor.protocols.form import Contribution
from lotor.runtime.daemon.frames import Ask, Card, Open, Roster, Status, decode, encode
from lotor.runtime.daemon.node import Node
from lotor.runtime.durable.frames import Ack, Data, Join, RunFrame
from lotor.runtime.durable.journal import STOPPED
from runtime.daemon.stage import EVERYONE, Stage, play, unchanged

# A parser's words about a number that no certificate has, before it is refused.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Parsed a serial number:cryptography.utils.CryptographyDeprecationWarning"
)


def handled(node: Node, name: str, payload: bytes) -> None:
    try:
        node._handle(name, decode(payload, name))
    except LotorError as error:
        assert str(error)  # noqa: PT017


def test_random_bytes_and_random_changes_do_no_harm(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        table = made.live("controller", run).agreement
        seeds = [
            encode(frame)
            for frame in (
                Data(run, 3, 1, 1, b"payload"),
                Ack(run, 3, 1),
                Join(run, 1, 2, 3, 4, 5),
                Open(run, table.signed, table.signature),
                *made.live("controller", run).statuses.known.values(),
                Roster("", [Card(made.controller.kit.certificate.to_der(), Contribution(1))]),
                Ask(""),
            )
        ]
        dice = random.Random(5)
        with unchanged(made.controller):
            for _ in range(12_000):
                handled(made.controller, "graz", dice.randbytes(dice.randrange(60)))
            for _ in range(6_000):
                payload = bytearray(dice.choice(seeds))
                for _ in range(dice.randrange(1, 4)):
                    payload[dice.randrange(len(payload))] = dice.randrange(256)
                handled(made.controller, "graz", bytes(payload))
        made.release()
        await made.finishes(run)

    play(scene, tmp_path)


RUNS = st.sampled_from(["this", "", "00" * 16]) | st.text(max_size=5)
COUNTS = st.integers(0, 2**63 - 1) | st.integers(0, 9)
TEXT = st.text(max_size=20)
FRAMES = st.one_of(
    st.builds(Data, RUNS, COUNTS, COUNTS, COUNTS, st.binary(max_size=40)),
    st.builds(Ack, RUNS, COUNTS, COUNTS),
    st.builds(Join, RUNS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS),
    st.builds(Open, RUNS, st.binary(max_size=40), st.binary(max_size=64)),
    st.builds(
        Status,
        RUNS,
        st.sampled_from(EVERYONE) | TEXT,
        st.floats(),
        TEXT,
        TEXT,
        COUNTS,
        st.binary(max_size=64),
    ),
    st.builds(Ask, RUNS),
    st.builds(
        Roster,
        RUNS,
        st.lists(st.builds(Card, st.binary(max_size=40), st.builds(Contribution)), max_size=3),
    ),
)


@pytest.mark.parametrize("name", ["graz", "lyon", "customer"])
def test_any_frames_of_anybody_are_taken_or_refused(name: str, tmp_path: Path) -> None:
    """Those of members may well end the run, which others then can do again."""

    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)

        @settings(max_examples=300, database=None, suppress_health_check=list(HealthCheck))
        @given(FRAMES)
        def any_frame(frame: RunFrame) -> None:
            this = msgspec.structs.replace(frame, run=run) if frame.run == "this" else frame
            handled(made.controller, name, encode(this))

        any_frame()
        if name == "graz":
            made.release()
            await made.finishes(run)
            return
        for party in (*EVERYONE,):
            made.live(party, run).end(STOPPED, "over")
        made.release()
        await made.works()

    play(scene, tmp_path)
