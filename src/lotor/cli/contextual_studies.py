"""What `lotor run ppcb` does, and `lotor run plain` with a policy that sees contexts."""

from functools import partial

from rich.console import Console

from lotor.cli.contextual_options import contexts_from, ppcb_from
from lotor.cli.options import refuse_given
from lotor.cli.run_options import CLOUDS, CONTEXTUAL, FACTORS, RATINGS, SAMBA
from lotor.cli.show import show_comparison, show_costs, show_leakage
from lotor.cli.show_contextual import Counts, show_differences, show_rounds
from lotor.cli.show_privacy import show_privacy
from lotor.cli.study import Outcome, Study, Wish
from lotor.core.fixed_point import RewardScale
from lotor.environments import ContextualArms
from lotor.protocols.ppcb import PPCB, complexity
from lotor.protocols.ppcb.leakage import MEASURED


def ppcb_study(wish: Wish) -> Study:
    """PPCB, beside the same learner in plain."""
    _refuse_others(wish)
    ppcb = ppcb_from(wish.policy, **wish.some(*CONTEXTUAL))  # type: ignore[arg-type]
    arms = _arms(wish)
    counts = _counts(ppcb, arms, wish.budget)
    return Study(
        ppcb,
        arms,
        ppcb.plain(),
        partial(_show, counts=counts),
        leakage=MEASURED,
        operations={**counts, "table_1": complexity.TABLE_1, "ours": complexity.OURS},
    )


def plain_contextual_study(wish: Wish) -> Study:
    """The learner alone."""
    _refuse_others(wish)
    refuse_given(wish.some("bits", "parties"), "to `lotor run ppcb`: plain shares nothing")
    if wish.options["privacy_budget"] is None:
        refuse_given(wish.some("delta"), "to --privacy-budget")
    options = wish.some("epsilon", "delay", "privacy_budget", "delta")
    return Study(ppcb_from(wish.policy, **options).plain(), _arms(wish))  # type: ignore[arg-type]


def _refuse_others(wish: Wish) -> None:
    refuse_given(wish.some("key_bits", *SAMBA, *CLOUDS), "to samba and the linear protocols")
    refuse_given(wish.some("k", *FACTORS, *RATINGS), "to arms without contexts")


def _arms(wish: Wish) -> ContextualArms:
    sha256 = wish.options["sha256"]
    return contexts_from(
        wish.arms, budget=wish.budget, sha256=None if sha256 is None else str(sha256)
    )


def _counts(ppcb: PPCB, arms: ContextualArms, budget: int) -> Counts:
    """What a run must count, and what the authors' program counts."""
    scale = RewardScale(*arms.reward_range)
    # How the features are split changes none of these.
    owners = {"owners": arms.d}
    terms = ppcb.terms("", budget=budget, arms=arms.k, owners=owners, scale=scale)
    return {
        "expected": complexity.whole_run(terms),
        "per_step": complexity.per_step(terms),
        "published_program": {"rounds": complexity.PUBLISHED_PROGRAM},
    }


def _show(out: Console, outcome: Outcome, *, counts: Counts) -> None:
    secure, plain = outcome.secure, outcome.plain
    show_comparison(out, [(secure, plain)])
    show_differences(out, secure, plain)
    show_costs(out, secure)
    show_rounds(out, secure, counts)
    show_privacy(out, secure)
    show_leakage(out, findings=MEASURED)
