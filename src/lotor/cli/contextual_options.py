"""What the texts of the command line's options mean for contexts whose features are split."""

from importlib.util import find_spec

import typer

from lotor.cli.options import refuse_given
from lotor.core.errors import InputError
from lotor.environments import ContextualArms
from lotor.policies.contextual import LinearEpsilonGreedy, contextual_from_text
from lotor.protocols.ppcb import PPCB

DEFAULT_CONTEXTS, MADE_UP = "digits", "contexts:10,20"
# So that a text always means the same arms.
SEED = 0


def ppcb_from(
    policy: str | None,
    *,
    epsilon: float | None = None,
    parties: int | None = None,
    **options: object,
) -> PPCB:
    """A PPCB with the options that were given."""
    given = {name: value for name, value in options.items() if value is not None}
    if parties is not None:
        given["owners"] = parties
    return PPCB(_policy(policy, epsilon), **given)  # type: ignore[arg-type]


def _policy(text: str | None, epsilon: float | None) -> LinearEpsilonGreedy:
    if text is None:
        return LinearEpsilonGreedy() if epsilon is None else LinearEpsilonGreedy(epsilon)
    policy = contextual_from_text(text)
    if not isinstance(policy, LinearEpsilonGreedy):
        raise InputError(f"ppcb runs linear-epsilon-greedy, not {text}")
    if epsilon is None:
        return policy
    if "epsilon=" in text:
        raise InputError(f"--policy {text} and --epsilon both give epsilon: give one of them")
    return LinearEpsilonGreedy(epsilon, ridge=policy.ridge, recompute=policy.recompute)


def contexts_from(arms: str | None, *, budget: int, sha256: str | None = None) -> ContextualArms:
    """What `--arms` describes; made-up contexts are as many as the budget."""
    text = _default() if arms is None else arms
    kind, _, rest = text.partition(":")
    if kind == "mnist" and rest:
        return ContextualArms.mnist(rest, sha256=None if sha256 is None else _digests(sha256))
    refuse_given({"sha256": sha256}, f"to files, and --arms {text} is none")
    if text == "digits":
        return ContextualArms.digits()
    numbers = _numbers(rest)
    if kind == "kmeans" and len(numbers) == 1:
        return ContextualArms.kmeans(ContextualArms.digits().contexts, numbers[0], seed=SEED)
    if kind == "contexts" and len(numbers) == 2:
        # A budget of nothing is refused by the run itself.
        k, d = numbers
        return ContextualArms.lookalike(max(budget, 1), k, d, SEED)
    raise InputError(
        f"--arms {text!r} is no source of contexts: give digits, kmeans:K (K clusters of the "
        "digits), mnist:FOLDER, or contexts:K,D (made up: K arms, D features)"
    )


def _default() -> str:
    if find_spec("sklearn") is not None:
        return DEFAULT_CONTEXTS
    typer.echo(
        f"lotor: without scikit-learn there are no digits, so contexts are made up ({MADE_UP}); "
        "pip install 'lotor[data]' brings the digits",
        err=True,
    )
    return MADE_UP


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        return []


def _digests(text: str) -> tuple[str, str]:
    images, _, labels = text.partition(",")
    if not images or not labels:
        raise InputError(
            "--sha256 of MNIST is IMAGES,LABELS: the digests of both unpacked files, with a comma "
            "between them"
        )
    return images, labels
