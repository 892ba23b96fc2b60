"""What `lotor run helba` does, and `lotor run plain` with a policy that sees contexts of arms."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property

from rich.console import Console

from lotor.cli.helba_options import helba_from, linear_contexts_from
from lotor.cli.options import refuse_given
from lotor.cli.run_options import CONTEXTUAL, FACTORS, HELBA, INDEX, RATINGS, SAMBA
from lotor.cli.show import show_costs, show_leakage
from lotor.cli.show_helba import PlanShown, show_judged, show_regrets
from lotor.cli.study import Forecast, Outcome, Study, Wish
from lotor.core.fixed_point import RewardScale
from lotor.environments import LinearContexts
from lotor.policies.optimistic import OFUL, RSOFUL, RSOFULTR, optimistic_from_text
from lotor.protocols.helba import Helba
from lotor.protocols.helba.forecast import HelbaForecast, measured
from lotor.protocols.helba.helper_processes import check_workers
from lotor.protocols.helba.judging import Judged, judged
from lotor.protocols.helba.leakage import MEASURED
from lotor.protocols.helba.setting import HelbaSetting
from lotor.protocols.party import Protocol
from lotor.protocols.plain_contexts import PlainContexts

# So that prices take seconds where one operation takes a third of one.
REPEATS, POINTS = 2, 3


def helba_study(wish: Wish) -> Study:
    """HELBA, beside the same policy in plain and those that it follows."""
    _refuse_others(wish)
    helba = helba_from(wish.policy, **wish.some(*HELBA, "workers"))  # type: ignore[arg-type]
    contexts = _contexts(wish)
    view = _View(helba, contexts, wish.budget)
    return Study(
        helba,
        contexts,
        helba.plain(),
        view.show,
        leakage=MEASURED,
        others=_followed(helba),
        judge=view.holds,
        details=view.details,
        forecast=view.forecast,
    )


def plain_optimistic_study(wish: Wish) -> Study:
    """A policy alone."""
    _refuse_others(wish)
    secure = wish.some("workers", *(name for name in HELBA if name not in INDEX))
    refuse_given(secure, "to `lotor run helba`: plain encrypts nothing")
    refuse_given(wish.some(*INDEX), "to `lotor run helba`: write it into --policy")
    policy = optimistic_from_text(wish.policy or "")
    return Study(PlainContexts(policy), _contexts(wish))


def _refuse_others(wish: Wish) -> None:
    others = wish.some("key_bits", *SAMBA, "slot_bits", *CONTEXTUAL)
    refuse_given(others, "to other protocols: see the panels of `lotor run --help`")
    refuse_given(wish.some("k", *FACTORS, *RATINGS), "to arms without contexts")


def _contexts(wish: Wish) -> LinearContexts:
    return linear_contexts_from(wish.arms, budget=wish.budget, **wish.some("noise_sd", "sha256"))  # type: ignore[arg-type]


def _followed(helba: Helba) -> Mapping[str, Protocol]:
    """The policies of the literature, with the same constants."""
    own = helba.policy
    oful = OFUL(ridge=own.ridge, delta=own.delta, sigma=own.sigma, S=own.S, L=own.L)
    common = asdict(oful)
    if own.C is not None:
        common["C"] = own.C
    return {
        "OFUL": PlainContexts(oful),
        "RSOFUL": PlainContexts(RSOFUL(**common)),
        "RSOFUL-TR": PlainContexts(RSOFULTR(**common)),
    }


@dataclass(frozen=True)
class _View:
    """How a run of HELBA is foretold, judged and shown."""

    helba: Helba
    contexts: LinearContexts
    budget: int

    @cached_property
    def setting(self) -> HelbaSetting:
        where = self.contexts
        scale = RewardScale(*where.reward_range)
        return self.helba.setting("", budget=self.budget, arms=where.k, d=where.d, scale=scale)

    def forecast(self) -> Forecast:
        check_workers(self.setting, self.helba.workers)
        prices = measured(self.setting.parameters, REPEATS, POINTS)
        return PlanShown(HelbaForecast(self.setting), prices)

    def judged(self, outcome: Outcome) -> list[Judged]:
        secure = outcome.secure
        return judged(self.setting, self.contexts, secure.seed, secure.arms or [])

    def holds(self, outcome: Outcome) -> bool:
        return not any(one.wrong for one in self.judged(outcome))

    def details(self, outcome: Outcome) -> Mapping[str, object]:
        found = self.judged(outcome)
        results = {"secure": outcome.secure, "plain": outcome.plain, **outcome.others}
        return {
            "regret": {
                name: self.contexts.regret(result.arms or []) for name, result in results.items()
            },
            "decisions": {
                "different": sum(not one.same for one in found),
                "different_above_resolution": sum(one.wrong for one in found),
                "above_resolution": sum(one.gap > one.resolution for one in found),
            },
        }

    def show(self, out: Console, outcome: Outcome) -> None:
        show_regrets(out, self.contexts, outcome)
        show_judged(out, self.judged(outcome))
        show_costs(out, outcome.secure)
        show_leakage(out, findings=MEASURED)
