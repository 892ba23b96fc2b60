"""LinUCB-DS, HELBA and PPCB on shares, every party a process: near, and far from the hub."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from linucb_instances import LINUCB, Instance
from processes import SEED, Runs, Taken, dial, hub_address
from rich.table import Table
from tables import table, verdict

import lotor
from lotor.environments.sources import MadeUpArms
from lotor.policies import to_text
from lotor.protocols.ppcb.demo import feature_parties
from lotor.sandbox import Federation

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from delay import FarAway, Weather
from surveys import survey_federation

MOST_ROUNDS = 3_000
MOST_STEPS = 1_797
FAR_SECONDS = 15.0
ROUND_TRIP, SHARE_AIM = 0.020, 0.6
MODULE = '''"""Contexts and rewards in memory: a decision that is asked again gets the same one."""

import json
from pathlib import Path

_rounds = json.loads((Path(__file__).parent / "table.json").read_text())


def features(decision):
    return _rounds[str(decision.round)]["contexts"]


def pull(decision):
    return _rounds[str(decision.round)]["rewards"][decision.arm]
'''


def survey(folder: Path, form: str) -> Federation:
    """LinUCB-DS with 50 arms in 5 dimensions."""
    arms = Instance(5, 50).arms()
    made_up = MadeUpArms(lotor.LinearArms, arms.vectors.tolist(), arms.theta.tolist(), 0.01)
    made = survey_federation(folder, lotor.LinUCBDS(form=form), made_up, seed=SEED)
    made.prepare()
    return made


def visits(folder: Path, form: str) -> Federation:
    """HELBA's toy problem, two arms in two dimensions; outcomes lie in memory."""
    made = Federation.of(folder, lotor.Helba(form=form), budget=MOST_ROUNDS, seed=SEED)
    made.prepare()
    for file in folder.glob("*/visits.py"):
        file.write_text(MODULE)
    return made


def digits(folder: Path, form: str) -> Federation:
    """PPCB's digits, 20 features at two owners and 10 arms."""
    arms = lotor.ContextualArms.digits()
    taken = lotor.ContextualArms(arms.contexts[:MOST_STEPS], arms.rewards[:MOST_STEPS])
    chosen = lotor.PPCB.form_called(form)
    helpers = ["dealer"] if form == "dealt" else []
    half = arms.d // 2
    cast = feature_parties(taken, {"north": half, "south": arms.d - half}, helpers=helpers)
    made = Federation(folder, chosen, cast, SEED)
    made.prepare()
    return made


@dataclass(frozen=True, slots=True)
class Played:
    """What is run, how fast it is to be near, and how many round trips a round takes."""

    title: str
    order: tuple[str, ...]
    form: str
    make: Callable[[Path, str], Federation]
    rate_aim: float | None = None
    round_trips: int | None = None

    @property
    def name(self) -> str:
        return f"{self.title}, {self.form}"

    @contextmanager
    def runs(self, distance: float = 0.0) -> Iterator[Runs]:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            made = self.make(folder, self.form)
            if distance:
                there = FarAway(hub_address(made), Weather(delay=distance / 2))
                dial(made, stack.enter_context(there).address)
            stack.enter_context(closing(made))
            yield Runs(made, (*self.order, "--form", self.form))


DIGITS, PPCB = "PPCB D=20 A=10", ("ppcb",)
MOVIES, LINUCB_DS = "LinUCB-DS d=5 K=50", ("linucb-ds", "--policy", to_text(LINUCB))
PLAYED = (
    Played(MOVIES, LINUCB_DS, "shared", survey, rate_aim=30, round_trips=1),
    Played(MOVIES, LINUCB_DS, "dealt", survey),
    Played("HELBA d=2 K=2", ("helba",), "shared", visits, rate_aim=60, round_trips=2),
    Played("HELBA d=2 K=2", ("helba",), "two-servers", visits, rate_aim=60, round_trips=3),
    # 24 flights between the servers, one after the other.
    Played(DIGITS, PPCB, "shared", digits, rate_aim=25, round_trips=12),
    Played(
        DIGITS + " garbled", (*PPCB, "--reciprocal", "garbled"), "shared", digits, round_trips=8
    ),
    Played(DIGITS, PPCB, "dealt", digits),
)


def near(turns: int, rounds: int) -> Table:
    made = table(
        "4. LinUCB-DS, HELBA and PPCB, every party a process on loopback",
        *("form", "rounds/s", "the rate", "CPU ms a round", "of that"),
    )
    for played in PLAYED:
        with played.runs() as runs:
            found = [runs.take(rounds) for _ in range(turns)]
        rate, aim = median(1 / each.seconds for each in found), played.rate_aim
        made.add_row(
            *(played.name, f"{rate:.0f}", "" if aim is None else verdict(rate, aim)),
            f"{median(each.total for each in found) / 1e3:.2f}",
            _by_role(found),
        )
    return made


def _by_role(found: list[Taken]) -> str:
    spent = {role: median(each.cpu[role] for each in found) / 1e3 for role in found[0].cpu}
    return ", ".join(f"{role} {ms:.2f}" for role, ms in spent.items() if ms >= 0.005)


def far(rounds: int) -> Table:
    """The rate at a distance, as a share of what the form's round trips allow."""
    made = table(
        f"5. The same, {ROUND_TRIP * 1e3:g} ms there and back, without loss",
        *("form", "round trips", "rounds/s", "they allow", "share", "the share"),
    )
    for played in PLAYED:
        if played.round_trips is None:
            continue
        allowed = 1 / (played.round_trips * ROUND_TRIP)
        with played.runs(ROUND_TRIP) as runs:
            rate = 1 / runs.take(min(rounds, round(FAR_SECONDS * allowed))).seconds
        made.add_row(
            *(played.name, str(played.round_trips), f"{rate:.1f}", f"{allowed:.1f}"),
            *(f"{rate / allowed:.0%}", verdict(rate / allowed, SHARE_AIM)),
        )
    return made
