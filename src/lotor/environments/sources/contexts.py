"""Contexts that are seen before each choice, the same for all arms."""

import warnings
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import ClassVar

from lotor.core.errors import InputError
from lotor.core.options import option
from lotor.environments.contextual import ContextualArms
from lotor.environments.sources.base import SEED, ArmsSource, whole_numbers

MADE_UP = "contexts:10,20"


@dataclass(frozen=True, slots=True)
class ContextSource(ArmsSource):
    """Arms whose pay depends on a context."""

    default: ClassVar[str] = "digits"
    text: ClassVar[str] = (
        "'digits', 'kmeans:K' (K clusters of the digits), 'mnist:FOLDER' or 'contexts:K,D' (made "
        "up)"
    )

    sha256: str | None = field(
        default=None,
        metadata=option("MNIST: IMAGES,LABELS, the digests of both files, unpacked."),
    )

    @classmethod
    def default_text(cls) -> str:
        if find_spec("sklearn") is not None:
            return cls.default
        warnings.warn(
            f"the digits need scikit-learn, which is not installed, so the contexts are made up "
            f"({MADE_UP}): run pip install 'lotor[data]' to get the digits",
            UserWarning,
            stacklevel=2,
        )
        return MADE_UP

    def environment(self, text: str, budget: int) -> ContextualArms:
        kind, _, rest = text.partition(":")
        if kind == "mnist" and rest:
            return ContextualArms.mnist(rest, sha256=self._digests())
        self.refuse(("sha256",), f"to files, and --arms {text} does not name any")
        if text == "digits":
            return ContextualArms.digits()
        numbers = whole_numbers(rest)
        if kind == "kmeans" and len(numbers) == 1:
            return ContextualArms.kmeans(ContextualArms.digits().contexts, numbers[0], seed=SEED)
        if kind == "contexts" and len(numbers) == 2:
            k, d = numbers
            # The run itself refuses a budget of 0.
            return ContextualArms.lookalike(max(budget, 1), k, d, SEED)
        raise InputError(
            f"--arms {text!r} does not name contexts: write digits, kmeans:K (K clusters of the "
            "digits), mnist:FOLDER, or contexts:K,D (made up: K arms, D features)"
        )

    def _digests(self) -> tuple[str, str] | None:
        if self.sha256 is None:
            return None
        images, _, labels = self.sha256.partition(",")
        if not images or not labels:
            raise InputError(
                "--sha256 of MNIST is IMAGES,LABELS: the digests of both unpacked files, with a "
                "comma between them"
            )
        return images, labels
