"""LinUCB-DS and SpectralUCB-DS (Ciucanu, Delabrouille, Lafourcade and Soare, 2020).

A data owner outsources a linear bandit with an encrypted theta to two clouds; a client learns the
sum of rewards.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias, get_args

from lotor.core.errors import InputError
from lotor.core.options import option
from lotor.crypto.key_sizes import SECURE_BITS, check_key_bits
from lotor.environments.sources import ArmsSource, GraphSource, VectorSource
from lotor.policies import to_text
from lotor.policies.linear import LinearPolicy, LinTS, LinUCB, SlotBits, SpectralUCB
from lotor.protocols.kept_linear import kept_linear
from lotor.protocols.linucb_ds.figures import FIGURES
from lotor.protocols.party import Run
from lotor.protocols.plain import Plain
from lotor.protocols.protocol import SecureProtocol

LEAST_BUDGET = 2
PULLS = "principal"
"""The seat of the party that pulls."""
PaperSlotBits: TypeAlias = Literal[64, 96]
SLOT_BITS: tuple[SlotBits, ...] = get_args(PaperSlotBits)
SLOTS_ON_SHARES: Mapping[str, SlotBits] = {"shared": 59, "dealt": 62}
"""The widths of the other forms, as their circuits have room for."""


@dataclass(frozen=True, slots=True)
class LinUCBDS(SecureProtocol):
    """One owner's linear bandit, run by two clouds that see neither theta nor rewards.

    Theta is shared between the two. In the form "dealt" a dealer makes the randomness with which
    they compute; "paper" is the published form, which alone has the options that follow.
    `slot_bits` is the width in which a score is compared: 64, or 96 for arms that are nearly
    equal. `workers` are the processes and threads that each cloud uses. `key_bits` is the size of
    both Paillier keys; `insecure_key_bits` allows smaller ones, for tests and teaching.
    With `keep` P keeps after the run what it knows of its pulls, for a run that continues it.

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
    }
    form_notes: ClassVar[Mapping[str, str]] = {
        "shared": "comp learns nothing and principal the arms alone, unless the two collude; about "
        "2 ms of CPU and 460 kB a round with 50 arms",
        "dealt": "comp learns nothing and principal the arms alone, unless two of principal, comp "
        "and a dealer collude; about 1 ms of CPU and 130 kB a round with 50 arms",
        "paper": "as published: comp sees all scores, which tell everything if it knows the arms; "
        "about 16 ms and 2 kB",
    }
    paper_options: ClassVar[tuple[str, ...]] = (
        "key_bits",
        "insecure_key_bits",
        "slot_bits",
        "workers",
    )
    figures: ClassVar[Mapping[str, str]] = FIGURES
    kinds: ClassVar[tuple[type[LinearPolicy], ...]] = (LinUCB, LinTS)
    """The policies that it takes."""

    policy: LinearPolicy = field(default_factory=LinUCB)
    key_bits: int = field(
        default=3072,
        kw_only=True,
        metadata=option("The size of both Paillier keys, in the paper's form: 2048, 3072 or 4096."),
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
        metadata=option("Processes of each cloud, in the paper's form.", ordered=False),
    )
    keep: bool = field(
        default=False,
        kw_only=True,
        metadata=option(
            "Let P keep what it knows of its pulls after the run, for `--continue`.",
            simulated=False,
        ),
    )
    form: str = field(default="shared", kw_only=True, metadata=option("Which form of it to run."))

    def __post_init__(self) -> None:
        self.check_form(self.form)
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
        check_key_bits(self.key_bits, self.insecure_key_bits)
        self.check_paper_options()

    @property
    def least_budget(self) -> int | None:
        return LEAST_BUDGET

    def plain(self) -> Plain:
        """The same policy with no cryptography: the same arms and the same total."""
        return Plain(self.policy, {"slot_bits": self.slots, "keep": self.keep})

    def rounds_before(self, run: Run) -> int:
        if run.earlier is None:
            return 0
        return kept_linear(run.earlier.kept.get(PULLS), run.earlier.run).rounds

    @property
    def slots(self) -> SlotBits:
        """How wide a score is in this form."""
        return SLOTS_ON_SHARES.get(self.form, self.slot_bits)

    def options(self) -> Mapping[str, str | int]:
        chosen: dict[str, str | int] = {"policy": to_text(self.policy)}
        if self.form == "paper":
            chosen["key_bits"] = self.insecure_key_bits or self.key_bits
            chosen["slot_bits"] = self.slot_bits
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
    }
    # The paper's figures are LinUCB-DS's, also the one with both.
    figures: ClassVar[Mapping[str, str]] = {}
    kinds: ClassVar[tuple[type[LinearPolicy], ...]] = (SpectralUCB,)

    policy: LinearPolicy = field(default_factory=SpectralUCB)
