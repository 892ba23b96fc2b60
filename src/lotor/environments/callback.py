"""Arms whose rewards come from the user's own functions."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass

from lotor.core.effects import Decision
from lotor.core.errors import InputError
from lotor.core.fixed_point import RewardScale
from lotor.environments.base import PullFunction, split_names


@dataclass(frozen=True, slots=True, init=False)
class CallbackArms:
    """One function for each arm, sync or async; it is handed the decision and returns the reward.

    A mapping gives the arms names. A function may be slow or reach out to the world; `decision.id`
    tells it when the same pull is asked for again.

    >>> arms = CallbackArms([lambda decision: 12.5, lambda decision: -3.0], reward_range=(-5, 20))
    >>> pull = arms.start(seed=7)
    >>> pull(Decision(run="demo", round=1, arm=1, id="demo-1"))
    -3.0
    """

    pulls: tuple[PullFunction, ...]
    reward_range: tuple[float, float]
    names: tuple[str, ...] | None

    def __init__(
        self,
        pulls: Mapping[str, PullFunction] | Sequence[PullFunction],
        *,
        reward_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        if callable(pulls):
            raise InputError("pulls is a single function: give a list with one function per arm")
        functions, names = split_names("pulls", pulls, "a list with one function for each arm")
        if not functions:
            raise InputError("no arms: give one pull function for each arm")
        for arm, function in enumerate(functions):
            if not callable(function):
                raise InputError(
                    f"arm {arm} has {type(function).__name__} {function!r} for a pull function: "
                    "give a function that takes a Decision and returns a reward"
                )
        object.__setattr__(self, "pulls", functions)
        object.__setattr__(self, "names", names)
        scale = RewardScale.of(reward_range)
        object.__setattr__(self, "reward_range", (scale.low, scale.high))

    @property
    def k(self) -> int:
        return len(self.pulls)

    def start(self, seed: int) -> PullFunction:  # noqa: ARG002
        """Begin one run; the functions are the user's, so the seed changes nothing."""
        pulls = self.pulls
        k = self.k

        def pull(decision: Decision) -> float | Awaitable[float]:
            arm = decision.arm
            if 0 <= arm < k:
                return pulls[arm](decision)
            raise InputError(
                f"decision {decision.id} names arm {arm}, but there are only arms 0 to {k - 1}: "
                "give one pull function for each arm of the run"
            )

        return pull
