"""SAMBA (Ciucanu, Lafourcade, Marcadet and Soare, 2022): federated bandits over secret arms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from lotor.core.durations import to_seconds
from lotor.core.errors import InputError, PolicyError
from lotor.core.fixed_point import MAXIMAL_BUDGET
from lotor.core.options import option
from lotor.crypto.key_sizes import SECURE_BITS, check_key_bits
from lotor.environments.sources import ArmsSource, BanditSource
from lotor.policies import UCB, Policy, check_genericity, check_iterations, to_text
from lotor.protocols.delays import NO_DELAY, checked_delay, delays
from lotor.protocols.party import Run
from lotor.protocols.plain import Plain
from lotor.protocols.protocol import SecureProtocol
from lotor.protocols.pulls import OutcomeRules, check_outcome_rules, outcome_rules
from lotor.protocols.revealing import NOTHING, SENTENCES, Reveal, check_reveal

SELECTIONS = ("bits", "position")
REVEALS_NOTHING = (
    "the paper's form tells the customer nothing but the total, since Comp would learn the arm, "
    "too: choose form='shared' or form='dealt', or leave `reveal` out"
)
_FIGURES = "lotor.protocols.samba.figures"


@dataclass(frozen=True, slots=True)
class Samba(SecureProtocol):
    """Several owners, each with its own arms, learn together; a customer learns the total.

    `owners` is the number of parties that share the arms in a simulation. In the form "dealt" two
    servers compute on shares with a dealer's randomness; "paper" is the published form, which alone
    has the options that follow. `selection` is how an owner learns that it was selected: `"bits"`
    as in the paper (4K AES-GCM operations an iteration) or `"position"` (2K + 1 and one for each
    owner: docs/samba.md says what changes). `key_bits` is the size of the customer's Paillier key;
    `insecure_key_bits` allows a smaller one, for tests and teaching.

    `outstanding` decisions may wait for their outcomes while others are made (1: each outcome is
    waited for), and `batch` rounds are scored on the same outcomes. `settle` is how long the run
    waits at its end for outcomes that are missing. An owner that is lost for good can be excluded
    once it has been away for `exclude_after`, if all others agree (form "shared"). In a simulation,
    outcomes come `delay` rounds late: a number, or a distribution such as "geometric:20".

    `reveal` tells the customer more than the total: the arm with the best mean ("best"), the one
    that was pulled most ("most-pulled"), or the number of outcomes of each arm ("counts"). In a
    federation each owner must agree to that. With `keep`, owners keep what they know of their arms
    after the run, for a run that continues it: `lotor.run(…, continues=result)`.

    >>> import lotor
    >>> arms = lotor.BernoulliArms([0.9, 0.5, 0.1])
    >>> samba = lotor.Samba(lotor.UCB())
    >>> secure = lotor.run(samba, arms, budget=100, seed=7)
    >>> secure.arms == lotor.run(samba.plain(), arms, budget=100, seed=7).arms
    True
    """

    name: ClassVar[str] = "samba"
    summary: ClassVar[str] = "each arm's data stays with its owner"
    arms: ClassVar[type[ArmsSource]] = BanditSource
    forms: ClassVar[Mapping[str, str]] = {
        "shared": "lotor.protocols.samba.shared.form:SambaShared",
        "dealt": "lotor.protocols.samba.dealt.form:SambaDealt",
        "paper": "lotor.protocols.samba.paper.form:SambaPaper",
    }

    form_notes: ClassVar[Mapping[str, str]] = {
        "shared": "no server learns anything unless controller and comp collude; about 0.7 ms of "
        "CPU and 72 kB an iteration with 10 arms",
        "dealt": "no server learns anything unless two of controller, comp and a dealer collude; "
        "about 0.3 ms and 73 kB",
        "paper": "as published: comp learns nearly everything but names; below 0.1 ms and 2 kB",
    }

    may_reveal: ClassVar[Mapping[str, str]] = SENTENCES

    paper_options: ClassVar[tuple[str, ...]] = ("key_bits", "insecure_key_bits", "selection")
    shown_first: ClassVar[bool] = True
    figures: ClassVar[Mapping[str, str]] = {
        "samba-8a": f"{_FIGURES}.time_over_rounds:SambaTimeOverRounds",
        "samba-8b": f"{_FIGURES}.time_over_arms:SambaTimeOverArms",
        "samba-8c": f"{_FIGURES}.reward:SambaReward",
        "samba-8d": f"{_FIGURES}.shares:SambaShares",
        "samba-c": f"{_FIGURES}.tuning:SambaTuning",
    }

    policy: Policy = field(default_factory=UCB)
    key_bits: int = field(
        default=3072,
        kw_only=True,
        metadata=option(
            "The size of the customer's Paillier key, in the paper's form: 2048, 3072 or 4096."
        ),
    )
    insecure_key_bits: int | None = field(default=None, kw_only=True)
    owners: int = field(
        default=1,
        kw_only=True,
        metadata=option("How many owners the arms are spread over.", ordered=False),
    )
    selection: Literal["bits", "position"] = field(
        default="bits",
        kw_only=True,
        metadata=option("How owners learn who is pulled, in the paper's form."),
    )
    outstanding: int | None = field(
        default=None,
        kw_only=True,
        metadata=option(
            "How many decisions may wait for their outcomes while others are made.",
            shown="as many as --batch",
        ),
    )
    batch: int = field(
        default=1,
        kw_only=True,
        metadata=option("How many rounds are scored on the same outcomes."),
    )
    exclude_after: str | None = field(
        default=None,
        kw_only=True,
        metadata=option(
            "How long an owner must have been away before the others may agree to go on without "
            "it, e.g. 7d; in the shared form.",
            shown="never",
        ),
    )
    settle: str | None = field(
        default=None,
        kw_only=True,
        metadata=option(
            "How long to wait for missing outcomes after the last round, e.g. 90d; what has not "
            "come by then is not counted.",
            shown="until all are there",
        ),
    )
    delay: str = field(
        default=NO_DELAY,
        kw_only=True,
        metadata=option(
            "How many rounds late outcomes come: 5, 'uniform:0-10' or 'geometric:20'; none is "
            "waited for, unless --outstanding says how many may be missing.",
            ordered=False,
        ),
    )
    reveal: Reveal = field(
        default=NOTHING,
        kw_only=True,
        metadata=option(
            "What the customer learns beyond the total, if each owner agrees: the arm with the "
            "best mean, the most pulled one, or how many outcomes each arm has."
        ),
    )
    keep: bool = field(
        default=False,
        kw_only=True,
        metadata=option(
            "Let owners keep what they know of their arms after the run, for `--continue`.",
            simulated=False,
        ),
    )
    form: str = field(default="shared", kw_only=True, metadata=option("Which form of it to run."))

    def __post_init__(self) -> None:
        self.check_form(self.form)
        self._check_policy()
        if self.selection not in SELECTIONS:
            raise InputError(f"selection is 'bits' or 'position', not {self.selection!r}")
        if type(self.owners) is not int or self.owners < 1:
            raise InputError(f"owners is a whole number of at least 1, not {self.owners!r}")
        check_key_bits(self.key_bits, self.insecure_key_bits)
        self._check_outcomes()
        if type(self.keep) is not bool:
            raise InputError(f"keep is True or False, not {self.keep!r}")
        check_reveal(self.reveal)
        self._check_exclusion()
        self.check_paper_options()
        if self.form == "paper" and self.reveal != NOTHING:
            raise InputError(f"reveal is {self.reveal!r}, and {REVEALS_NOTHING}")

    def _check_policy(self) -> None:
        """Refuse a policy that SAMBA, or this form of it, cannot run."""
        if not isinstance(self.policy, Policy):
            raise InputError(
                f"Samba takes a policy such as UCB(), not {self.policy!r}: `lotor policies` lists "
                "those that fit"
            )
        check_iterations(self.policy)
        found = check_genericity(self.policy)
        for condition, reason in (
            ("arm score locality", found.arm_score_locality),
            ("oblivious selection", found.oblivious_selection),
        ):
            if reason is not None:
                raise PolicyError(
                    f"{to_text(self.policy)} cannot run under SAMBA: {condition} "
                    f"(Theorem 1) fails, {reason}; run it in plain, or use another policy"
                )
        if self.form != "paper" and not self.policy.selects_maximum:
            raise PolicyError(
                f"{to_text(self.policy)} has a `select` of its own, and form={self.form!r} "
                "computes on shares which score is the largest, and nothing else: choose "
                "form='paper'"
            )

    def _check_outcomes(self) -> None:
        """Refuse rules for late outcomes that no run can keep."""
        object.__setattr__(self, "delay", checked_delay(self.delay))
        check_outcome_rules(self.outstanding, self.batch)
        if self.settle is not None:
            to_seconds("settle", self.settle)
            if self.rules(1, 2).at_once:
                raise InputError(
                    "settle is how long a run waits at its end for missing outcomes, but this run "
                    "waits for each before the next round: give outstanding, or leave out settle"
                )

    @property
    def lost_after(self) -> float | None:
        """After how many seconds an owner that is away may be excluded."""
        text = self.exclude_after
        return None if text is None else to_seconds("exclude_after", text)

    def _check_exclusion(self) -> None:
        if self.exclude_after is None:
            return
        to_seconds("exclude_after", self.exclude_after)
        if self.form != "shared":
            raise InputError(
                f"exclude_after is an option of form='shared', and form={self.form!r} cannot go on "
                "without an owner: its servers have no shares of what a lost owner has counted; "
                "leave it out, or choose form='shared'"
            )
        if self.reveal != NOTHING:
            raise InputError(
                f"reveal is {self.reveal!r}, which takes all owners to its end, and exclude_after "
                "lets a run go on without some: leave one of the two out"
            )

    def plain(self) -> Plain:
        """The same policy with no cryptography: the same arms and the same total."""
        late = {"outstanding": self.outstanding, "batch": self.batch, "delay": self.delay}
        return Plain(self.policy, {**late, "reveal": self.reveal, "keep": self.keep})

    @property
    def reveals(self) -> Mapping[str, str]:
        return {name: said for name, said in SENTENCES.items() if name == self.reveal}

    def delays(self, run: Run) -> Callable[[int], int]:
        return delays(self.delay, run)

    def apart(self) -> "Samba":
        """The same, with decisions that do not wait for outcomes."""
        return replace(self, outstanding=MAXIMAL_BUDGET)

    def rules(self, k: int, budget: int) -> OutcomeRules:
        """How many decisions of a run may wait for their outcomes, and when these are counted."""
        seconds = None if self.settle is None else to_seconds("settle", self.settle)
        return outcome_rules(
            k + 1, budget, self.outstanding, self.batch, self.delay, settle=seconds
        )

    def options(self) -> Mapping[str, str | int]:
        chosen: dict[str, str | int] = {"policy": to_text(self.policy)}
        if self.form == "paper":
            chosen["key_bits"] = self.insecure_key_bits or self.key_bits
            chosen["selection"] = self.selection
        if self.outstanding is not None:
            chosen["outstanding"] = self.outstanding
        if self.batch > 1:
            chosen["batch"] = self.batch
        if self.delay != NO_DELAY:
            chosen["delay"] = self.delay
        if self.exclude_after is not None:
            chosen["exclude_after"] = self.exclude_after
        if self.reveal != NOTHING:
            chosen["reveal"] = self.reveal
        if self.keep:
            chosen["keep"] = "true"
        return {**chosen, "owners": self.owners, "form": self.form}

    @property
    def minimum_key_bits(self) -> int:
        """The smallest key that its parties accept."""
        return min(self.insecure_key_bits or SECURE_BITS, SECURE_BITS)
