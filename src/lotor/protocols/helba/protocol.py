"""HELBA (Garcelon, Perchet and Pirotta, 2022): a contextual bandit whose server reads nothing.

Users keep contexts and rewards; the server that learns from them sees them covered or encrypted.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, ClassVar

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, RewardScale, to_float
from lotor.core.options import option
from lotor.environments.sources import ArmContextSource, ArmsSource
from lotor.policies import to_text
from lotor.policies.optimistic import BatchedOFUL, Grid, WholeIndex
from lotor.protocols.helba.figures import FIGURES
from lotor.protocols.helba.terms import HelbaTerms, helba_policy
from lotor.protocols.plain import Plain
from lotor.protocols.protocol import SecureProtocol

if TYPE_CHECKING:
    from lotor.protocols.helba.paper.setting import HelbaSetting

TWO_SERVERS = "two-servers"
DEFAULT_USERS = 2


@dataclass(frozen=True, slots=True)
class Helba(SecureProtocol):
    """An optimistic choice among hidden contexts, by a server that cannot read them.

    - `policy`: `BatchedOFUL()`, whose index has no root, or `BatchedOFUL(index="sqrt", eta=0.1,
      width="union")`, the paper's.

    In the form "shared" (the default) the server learns nothing, and the user its arm and nothing
    else; numbers are whole, and the arms are plain's:

    - `context_bits`, `reward_bits`: contexts and rewards are multiples of 2^-bits.

    "two-servers", or `servers=2`, computes the same with a second server that holds the pads, so
    that users share no key. A user who colludes with one of the servers learns nothing of others:

    - `users`: how many take turns in a simulation.

    "paper" is the published form, on CKKS ciphertexts, which alone has condition (8) (the policy's
    `C`) and the options that follow:

    - `security`: 128, 192 or 256 bits, with fewer levels the higher it is;
    - `stages`: of how many polynomials a comparison is composed, 2 to 6. With more, smaller
      differences are decided right and the user can read less from an answer; each takes three
      levels;
    - `noise_bits`: noise of a standard deviation of 2^-noise_bits is on every answer, in which an
      arm that wins has 1 and one that loses 0, averaged over all slots that say the same;
    - `mean_bound`: no expected reward is further from 0; what is computed is scaled by it;
    - `rms_length`: the root mean square length of pulled contexts, if it is known to be below L.
      For d = 4 and 5 it decides how small a gap is still decided right. A user stops rather than
      let its contexts break it;
    - `workers`: how many processes the server computes estimates with, itself included, for d from
      3 to 5;
    - `insecure_degree` takes a smaller ring, for tests and teaching.

    >>> import lotor
    >>> toy = lotor.LinearContexts.toy(rounds=20, seed=5)
    >>> helba = lotor.Helba()
    >>> secure = lotor.run(helba, toy, budget=20, seed=1)
    >>> secure.agrees_with(lotor.run(helba.plain(), toy, budget=20, seed=1))
    True
    """

    name: ClassVar[str] = "helba"
    summary: ClassVar[str] = "the server sees neither contexts nor rewards"
    arms: ClassVar[type[ArmsSource]] = ArmContextSource
    forms: ClassVar[Mapping[str, str]] = {
        "shared": "lotor.protocols.helba.shared.form:HelbaShared",
        "two-servers": "lotor.protocols.helba.two_servers.form:HelbaTwoServers",
        "paper": "lotor.protocols.helba.paper.form:HelbaPaper",
    }
    refused_forms: ClassVar[Mapping[str, str]] = {
        "dealt": "user and server need no third party, and a dealer's randomness would have to "
        "reach users who come and go",
    }
    form_notes: ClassVar[Mapping[str, str]] = {
        "shared": "the user learns the arm alone, and the server nothing unless it colludes with a "
        "user; milliseconds a round",
        "two-servers": "several users, who share no key: a user with one server learns nothing of "
        "others, and a customer learns the total",
        "paper": "as published, on CKKS ciphertexts: users often read how far indices are apart; "
        "seconds a round",
    }
    paper_options: ClassVar[tuple[str, ...]] = (
        "security",
        "stages",
        "noise_bits",
        "mean_bound",
        "rms_length",
        "workers",
        "insecure_degree",
    )
    shared_options: ClassVar[tuple[str, ...]] = ("context_bits", "reward_bits")
    figures: ClassVar[Mapping[str, str]] = FIGURES
    default_budget: ClassVar[int] = 130
    demo_budget: ClassVar[int] = 130
    policy_options: ClassVar[tuple[str, ...]] = ("index", "width", "C", "eta")

    policy: BatchedOFUL = field(default_factory=BatchedOFUL)
    security: int = field(default=128, kw_only=True, metadata=option("128, 192 or 256 bits."))
    stages: int = field(
        default=4,
        kw_only=True,
        metadata=option("Polynomials in a comparison, 2 to 6: with more, users read fewer gaps."),
    )
    noise_bits: int = field(
        default=5, kw_only=True, metadata=option("Noise of 2^-bits is added to each answer.")
    )
    mean_bound: float = field(
        default=1.0, kw_only=True, metadata=option("No expected reward is further from 0.")
    )
    rms_length: float | None = field(
        default=None,
        kw_only=True,
        metadata=option("The root mean square length of pulled contexts.", shown="the policy's L"),
    )
    workers: int = field(
        default=1, kw_only=True, metadata=option("Processes of the server.", ordered=False)
    )
    insecure_degree: int | None = field(
        default=None,
        kw_only=True,
        metadata=option(
            "A ring that can be broken, 1024 to 32768: for tests and teaching.",
            shown="a secure one",
            ordered=False,
        ),
    )
    context_bits: int = field(
        default=10,
        kw_only=True,
        metadata=option("Contexts are multiples of 2^-bits, in the shared form."),
    )
    reward_bits: int = field(
        default=8,
        kw_only=True,
        metadata=option("Rewards are multiples of 2^-bits, in the shared form."),
    )
    servers: int = field(
        default=1,
        kw_only=True,
        metadata=option("1, or 2 for the form two-servers.", ordered=False),
    )
    users: int = field(
        default=DEFAULT_USERS,
        kw_only=True,
        metadata=option("How many users take turns, in the form two-servers.", ordered=False),
    )
    form: str = field(default="shared", kw_only=True, metadata=option("Which form of it to run."))

    def __post_init__(self) -> None:
        self._choose_servers()
        self.check_form(self.form)
        helba_policy(self.policy)
        self.check_paper_options()
        if self.form == "paper":
            self._check_paper()
        else:
            WholeIndex(self.policy, self.grid, 1)

    def _choose_servers(self) -> None:
        """`servers` and `form` say the same; either is enough."""
        if self.servers not in (1, 2) or type(self.servers) is not int:
            raise InputError(f"servers is {self.servers!r}: give 1 or 2")
        if self.servers == 2 and self.form == "shared":
            object.__setattr__(self, "form", TWO_SERVERS)
        if self.form == TWO_SERVERS:
            object.__setattr__(self, "servers", 2)
        elif self.servers == 2:
            raise InputError(
                f"servers=2 is the form {TWO_SERVERS}, and form={self.form!r} has one server: "
                "leave one of the two out"
            )
        if type(self.users) is not int or self.users < 1:
            raise InputError(f"users is {self.users!r}: give a whole number from 1 up")
        if self.users != DEFAULT_USERS and self.servers != 2:
            raise InputError(
                f"users={self.users}: only the form {TWO_SERVERS} tells users apart: leave it out, "
                "or give servers=2"
            )

    def _check_paper(self) -> None:
        for one in fields(self):
            if one.name in self.shared_options and getattr(self, one.name) != one.default:
                raise InputError(
                    f"{one.name} is an option of the shared form, and form='paper' computes on "
                    "encrypted floats: leave it out, or choose form='shared'"
                )
        for name in ("security", "stages", "noise_bits", "workers"):
            value = getattr(self, name)
            if type(value) is not int:
                raise InputError(f"{name} is {value!r}: give a whole number")
        if self.workers < 0:
            raise InputError(f"workers is {self.workers}: give a number of processes, 1 for one")
        object.__setattr__(self, "mean_bound", to_float("mean_bound", self.mean_bound))
        length = self.policy.L if self.rms_length is None else self.rms_length
        object.__setattr__(self, "rms_length", to_float("rms_length", length))
        if self.insecure_degree is not None:
            self._warn_of_degree(self.insecure_degree)

    def _warn_of_degree(self, degree: int) -> None:
        from lotor.crypto.ckks import (  # noqa: PLC0415
            LARGEST_MODULUS,
            InsecureParametersWarning,
        )

        if degree not in LARGEST_MODULUS:
            raise InputError(f"insecure_degree={degree}: choose one of {[*LARGEST_MODULUS]}")
        warnings.warn(
            f"a ring of degree {degree} can be broken: use it for tests and teaching only",
            InsecureParametersWarning,
            stacklevel=4,
        )

    @property
    def least_budget(self) -> int | None:
        return 1

    def plain(self) -> Plain:
        """The same policy with no cryptography.

        In the shared form it computes with the same whole numbers, and takes the same arms; in the
        paper's it computes with floats, and takes the same arms above the stated resolution.
        """
        return Plain(self.policy, {} if self.form == "paper" else {"grid": self.grid})

    @property
    def grid(self) -> Grid:
        """What contexts and rewards are rounded to, in the shared form."""
        return Grid(self.context_bits, self.reward_bits)

    @property
    def simulated_workers(self) -> int:
        return self.workers

    def options(self) -> Mapping[str, str | int]:
        if self.form != "paper":
            bits = {"context_bits": self.context_bits, "reward_bits": self.reward_bits}
            users = {"users": self.users} if self.form == TWO_SERVERS else {}
            return {"policy": to_text(self.policy), **bits, **users, "form": self.form}
        options: dict[str, str | int] = {
            "policy": to_text(self.policy),
            "security": self.security,
            "stages": self.stages,
            "noise_bits": self.noise_bits,
            "mean_bound": str(self.mean_bound),
            "rms_length": str(self.rms_length),
            "form": self.form,
        }
        if self.workers > 1:
            options["workers"] = self.workers
        if self.insecure_degree is not None:
            options["insecure_degree"] = self.insecure_degree
        return options

    def setting(
        self,
        run: str,
        *,
        budget: int,
        arms: int,
        d: int,
        scale: RewardScale,
    ) -> "HelbaSetting":
        """What all parties of the paper's form agree on; refuses an impossible run."""
        from lotor.protocols.helba.paper.setting import HelbaSetting  # noqa: PLC0415  it loads the circuits

        return HelbaSetting.of(
            HelbaTerms(
                run=run,
                budget=budget,
                arms=arms,
                d=d,
                policy=to_text(self.policy),
                security=self.security,
                stages=self.stages,
                noise_bits=self.noise_bits,
                mean_bound=self.mean_bound,
                rms_length=self.policy.L if self.rms_length is None else self.rms_length,
                low=scale.low,
                high=scale.high,
                insecure_degree=self.insecure_degree or 0,
            )
        )

    def check_means(self, means: Floats) -> None:
        """Refuse an environment that breaks `mean_bound`."""
        if abs(means).max() > self.mean_bound * (1 + 1e-9):
            raise InputError(
                f"an expected reward is further from 0 than mean_bound = {self.mean_bound:g}: "
                "state a larger mean_bound, or divide theta"
            )
