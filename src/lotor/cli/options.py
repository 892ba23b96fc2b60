"""What the texts of the command line's options mean."""

from collections.abc import Mapping
from pathlib import Path

from lotor.core.errors import InputError
from lotor.environments import LOOKALIKES, BernoulliArms, Environment, RatingArms, lookalike
from lotor.policies import from_text
from lotor.protocols.samba import Samba

DEFAULT_K = 10


def refuse_given(options: Mapping[str, object], why: str) -> None:
    """Refuse options that were given and would do nothing."""
    given = ["--" + name.replace("_", "-") for name, value in options.items() if value is not None]
    if given:
        raise InputError(f"{', '.join(given)} {'belongs' if len(given) == 1 else 'belong'} {why}")


def environment_from(arms: str, k: int | None, **file_options: object) -> Environment:
    """What `--arms` and its companions describe; an option without effect is refused."""
    given = {name: value for name, value in file_options.items() if value is not None}
    kind, _, path = arms.partition(":")
    if kind in ("movielens", "jester") and path:
        load = RatingArms.movielens if kind == "movielens" else RatingArms.jester
        return load(Path(path), k=DEFAULT_K if k is None else k, **given)  # type: ignore[arg-type]
    refuse_given(given, f"to rating files, and --arms {arms} is none")
    if arms in LOOKALIKES:
        return lookalike(arms, DEFAULT_K if k is None else k)
    if k is not None:
        raise InputError("--k goes with a named source of arms; a list of means has its own length")
    try:
        means = [float(part) for part in arms.split(",")]
    except ValueError:
        raise InputError(
            f"--arms {arms!r} is neither {', '.join(LOOKALIKES)}, movielens:PATH, jester:PATH, "
            "nor a list of means such as 0.9,0.5,0.1"
        ) from None
    return BernoulliArms(means)


def samba_from(policy: str, **options: object) -> Samba:
    """A SAMBA with the options that were given."""
    given = {name: value for name, value in options.items() if value is not None}
    return Samba(from_text(policy), **given)  # type: ignore[arg-type]
