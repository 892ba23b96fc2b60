"""The studies of `lotor run`, one for each protocol; an option without effect is refused."""

from collections.abc import Mapping
from functools import partial

from rich.console import Console

import lotor
from lotor.cli.contextual_studies import plain_contextual_study, ppcb_study
from lotor.cli.helba_studies import helba_study, plain_optimistic_study
from lotor.cli.linear_options import (
    DEFAULT_ARMS,
    LINEAR,
    linear_environment_from,
    linear_from,
)
from lotor.cli.options import environment_from, refuse_given, samba_from
from lotor.cli.run_options import CLOUDS, CONTEXTUAL, FACTORS, HELBA, RATINGS, SAMBA
from lotor.cli.show import show_comparison, show_costs, show_leakage, show_operations
from lotor.cli.show_linear import show_linear_operations
from lotor.cli.study import Outcome, Study, Wish
from lotor.environments import Environment
from lotor.policies import from_text
from lotor.policies.contextual import CONTEXTUAL_CATALOGUE
from lotor.policies.linear import LINEAR_CATALOGUE, SpectralUCB, linear_from_text
from lotor.policies.optimistic import OPTIMISTIC_CATALOGUE
from lotor.protocols.linucb_ds import complexity as linear_complexity
from lotor.protocols.linucb_ds.leakage import MEASURED as LINEAR_MEASURED
from lotor.protocols.plain import Plain
from lotor.protocols.plain_linear import PlainLinear
from lotor.protocols.samba import complexity
from lotor.protocols.samba.leakage import MEASURED

DEFAULT_POLICY, SAMBA_ARMS = "ucb", "movielens-like"
BOTH_CLOUDS = " and ".join(f"`lotor run {name}`" for name in LINEAR)


def study_of(protocol: str, wish: Wish) -> Study:
    """What `lotor run PROTOCOL` is to do."""
    policy = (wish.policy or DEFAULT_POLICY).partition(":")[0]
    plain = protocol == "plain"
    if protocol == "helba" or (plain and policy in OPTIMISTIC_CATALOGUE):
        return plain_optimistic_study(wish) if plain else helba_study(wish)
    refuse_given(wish.some(*HELBA, "noise_sd"), "to `lotor run helba` and contexts of each arm")
    if protocol == "ppcb" or (plain and policy in CONTEXTUAL_CATALOGUE):
        return plain_contextual_study(wish) if plain else ppcb_study(wish)
    refuse_given(wish.some(*CONTEXTUAL), "to `lotor run ppcb` and to policies that see contexts")
    if plain:
        return _plain(policy, wish)
    return _linear(protocol, wish) if protocol in LINEAR else _samba(wish)


def _plain(policy: str, wish: Wish) -> Study:
    secure = wish.some(*SAMBA, "key_bits", "workers")
    refuse_given(secure, "to secure protocols, and plain is none")
    if policy in LINEAR_CATALOGUE:
        return _plain_linear(wish)
    refuse_given(wish.some("slot_bits"), f"to linear policies: {', '.join(LINEAR_CATALOGUE)}")
    return Study(Plain(from_text(wish.policy or DEFAULT_POLICY)), _bandit(wish))


def _bandit(wish: Wish) -> Environment:
    refuse_given(wish.some(*FACTORS), "to arms that are vectors, as linear policies need them")
    files = wish.some(*RATINGS, "sha256")
    return environment_from(wish.arms or SAMBA_ARMS, _k(wish), **files)


def _vectors(wish: Wish, default: str, *, graph: bool) -> lotor.LinearArms:
    refuse_given(wish.some(*RATINGS), "to ratings that are rewards, which linear policies have not")
    options = wish.some("user", "dimensions", "sha256")
    return linear_environment_from(
        wish.arms or default,
        graph=graph,
        k=_k(wish),
        **options,  # type: ignore[arg-type]
    )


def _k(wish: Wish) -> int | None:
    k = wish.options["k"]
    return None if k is None else int(k)


def _samba(wish: Wish) -> Study:
    refuse_given(wish.some(*CLOUDS), f"to {BOTH_CLOUDS}")
    options = wish.some("owners", "selection", "key_bits")
    # First the arms, which say most about what was meant.
    environment = _bandit(wish)
    samba = samba_from(wish.policy or DEFAULT_POLICY, **options)
    return Study(
        samba, environment, samba.plain(), partial(_show_samba, samba=samba), leakage=MEASURED
    )


def _show_samba(out: Console, outcome: Outcome, *, samba: lotor.Samba) -> None:
    secure, plain = outcome.secure, outcome.plain
    show_comparison(out, [(secure, plain)])
    show_costs(out, secure)
    expected = complexity.operations(
        secure.k,
        secure.budget,
        samba.policy.iterations,
        owners=samba.owners,
        selection=samba.selection,
    )
    show_operations(out, secure, expected)
    show_leakage(out, samba.selection)


def _linear(protocol: str, wish: Wish) -> Study:
    refuse_given(wish.some(*SAMBA), "to `lotor run samba`")
    options = wish.some("slot_bits", "key_bits", "workers")
    secure = linear_from(protocol, wish.policy, **options)
    graph = isinstance(secure.policy, SpectralUCB)
    arms = _vectors(wish, DEFAULT_ARMS[protocol], graph=graph)
    expected = {
        "expected": linear_complexity.ours(
            wish.budget,
            arms.k,
            key_bits=secure.key_bits,
            slot_bits=secure.slot_bits,
            d=arms.d,
        ),
        "figure_4": linear_complexity.figure_4(wish.budget, arms.k, arms.d),
        "figure_5": linear_complexity.figure_5(wish.budget, arms.k, arms.d),
    }
    show = partial(_show_linear, expected=expected)
    return Study(secure, arms, secure.plain(), show, LINEAR_MEASURED, expected)


def _show_linear(
    out: Console, outcome: Outcome, *, expected: Mapping[str, Mapping[str, int]]
) -> None:
    secure, plain = outcome.secure, outcome.plain
    show_comparison(out, [(secure, plain)])
    show_costs(out, secure)
    show_linear_operations(out, secure, expected)
    show_leakage(out, findings=LINEAR_MEASURED)


def _plain_linear(wish: Wish) -> Study:
    policy = linear_from_text(wish.policy or "")
    graph = isinstance(policy, SpectralUCB)
    protocol = "spectral-ucb-ds" if graph else "linucb-ds"
    slot_bits = wish.options["slot_bits"]
    checked = LINEAR[protocol](policy, **({} if slot_bits is None else {"slot_bits": slot_bits}))  # type: ignore[arg-type]
    return Study(
        PlainLinear(policy, checked.slot_bits), _vectors(wish, DEFAULT_ARMS[protocol], graph=graph)
    )
