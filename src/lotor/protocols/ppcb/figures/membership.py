"""Figure 6: membership inference, from one arm and its reward."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.core.draws import shuffled
from lotor.core.fixed_point import REWARD_ONE, Floats, RewardScale
from lotor.core.frames import Cell, Columns, add_row, number, rows_of
from lotor.core.plotting import COLOURS, MARKERS, new_figure, number_log_axis, plotting
from lotor.environments.mnist import read_mnist
from lotor.environments.principal import unit_components
from lotor.policies.contextual import LinearEpsilonGreedy
from lotor.protocols.cell import AnyCell, Label, Outcome, Task, TaskCell
from lotor.protocols.figure import DataFiles, Figure, Size, grouped, summary
from lotor.protocols.party import Run
from lotor.protocols.plain.contextual import ContextualLearner
from lotor.protocols.ppcb.figures.setting import (
    DIGITS,
    EPSILONS,
    EPSILONS_UNSAID,
    PLAIN_RUNS,
    D,
    called,
    data_said,
    digits,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

TEST_IMAGES = 10_000
STAGES: dict[Size, tuple[int, ...]] = {
    "quick": (250, 500, 1_000, 2_000, 3_000),
    "full": (500, 1_000, 2_000, 5_000, *range(10_000, 60_001, 10_000)),
}
RUNS: dict[Size, int] = {"quick": 20, "full": 200}
DESCRIBED, PROGRAM, HELD_OUT = "described", "program", "halves"
WAYS = {
    DESCRIBED: "the attack as described",
    PROGRAM: "the authors' program",
    HELD_OUT: "the attack, half of each set known",
}
"""How the advantage is measured, and how that is called in the figure."""
ADVANTAGE = "advantage, per cent"
PUBLISHED_LATER = 0.75
"""Per cent, which the paper's advantage stays below after the early stages."""

Answers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Images:
    """Contexts, and the digit of each."""

    contexts: Floats
    labels: NDArray[np.int64]


@lru_cache(maxsize=1)
def members_and_others(mnist: Path | None, images: int) -> tuple[Images, Images]:
    """Images to learn from and images never learnt from, in the same components."""
    if mnist is None:
        arms = digits(None, images + TEST_IMAGES)
        contexts, labels = arms.contexts, arms.rewards.argmax(axis=1)
    else:
        train, test = (read_mnist(mnist, part, None) for part in ("train", "test"))
        contexts = unit_components(np.concatenate([train[0], test[0]]), D)
        kept = np.r_[:images, len(train[0]) : len(contexts)]
        contexts, labels = contexts[kept], np.concatenate([train[1], test[1]])[kept]
    return Images(contexts[:images], labels[:images]), Images(contexts[images:], labels[images:])


@dataclass(frozen=True, slots=True)
class MembershipTask(Task):
    """A run over images in an order of its own, attacked after each of some stages."""

    mnist: Path | None
    epsilon: float
    stages: tuple[int, ...]
    seed: int

    def measure(self) -> Mapping[str, float]:
        images = self.stages[-1]
        members, others = members_and_others(self.mnist, images)
        run = Run("membership", DIGITS, images, RewardScale(), self.seed, least_budget=1)
        learner = ContextualLearner(LinearEpsilonGreedy(self.epsilon), run, D)
        order = shuffled(images, self.seed)
        random = np.random.default_rng(self.seed)
        found: dict[str, float] = {}
        for t, row in enumerate(order.tolist(), start=1):
            x = members.contexts[row]
            arm = learner.choose(t, x)
            learner.learn(t, arm, REWARD_ONE * int(arm == members.labels[row]), x)
            if t in self.stages:
                known = Images(members.contexts[order[:t]], members.labels[order[:t]])
                seen, unseen = (self._answers(learner, one, random) for one in (known, others))
                # Halves that were the same in all runs would look like knowledge, or its opposite.
                unseen = random.permutation(unseen)
                found |= {f"{way} {t}": value for way, value in advantages(seen, unseen).items()}
        return found

    def small(self) -> Task:
        return replace(self, stages=(20, 40))

    def _answers(
        self, learner: ContextualLearner, images: Images, random: np.random.Generator
    ) -> Answers:
        """What the model does with each image: twice the arm, and 1 more if it pays."""
        arms = learner.model.scores(images.contexts.T).argmax(axis=0)
        explores = random.random(len(arms)) < self.epsilon
        arms = np.where(explores, random.integers(DIGITS, size=len(arms)), arms)
        answers: Answers = 2 * arms + (arms == images.labels)
        return answers


def advantages(members: Answers, others: Answers) -> dict[str, float]:
    """The rate of true positives less that of false positives, by how it is measured."""
    return {
        DESCRIBED: _advantage((members, others), (members, others)),
        PROGRAM: abs(float((members & 1).mean() - (others & 1).mean())),
        HELD_OUT: _advantage((members[::2], others[::2]), (members[1::2], others[1::2])),
    }


