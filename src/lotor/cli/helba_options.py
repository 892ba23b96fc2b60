"""What the texts of the command line's options mean for contexts that only users see."""

from dataclasses import replace

from lotor.cli.options import refuse_given
from lotor.core.errors import InputError
from lotor.environments import LinearContexts
from lotor.environments.linear_context_files import contexts_from_csv, contexts_from_npz
from lotor.policies.optimistic import BatchedOFUL, optimistic_from_text
from lotor.protocols.helba import Helba

TOY = "toy"
# So that a text always means the same arms.
SEED = 0
FILES = {"npz": contexts_from_npz, "csv": contexts_from_csv}


def helba_from(
    policy: str | None,
    *,
    index: str | None = None,
    C: float | None = None,  # noqa: N803  the paper's name
    eta: float | None = None,
    **options: object,
) -> Helba:
    """A HELBA with the options that were given."""
    given = {name: value for name, value in options.items() if value is not None}
    return Helba(_policy(policy, {"index": index, "C": C, "eta": eta}), **given)  # type: ignore[arg-type]


def _policy(text: str | None, options: dict[str, object]) -> BatchedOFUL:
    policy = BatchedOFUL() if text is None else optimistic_from_text(text)
    if not isinstance(policy, BatchedOFUL):
        raise InputError(
            f"helba computes batched-oful, not {text}: --compare shows oful, rsoful and rsoful-tr "
            "beside it"
        )
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if text is not None and f"{name}=" in text.replace(":", ","):
            raise InputError(f"--policy {text} and --{name} both give {name}: give one of them")
    return replace(policy, **given)  # type: ignore[arg-type]


def linear_contexts_from(
    arms: str | None,
    *,
    budget: int,
    noise_sd: float | None = None,
    sha256: str | None = None,
) -> LinearContexts:
    """What `--arms` describes; what is made up has as many rounds as the budget."""
    text = TOY if arms is None else arms
    kind, _, rest = text.partition(":")
    if kind in FILES and rest:
        sd = {} if noise_sd is None else {"noise_sd": noise_sd}
        return FILES[kind](rest, sha256=sha256, **sd)
    refuse_given({"noise_sd": noise_sd, "sha256": sha256}, f"to files, and --arms {text} is none")
    # A budget of nothing is refused by the run itself.
    rounds, numbers = max(budget, 1), _numbers(rest)
    if text == TOY or (kind == TOY and len(numbers) == 1):
        return LinearContexts.toy(rounds, seed=numbers[0] if numbers else SEED)
    if kind == "contexts" and len(numbers) == 2:
        k, d = numbers
        return LinearContexts.random(rounds, arms=k, d=d, seed=SEED)
    raise InputError(
        f"--arms {text!r} is no source of contexts of each arm: give toy or toy:SEED (the paper's "
        "problem), contexts:K,D (made up: K arms, D numbers), npz:PATH or csv:PATH"
    )


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        return []
