# %% [markdown]
# # Your own policy, audited
# A policy is one small class. Lotor says whether it may run in secret, runs it so, and attacks
# what the parties saw.

# %%
from dataclasses import dataclass

import numpy as np

import lotor
from lotor.policies import ArmStates, Draws, Floats, Policy
from lotor.testing import check_policy


@dataclass(frozen=True, slots=True)
class Patient(Policy):
    """Prefers means, plus a bonus that shrinks with an arm's own pulls."""

    bonus: float = 1.0

    def score(self, arms: ArmStates, t: int, l: int, draw: Draws) -> Floats:
        return arms.mean + self.bonus / np.sqrt(arms.n)


# %% [markdown]
# Does each score depend on its own arm only (and on public numbers)? Then every arm's owner can
# compute it alone, and SAMBA may run the policy.

# %%
print(check_policy(Patient()))

# %%
arms = lotor.BernoulliArms([0.8, 0.5, 0.3])
secure = lotor.run(lotor.Samba(Patient()), arms, budget=200, seed=1)
assert secure.agrees_with(lotor.run(Patient(), arms, budget=200, seed=1))
secure.plot()

# %% [markdown]
# Attack it: in the default form, every attack on a server must do no better than chance. The
# published form shows one server the scores, and for the policies that an attack knows it reads
# the rewards off them. Lotor's attacks know UCB.

# %%
report = lotor.audit(lotor.Samba(Patient()), arms, budget=30, repeat=6, seed=1)
assert report.holds
for row in report.rows:
    if row.party == "comp" and row.of:
        print(f"{row.attack}: {row.right} of {row.of} guesses, {row.verdict}")

# %%
published = lotor.Samba(lotor.UCB(), form="paper", key_bits=2048)
row = lotor.audit(published, arms, budget=30, repeat=2, seed=1).row("comp", "tracker: rewards")
print(f"the published form, {row.attack}: {row.right} of {row.of} guesses, {row.verdict}")