def _advantage(known: tuple[Answers, Answers], guessed: tuple[Answers, Answers]) -> float:
    """Who answers as is likelier among known members than among known others is one itself."""
    likely = []
    for answers in known:
        counts = np.bincount(answers, minlength=2 * DIGITS).reshape(-1, 2)
        likely.append(counts / np.maximum(1, counts.sum(axis=1, keepdims=True)))
    guess = (likely[0] > likely[1]).ravel()
    return float(guess[guessed[0]].mean() - guess[guessed[1]].mean())


class PPCBMembership(Figure):
    """Figure 6."""

    name: ClassVar[str] = "ppcb-6"
    title: ClassVar[str] = "membership inference at several stages of training"
    paper: ClassVar[str] = (
        "Figure 6 shows, as means over 200 runs, how well an adversary tells images that a model "
        "was trained with from those of MNIST's test set (Yeom et al., 2018), for four epsilons. "
        "It sees the arm and the reward of one image, and guesses by p(r | a) among both. Its "
        "advantage, the rate of true positives less that of false positives, is 1-2 % in the early "
        "stages, rapidly falls below 0.75 %, and rises slightly in the end, because the model "
        "underfits."
    )
    differs: ClassVar[str] = (
        f"{EPSILONS_UNSAID}{PLAIN_RUNS}Components are those of training and test images together, "
        "so that nothing but learning sets them apart. The authors' program does not compute the "
        "attack that the text describes, but how far the mean rewards of both sets are apart, up "
        "or down; both are here. Both count chance as advantage, since the adversary guesses what "
        "it has counted; in the third plot it knows half of each set and guesses the other half."
    )
    published: ClassVar[Mapping[str, Sequence[Label]]] = {
        "stage": ("early", "later"),
        "advantage, per cent": ("1-2", f"below {PUBLISHED_LATER}"),
    }

    def cells(self, size: Size, data: DataFiles) -> Sequence[AnyCell]:
        return [
            TaskCell(
                {"data": called(data), "epsilon": epsilon},
                MembershipTask(data.mnist, epsilon, STAGES[size], seed),
                alone=False,
            )
            for epsilon in EPSILONS
            for seed in range(RUNS[size])
        ]

    def setting(self, size: Size, data: DataFiles) -> str:
        return (
            f"{data_said(data, STAGES[size][-1])}, and {TEST_IMAGES:,} others; {RUNS[size]} runs "
            "for each epsilon. Bars are standard errors."
        )

    def table(self, outcomes: Sequence[Outcome]) -> Columns:
        table: Columns = {}
        for labels, runs in grouped(outcomes).items():
            for name in runs[0].figures:
                way, _, stage = name.rpartition(" ")
                values = 100 * np.array([one.figures[name] for one in runs])
                place: dict[str, Cell] = {"measured": way, "images": int(stage)}
                add_row(table, {**dict(labels), **place, **summary(ADVANTAGE, values)})
        return table

    def draw(self, table: Columns) -> "Picture":
        with plotting():
            figure = new_figure(len(WAYS), height=3.6)
            for axes, (way, text) in zip(figure.axes, WAYS.items(), strict=True):
                for i, epsilon in enumerate(EPSILONS):
                    rows = rows_of(table, epsilon=epsilon, measured=way)
                    axes.errorbar(
                        [number(row["images"]) for row in rows],
                        [number(row[ADVANTAGE]) for row in rows],
                        [number(row["standard error"]) for row in rows],
                        color=COLOURS[i],
                        marker=MARKERS[i],
                        markersize=4,
                        label=f"ε = {epsilon}",
                    )
                later = f"{PUBLISHED_LATER} %: published, below this later on"
                axes.axhline(PUBLISHED_LATER, color="black", ls=":", label=later)
                axes.set(xlabel="images learnt from", ylabel=ADVANTAGE, title=text)
                axes.set_xscale("log")
                number_log_axis(axes.xaxis)
            low = min(axes.get_ylim()[0] for axes in figure.axes)
            high = max(axes.get_ylim()[1] for axes in figure.axes)
            for axes in figure.axes:
                axes.set_ylim(low, high)
            figure.legend(
                *figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5
            )
        return figure

    def found(self, table: Columns) -> Sequence[str]:
        stages = [int(number(one)) for one in dict.fromkeys(table["images"])]
        said = []
        for epsilon in EPSILONS:
            of_each = []
            for way, text in WAYS.items():
                rows = rows_of(table, epsilon=epsilon, measured=way)
                values = [f"{number(row[ADVANTAGE]):.2f}" for row in rows]
                of_each.append(
                    f"{text} {values[0]} %, at the least {min(values, key=float)} %, and "
                    f"{values[-1]} % in the end"
                )
            said.append(
                f"ε = {epsilon}, from {stages[0]:,} to {stages[-1]:,} images: {'; '.join(of_each)}."
            )
        rows = [row for row in rows_of(table, measured=HELD_OUT) if row["standard error"]]
        sure = sum(number(row[ADVANTAGE]) > 2 * number(row["standard error"]) for row in rows)
        said.append(
            f"Where it does not guess what it has counted, its advantage is more than two standard "
            f"errors above 0 at {sure} of {len(rows)} points."
        )
        return said
