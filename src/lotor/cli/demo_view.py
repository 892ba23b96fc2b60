"""What `lotor demo` shows while it runs (stderr) and afterwards (stdout)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from lotor.cli.show import small_table
from lotor.sandbox.watch import AWAY, CONNECTED, FINISHED, STARTING

COLOURS = {STARTING: "yellow", CONNECTED: "green", AWAY: "bold red", FINISHED: "cyan"}
MANY = 8
PARTS = 10


@dataclass(frozen=True, slots=True)
class Scene:
    """A moment of the demo."""

    stage: str
    states: Mapping[str, str]
    round: int = 0
    rate: float = 0.0
    kills: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PartyReport:
    """What one party spent."""

    role: str
    cpu_seconds: float
    messages_sent: int
    bytes_sent: int
    starts: int


class DemoView:
    """A live picture on a terminal, else a line now and then."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, transient=True, auto_refresh=False)
        self._stage = ""
        self._kills = self._part = 0

    def __enter__(self) -> "DemoView":
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def show(self, scene: Scene) -> None:
        if self._console.is_terminal:
            self._live.update(self._picture(scene), refresh=True)
        else:
            self._lines(scene)

    def _lines(self, scene: Scene) -> None:
        if scene.stage != self._stage:
            self._stage = scene.stage
            self._say(scene.stage)
        for number, name in enumerate(scene.kills[self._kills :], self._kills + 1):
            self._say(f"round {scene.round}: killed {name} (kill {number})")
        self._kills = len(scene.kills)
        part = PARTS * scene.round // self._budget
        if part != self._part:
            self._part = part
            self._say(f"round {scene.round} of {self._budget}, {pace(scene.rate)}")

    def _say(self, text: str) -> None:
        self._console.print(text, highlight=False, soft_wrap=True)

    def _picture(self, scene: Scene) -> Group:
        bar = Table.grid(padding=(0, 1))
        bar.add_row(
            ProgressBar(total=self._budget, completed=scene.round, width=32),
            f"round {scene.round} of {self._budget}",
            pace(scene.rate) if scene.rate else "",
            f"[bold red]{len(scene.kills)} killed[/bold red]" if scene.kills else "",
        )
        return Group(Text(scene.stage), bar, self._parties(scene))

    @staticmethod
    def _parties(scene: Scene) -> Table:
        killed = Counter(scene.kills)
        columns = 1 if len(scene.states) <= MANY else 3
        grid = Table.grid(padding=(0, 3, 0, 0))
        cells = []
        for name, state in scene.states.items():
            cell = Text(f"{name:<11}")
            cell.append(f"{state:<10}", COLOURS[state])
            cell.append(f"killed {killed[name]}x" if killed[name] else "", "dim")
            cells.append(cell)
        for start in range(0, len(cells), columns):
            grid.add_row(*cells[start : start + columns])
        return grid


def pace(rate: float) -> str:
    """Rounds per second, or seconds per round if a round takes longer than a second."""
    return f"{rate:.0f} rounds/s" if rate >= 1 or not rate else f"{1 / rate:.1f} s a round"


def show_parties(out: Console, parties: Mapping[str, PartyReport]) -> None:
    """What each process spent; CPU includes starting Python each time."""
    table = small_table("What each party's processes spent (starting Python included)")
    table.add_column("party")
    table.add_column("role")
    for heading in ("CPU s", "messages sent", "bytes sent", "starts"):
        table.add_column(heading, justify="right")
    for name, report in parties.items():
        table.add_row(
            name,
            report.role if report.role != name else "",
            f"{report.cpu_seconds:.2f}",
            f"{report.messages_sent:,}",
            f"{report.bytes_sent:,}",
            str(report.starts),
        )
    out.print(table)
