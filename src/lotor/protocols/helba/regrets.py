"""What a run of HELBA missed, beside the policies of the literature on the same draws."""

from dataclasses import asdict

from lotor.core.wording import counted
from lotor.environments import LinearContexts
from lotor.policies.optimistic import OFUL, RSOFUL, RSOFULTR, BatchedOFUL
from lotor.protocols.helba.guarantees import most_updates, regret_bound
from lotor.protocols.plain import Plain
from lotor.protocols.report import Comparison, ReportTable


def followed(own: BatchedOFUL) -> dict[str, Plain]:
    """The policies of the literature, with the same constants."""
    oful = OFUL(ridge=own.ridge, delta=own.delta, sigma=own.sigma, S=own.S, L=own.L)
    common = asdict(oful)
    if own.C is not None:
        common["C"] = own.C
    return {
        "OFUL": Plain(oful),
        "RSOFUL": Plain(RSOFUL(**common)),
        "RSOFUL-TR": Plain(RSOFULTR(**common)),
    }


def regrets(contexts: LinearContexts, comparison: Comparison) -> dict[str, float]:
    """What each has missed on the same draws."""
    results = {"secure": comparison.secure, "plain": comparison.plain, **comparison.others}
    return {name: contexts.regret(result.arms or []) for name, result in results.items()}


def guaranteed(
    policy: BatchedOFUL, contexts: LinearContexts, comparison: Comparison
) -> dict[str, float | int | None]:
    """The estimates of the run in plain, and the most that the paper's theorems allow."""
    rounds = comparison.secure.rounds
    return {
        "updates": comparison.plain.operations["updates"],
        "most_updates": most_updates(policy, contexts.d, rounds),
        "regret_bound": regret_bound(policy, contexts.d, rounds),
    }


def regret_table(
    policy: BatchedOFUL,
    contexts: LinearContexts,
    comparison: Comparison,
    secure: str,
    note: str,
) -> ReportTable:
    """The same for people; `secure` is what the run is called."""
    result = comparison.secure
    bound = regret_bound(policy, contexts.d, result.rounds)
    most = most_updates(policy, contexts.d, result.rounds)
    allowed = ("" if bound is None else f"{bound:,.0f}", "", f"{most:.0f}", "")
    rows = [
        (
            name,
            f"{contexts.regret(one.arms or []):.3f}",
            f"{one.reward:.3f}",
            str(one.operations.get("updates", "")),
            f"{one.cpu_seconds:.2f}",
        )
        for name, one in {
            secure: result,
            "the same in plain": comparison.plain,
            **comparison.others,
        }.items()
    ]
    rows.append(("allowed by Theorem 8 and Proposition 7", *allowed))
    return ReportTable(
        f"Regret on the same draws: {counted(result.k, 'arm')}, "
        f"{counted(result.rounds, 'round')}, seed {result.seed}",
        ("", "regret", "total reward", "estimates", "CPU s"),
        rows,
        note,
    )
