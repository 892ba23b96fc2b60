"""HELBA (Garcelon, Perchet and Pirotta, 2022): a contextual bandit on ciphertexts.

Users keep contexts and rewards; the server that learns from them only ever sees ciphertexts.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats, RewardScale, to_float
from lotor.crypto.ckks import LARGEST_MODULUS, InsecureParametersWarning
from lotor.crypto.signing import trusting_identities
from lotor.policies.optimistic import BatchedOFUL, optimistic_to_text
from lotor.protocols.helba.messages import KEY_AUTHORITY
from lotor.protocols.helba.terms import HelbaTerms, helba_policy
from lotor.protocols.party import Party, Run
from lotor.protocols.plain_contexts import PlainContexts, linear_contexts
from lotor.protocols.store import MemoryStore

if TYPE_CHECKING:  # it loads CKKS
    from lotor.protocols.helba.setting import HelbaSetting


@dataclass(frozen=True, slots=True)
class Helba:
    """An optimistic choice among encrypted contexts, by a server that cannot read them.

    - `policy`: `BatchedOFUL()`, whose index has no root, so that the server is alone with its
      ciphertexts; or `BatchedOFUL(index="sqrt", C=1, eta=0.1, width="union")`, the paper's, with
      which the user encrypts each new estimate again and tells one bit in a round;
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
    >>> toy = lotor.LinearContexts.toy(rounds=3, seed=5)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     helba = lotor.Helba(insecure_degree=1024)
    >>> secure = lotor.run(helba, toy, budget=3, seed=1)
    >>> plain = lotor.run(helba.plain(), toy, budget=3, seed=1)
    >>> secure.arms == plain.arms and secure.reward == plain.reward
    True
    """

    policy: BatchedOFUL = field(default_factory=BatchedOFUL)
    security: int = field(default=128, kw_only=True)
    stages: int = field(default=4, kw_only=True)
    noise_bits: int = field(default=5, kw_only=True)
    mean_bound: float = field(default=1.0, kw_only=True)
    rms_length: float | None = field(default=None, kw_only=True)
    workers: int = field(default=1, kw_only=True)
    insecure_degree: int | None = field(default=None, kw_only=True)

    least_budget: ClassVar[int] = 1
    name: ClassVar[str] = "helba"
    learner: ClassVar[str] = "user"

    def __post_init__(self) -> None:
        helba_policy(self.policy)
        for name in ("security", "stages", "noise_bits", "workers"):
            value = getattr(self, name)
            if type(value) is not int:
                raise InputError(f"{name} is {value!r}: give a whole number")
        if self.workers < 0:
            raise InputError(f"workers is {self.workers}: give a number of processes, 1 for one")
        object.__setattr__(self, "mean_bound", to_float("mean_bound", self.mean_bound))
        length = self.policy.L if self.rms_length is None else self.rms_length
        object.__setattr__(self, "rms_length", to_float("rms_length", length))
        if self.insecure_degree is None:
            return
        if self.insecure_degree not in LARGEST_MODULUS:
            raise InputError(
                f"insecure_degree={self.insecure_degree}: choose one of {[*LARGEST_MODULUS]}"
            )
        warnings.warn(
            f"a ring of degree {self.insecure_degree} can be broken: use it for tests and "
            "teaching only",
            InsecureParametersWarning,
            stacklevel=3,
        )

    def plain(self) -> PlainContexts:
        """The same policy in exact arithmetic: the same arms above the stated resolution."""
        return PlainContexts(self.policy)

    def options(self) -> Mapping[str, str | int]:
        options: dict[str, str | int] = {
            "policy": optimistic_to_text(self.policy),
            "security": self.security,
            "stages": self.stages,
            "noise_bits": self.noise_bits,
            "mean_bound": str(self.mean_bound),
            "rms_length": str(self.rms_length),
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
        """What all parties agree on; refuses what no run can do, before any key is made."""
        from lotor.protocols.helba.setting import HelbaSetting  # noqa: PLC0415  it loads CKKS

        return HelbaSetting.of(
            HelbaTerms(
                run=run,
                budget=budget,
                arms=arms,
                d=d,
                policy=optimistic_to_text(self.policy),
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

    def parties(self, run: Run) -> Mapping[str, Party]:
        """One user for all rounds, the server, and the authority that makes their keys."""
        # These load CKKS.
        from lotor.protocols.helba.authority import HelbaAuthority  # noqa: PLC0415
        from lotor.protocols.helba.server import HelbaServer  # noqa: PLC0415
        from lotor.protocols.helba.user import HelbaUser  # noqa: PLC0415

        arms = linear_contexts(run, self.policy)
        self._check_means(arms.means[: run.budget])
        setting = self.setting(run.id, budget=run.budget, arms=run.k, d=arms.d, scale=run.scale)
        identities = trusting_identities(["user", KEY_AUTHORITY])
        return {
            "user": HelbaUser(identities["user"], setting, MemoryStore()),
            "server": HelbaServer(setting, MemoryStore(), workers=self.workers),
            KEY_AUTHORITY: HelbaAuthority(identities[KEY_AUTHORITY], setting, MemoryStore()),
        }

    def _check_means(self, means: Floats) -> None:
        if abs(means).max() > self.mean_bound * (1 + 1e-9):
            raise InputError(
                f"an expected reward is further from 0 than mean_bound = {self.mean_bound:g}: "
                "state a larger mean_bound, or divide theta"
            )
