"""What a run gives back."""

from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, overload

import msgspec
import numpy as np

from lotor.core.best_arm import BestArm
from lotor.core.errors import FormatError, InputError
from lotor.core.fixed_point import Floats
from lotor.core.frames import Columns, Frame, FrameKind, to_frame, write_csv
from lotor.core.plotting import WIDTH, new_figure, plotting, save_figure
from lotor.core.revealed import Revealed
from lotor.core.unreadable import UNREADABLE
from lotor.core.wording import counted

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.figure import Figure

T = TypeVar("T")
Ended: TypeAlias = Literal["by itself", "sure", "out of data", "stopped", "interrupted"]

# More arms than this make unreadable bars: the least pulled ones are left out.
_BARS = 20


class PartyCost(msgspec.Struct, frozen=True):
    """What one party spent; `cpu_elsewhere` is what other threads and processes did of it."""

    cpu_seconds: float
    messages_sent: int
    bytes_sent: int
    cpu_elsewhere: float = 0.0


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a run and all that is needed to do it again.

    `arms` and `rewards` are the trajectory, one of each a round, and `regrets` what each round
    missed in expectation, where the environment knows its means. They exist in simulations only,
    and are None when the trajectory was switched off. `names` are the arms' names, if they have
    any. `operations` counts as the papers' complexity theorems do. `rounds` may be fewer than the
    budget: a protocol may end early, for example at its privacy budget, and `ended` says if a
    policy was sure of the best arm, a log had no more data, a callback stopped the run or ctrl-C
    interrupted it. `privacy` is how much privacy the run spent, if the protocol keeps an account.
    `best` is the best arm, where the policy looks for it, with its confidence. `revealed` is what
    whoever ordered the run was told beyond the total, where that was asked for. `kept` is for a run
    that continues this one (`lotor.run(continues=…)`); JSON does not have it.

    >>> import lotor
    >>> arms = lotor.BernoulliArms({"drug A": 0.2, "drug B": 0.8})
    >>> result = lotor.run(lotor.UCB(), arms, budget=200, seed=1)
    >>> result
    <Result of plain with ucb: reward 142 in 200 rounds over 2 arms, most often drug B (180 times), seed 1>
    >>> result.pulls
    {'drug A': 20, 'drug B': 180}
    >>> float(result.cumulative()[-1])
    142.0
    >>> round(float(result.regret()[-1]), 1)
    12.0
    """  # noqa: E501

    reward: float
    arms: list[int] | None
    parties: dict[str, PartyCost]
    operations: dict[str, int]
    seconds: float
    run: str
    version: str
    protocol: str
    options: dict[str, str | int]
    seed: int
    budget: int
    k: int
    rounds: int
    privacy: dict[str, float | int | str | None] | None = None
    rewards: list[float] | None = None
    regrets: list[float] | None = None
    names: list[str] | None = None
    ended: Ended = "by itself"
    best: BestArm | None = None
    revealed: Revealed | None = None
    kept: object = None

    def __repr__(self) -> str:
        """In one line; `arms` and the other fields have the rest."""
        rounds, most, ended = counted(self.rounds, "round"), "", ""
        if self.arms:
            counts = self.pulls
            best = max(counts, key=lambda arm: counts[arm])
            called = best if self.names else f"arm {best}"
            most = f", most often {called} ({counted(counts[best], 'time')})"
        if self.best is not None:
            most += f", {self.finding}"
        if self.revealed is not None:
            most += f", {self.revealed.text}"
        if self.ended != "by itself":
            ended = f", {self.ended}"
        return (
            f"<Result of {self.protocol} with {self.options.get('policy', 'no policy')}: reward "
            f"{self.reward:g} in {rounds} over {counted(self.k, 'arm')}{most}, seed {self.seed}"
            f"{ended}>"
        )

    def to_json(self) -> str:
        return msgspec.json.encode(msgspec.structs.replace(self, kept=None)).decode()

    @classmethod
    def from_json(cls, text: str) -> "Result":
        try:
            return msgspec.json.decode(text, type=cls)
        except UNREADABLE as error:
            raise FormatError(f"this is not the JSON of a result: {error}") from None

    def agrees_with(self, other: "Result") -> bool:
        """Whether both pulled the same arms, one by one, and came to the same total."""
        return self.arms == other.arms and self.reward == other.reward

    @property
    def finding(self) -> str:
        """What is known of the best arm, in words; empty where the policy does not look for it."""
        if self.best is None:
            return ""
        called = self.names[self.best.arm] if self.names else f"arm {self.best.arm}"
        # Rounded down, so that no more is claimed than holds.
        percent = f"{floor(self.best.confidence * 1000) / 10:g} %"
        if self.best.sure:
            return f"best {called} with a confidence of {percent}"
        return f"best perhaps {called}, with a confidence of {percent} only"

    @property
    def cpu_seconds(self) -> float:
        """Of all parties together."""
        return sum(party.cpu_seconds for party in self.parties.values())

    @property
    def bytes_sent(self) -> int:
        """By all parties together."""
        return sum(party.bytes_sent for party in self.parties.values())

    @property
    def pulls(self) -> dict[str | int, int]:
        """How often each arm was pulled, by its name if it has one."""
        counts = np.bincount(_kept(self.arms), minlength=self.k).tolist()
        return dict(zip(self.names or range(self.k), counts, strict=True))

    def cumulative(self) -> Floats:
        """The total reward after each round."""
        return np.cumsum(_kept(self.rewards), dtype=np.float64)

    def regret(self) -> Floats:
        """The expected regret after each round: what always pulling the best arm would have added.

        The environment must know its means.
        """
        if self.regrets is None and self.arms is not None:
            raise InputError(
                "the environment does not know what its arms pay on average, so that nobody knows "
                "the regret: use `cumulative()`"
            )
        return np.cumsum(_kept(self.regrets), dtype=np.float64)

    def columns(self) -> Columns:
        """The trajectory: a row for each round."""
        arms = _kept(self.arms)
        found: Columns = {"round": list(range(1, self.rounds + 1)), "arm": list(arms)}
        if self.names is not None:
            found["name"] = [self.names[arm] for arm in arms]
        if self.rewards is not None:
            found |= {"reward": list(self.rewards), "cumulative": self.cumulative().tolist()}
        if self.regrets is not None:
            found["regret"] = self.regret().tolist()
        return found

    @overload
    def to_frame(self, kind: Literal["columns"]) -> Columns: ...
    @overload
    def to_frame(self, kind: Literal["pandas"]) -> "pandas.DataFrame": ...
    @overload
    def to_frame(self, kind: Literal["polars"]) -> "polars.DataFrame": ...
    @overload
    def to_frame(self, kind: None = None) -> Frame: ...
    def to_frame(self, kind: FrameKind | None = None) -> Frame:
        """The trajectory as a frame of pandas or polars, whichever is installed; else as columns.

        `kind` asks for one of them: "pandas", "polars" or "columns".
        """
        return to_frame(self.columns(), kind)

    def to_csv(self, path: Path | str) -> None:
        """Write the trajectory as comma-separated values."""
        write_csv(path, self.columns())

    def plot(self, path: Path | str | None = None) -> "Figure":
        """Reward and regret over the rounds, and how often each arm was pulled.

        Needs `pip install 'lotor[plot]'`. A `path` that ends in .svg, .png or .pdf is written.
        """
        counts = self.pulls
        shown = sorted(counts, key=lambda arm: counts[arm])[-_BARS:]
        shown = [arm for arm in counts if arm in shown]
        figure = new_figure(2)
        figure.set_size_inches(WIDTH * 1.5, figure.get_figheight())
        with plotting():
            curves, bars = figure.axes
            rounds = np.arange(1, self.rounds + 1)
            if self.rewards is not None:
                curves.plot(rounds, self.cumulative(), label="reward")
            if self.regrets is not None:
                curves.plot(rounds, self.regret(), label="expected regret")
            curves.set(xlabel="round", ylabel="total so far")
            curves.legend()
            bars.barh([str(arm) for arm in shown], [counts[arm] for arm in shown])
            bars.set(xlabel="pulls", ylabel="" if self.names else "arm")
            bars.invert_yaxis()
            bars.grid(visible=False, axis="y")
            left_out = f" (the {_BARS} most pulled arms)" if len(shown) < self.k else ""
            title = f"{self.protocol}, {self.options.get('policy', '')}, seed {self.seed}"
            figure.suptitle(f"{title}{left_out}")
        if path is not None:
            save_figure(figure, path)
        return figure


def _kept(values: list[T] | None) -> list[T]:
    if values is None:
        raise InputError(
            "this result has no trajectory: run with trajectory=True, which is the default of "
            "lotor.run"
        )
    return values
