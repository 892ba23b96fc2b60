"""LinUCB-DS and SpectralUCB-DS (Ciucanu, Delabrouille, Lafourcade and Soare, 2020).

A data owner outsources a linear bandit with an encrypted theta to two clouds; a client learns the
sum of rewards.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal, TypeAlias, get_args

from lotor.core.errors import InputError
from lotor.core.options import option
from lotor.crypto.key_sizes import SECURE_BITS, check_key_bits
from lotor.environments.sources import ArmsSource, GraphSource, VectorSource
from lotor.policies import to_text
from lotor.policies.linear import (
    LinearPolicy,
    LinTS,
    LinUCB,
    LiveLayout,
    SlotBits,
    SpectralUCB,
)
from lotor.protocols.kept_linear import LIVE_NOT_KEPT, kept_linear
from lotor.protocols.linucb_ds.figures import FIGURES
from lotor.protocols.party import Run
from lotor.protocols.plain import Plain
from lotor.protocols.plain.linear import FROM_MODEL, LIVE
from lotor.protocols.protocol import SecureProtocol

LEAST_BUDGET = 2
PULLS = "principal"
"""The seat of the party that pulls."""
PaperSlotBits: TypeAlias = Literal[64, 96]
SLOT_BITS: tuple[SlotBits, ...] = get_args(PaperSlotBits)
PAPER_LIVE: Final = "paper-live"
SLOTS_OF_FORMS: Mapping[str, SlotBits] = {
    "shared": 59,
    "dealt": 62,
    PAPER_LIVE: LiveLayout.slot_bits,
}
"""The widths of forms without `slot_bits`: what circuits have room for, and live rewards need."""
WHY_NO_LIVE_REWARDS = (
    "these forms compute with shares of theta that the owner made at the set-up, once and for all, "
    "and with live rewards nobody has a theta: what is learned changes with every reward, and a "
    "reward would have to be shared, multiplied and added in every round"
)


@dataclass(frozen=True, slots=True)
class LinUCBDS(SecureProtocol):
    """One owner's linear bandit, run by two clouds that see neither theta nor rewards.

    Theta is shared between the two. In the form "dealt" a dealer makes the randomness with which
    they compute; "paper" is the published form, which alone has the options that follow.
    `slot_bits` is the width in which a score is compared: 64, or 96 for arms that are nearly
    equal. `workers` are the processes and threads that each cloud uses. `key_bits` is the size of
    both Paillier keys; `insecure_key_bits` allows smaller ones, for tests and teaching.
    With `keep` P keeps after the run what it knows of its pulls, for a run that continues it; not
    with live rewards.

    With `rewards="live"`, or in the form "paper-live", which is the same, nobody knows theta: the
    owner pulls each arm that is chosen, and its reward enters encrypted.

    >>> import lotor
    >>> arms = lotor.LinearArms([[1, 0], [0, 1], [0.7, 0.7]], theta=[0.8, 0.3])
    >>> ds = lotor.LinUCBDS()
    >>> secure = lotor.run(ds, arms, budget=20, seed=1)
    >>> plain = lotor.run(ds.plain(), arms, budget=20, seed=1)
    >>> secure.arms == plain.arms and secure.reward == plain.reward
    True
    """

    name: ClassVar[str] = "linucb-ds"
    summary: ClassVar[str] = "a linear bandit at two clouds that see neither theta nor rewards"
    arms: ClassVar[type[ArmsSource]] = VectorSource
    forms: ClassVar[Mapping[str, str]] = {
        "shared": "lotor.protocols.linucb_ds.shared.form:LinUCBDSShared",
        "dealt": "lotor.protocols.linucb_ds.dealt.form:LinUCBDSDealt",
        "paper": "lotor.protocols.linucb_ds.paper.form:LinUCBDSPaper",
        "paper-live": "lotor.protocols.linucb_ds.live.form:LinUCBDSLive",
    }
    form_notes: ClassVar[Mapping[str, str]] = {
        "shared": "comp learns nothing and principal the arms alone, unless the two collude; about "
        "2 ms of CPU and 460 kB a round with 50 arms",
        "dealt": "comp learns nothing and principal the arms alone, unless two of principal, comp "
        "and a dealer collude; about 1 ms of CPU and 130 kB a round with 50 arms",
        "paper": "as published: comp sees all scores, which tell everything if it knows the arms; "
        "about 16 ms and 2 kB",
        "paper-live": "the same with rewards that come from the world, one by one: the owner pulls "
        "the arms, and nobody needs to know theta",
    }
    paper_options: ClassVar[tuple[str, ...]] = (
        "key_bits",
        "insecure_key_bits",
        "slot_bits",
        "workers",
        "rewards",
    )
    paper_forms: ClassVar[tuple[str, ...]] = ("paper", PAPER_LIVE)
    figures: ClassVar[Mapping[str, str]] = FIGURES
    kinds: ClassVar[tuple[type[LinearPolicy], ...]] = (LinUCB, LinTS)
    """The policies that it takes."""

    policy: LinearPolicy = field(default_factory=LinUCB)
    key_bits: int = field(
        default=3072,
        kw_only=True,
        metadata=option(
            "The size of both Paillier keys, in the paper's forms: 2048, 3072 or 4096."
        ),
    )
    insecure_key_bits: int | None = field(
        default=None,
        kw_only=True,
        metadata=option(
            "Paillier keys that can be broken, such as the 1024 bits of the paper's first "
            "experiment: for comparisons and teaching.",
            shown="secure keys",
            ordered=False,
        ),
    )
    slot_bits: PaperSlotBits = field(
        default=64,
        kw_only=True,
        metadata=option("How wide a score is in the paper's form, 64 or 96."),
    )
    workers: int = field(
        default=1,
        kw_only=True,
        metadata=option("Processes of each cloud, in the paper's forms.", ordered=False),
    )
    rewards: Literal["model", "live"] = field(
        default=FROM_MODEL,
        kw_only=True,
        metadata=option(
            "Where rewards come from, in the paper's form: from the theta that the owner knows, or "
            "live, from the owner's pulls, which is the form paper-live."
        ),
    )
    keep: bool = field(
        default=False,
        kw_only=True,
        metadata=option(
            "Let P keep what it knows of its pulls after the run, for `--continue`; not with live "
            "rewards.",
            simulated=False,
        ),
    )
    form: str = field(default="shared", kw_only=True, metadata=option("Which form of it to run."))

    def __post_init__(self) -> None:
        self.check_form(self.form)
        self._choose_rewards()
        if not isinstance(self.policy, self.kinds):
            taken = " or ".join(f"{kind.__name__}()" for kind in self.kinds)
            raise InputError(
                f"{type(self).__name__} takes a policy such as {taken}, not {self.policy!r}: its "
                "numbers are shown to have room for the scores of these alone; `lotor policies` "
                "lists what goes together"
            )
        if self.slot_bits not in SLOT_BITS:
            raise InputError(f"slot_bits is 64 or 96, not {self.slot_bits!r}")
        if type(self.workers) is not int or self.workers < 1:
            raise InputError(f"workers is a whole number of at least 1, not {self.workers!r}")
        if type(self.keep) is not bool:
            raise InputError(f"keep is True or False, not {self.keep!r}")
        if self.keep and self.rewards == LIVE:
            raise InputError(LIVE_NOT_KEPT)
        check_key_bits(self.key_bits, self.insecure_key_bits)
        self.check_paper_options()

    def _choose_rewards(self) -> None:
        """`rewards="live"` with form="paper", and the form "paper-live", say the same."""
        if self.rewards not in (FROM_MODEL, LIVE):
            raise InputError(f"rewards is 'model' or 'live', not {self.rewards!r}")
        if self.form == PAPER_LIVE:
            object.__setattr__(self, "rewards", LIVE)
        elif self.rewards == LIVE:
            if self.form != "paper":
                raise InputError(
                    f"form={self.form!r} has no live rewards: {WHY_NO_LIVE_REWARDS}; choose "
                    "form='paper', or leave rewards out"
                )
            object.__setattr__(self, "form", PAPER_LIVE)
        if self.form == PAPER_LIVE and self.slot_bits != SLOT_BITS[0]:
            raise InputError(
                f"slot_bits is {self.slot_bits!r}, and with live rewards scores always have "
                f"{LiveLayout.slot_bits} bits: leave it out"
            )

    @property
    def least_budget(self) -> int | None:
        return LEAST_BUDGET

    def plain(self) -> Plain:
        """The same policy with no cryptography: the same arms and the same total."""
        settings = {"slot_bits": self.slots, "rewards": self.rewards, "keep": self.keep}
        return Plain(self.policy, settings)

    def rounds_before(self, run: Run) -> int:
        if run.earlier is None:
            return 0
        return kept_linear(run.earlier.kept.get(PULLS), run.earlier.run).rounds

    @property
    def slots(self) -> SlotBits:
        """How wide a score is in this form."""
        return SLOTS_OF_FORMS.get(self.form, self.slot_bits)

    def options(self) -> Mapping[str, str | int]:
        chosen: dict[str, str | int] = {"policy": to_text(self.policy)}
        if self.form in self.paper_forms:
            chosen["key_bits"] = self.insecure_key_bits or self.key_bits
            chosen["slot_bits"] = self.slots
            chosen["workers"] = self.workers
        if self.keep:
            chosen["keep"] = "true"
        return {**chosen, "form": self.form}

    @property
    def minimum_key_bits(self) -> int:
        """The smallest key that its parties accept."""
        return min(self.insecure_key_bits or SECURE_BITS, SECURE_BITS)

    @property
    def simulated_workers(self) -> int:
        return self.workers


@dataclass(frozen=True, slots=True)
class SpectralUCBDS(LinUCBDS):
    """The same for arms on a graph, whose rewards are smooth on it (the paper's Section 6)."""

    name: ClassVar[str] = "spectral-ucb-ds"
    summary: ClassVar[str] = "arms on a graph, at two clouds that see neither theta nor rewards"
    arms: ClassVar[type[ArmsSource]] = GraphSource
    forms: ClassVar[Mapping[str, str]] = {
        "shared": "lotor.protocols.linucb_ds.shared.form:SpectralUCBDSShared",
        "dealt": "lotor.protocols.linucb_ds.dealt.form:SpectralUCBDSDealt",
        "paper": "lotor.protocols.linucb_ds.paper.form:SpectralUCBDSPaper",
        "paper-live": "lotor.protocols.linucb_ds.live.form:SpectralUCBDSLive",
    }
    # The paper's figures are LinUCB-DS's, also the one with both.
    figures: ClassVar[Mapping[str, str]] = {}
    kinds: ClassVar[tuple[type[LinearPolicy], ...]] = (SpectralUCB,)

    policy: LinearPolicy = field(default_factory=SpectralUCB)
