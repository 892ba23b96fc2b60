# %% [markdown]
# # Digits with split features
# Each context is an image of a digit, and its pixels are split over three organisations. An arm is
# a guess of the digit; it pays 1 if right. Two servers learn the model on shares: neither sees
# pixels, guesses or rewards (PPCB).

# %%
import numpy as np

import lotor
from lotor.privacy import Accountant

images = lotor.ContextualArms.digits()
ppcb = lotor.PPCB(epsilon=0.1, owners=3)
secure = lotor.run(ppcb, images, budget=300, seed=2)
plain = lotor.run(ppcb.plain(), images, budget=1_500, seed=2)
print(secure)

# %% [markdown]
# All 300 guesses are plain's. How does it go on? Plain is quicker: what 100 images paid at a time,
# for 1,500 images.

# %%
assert secure.arms == lotor.run(ppcb.plain(), images, budget=300, seed=2).arms
print(np.diff(plain.cumulative()[99::100], prepend=0.0).astype(int))
plain.plot()

# %% [markdown]
# The arms themselves tell something about the contexts. How much is accounted for: in each step,
# and in the whole run (differential privacy, with a chance of one in a million to fail).

# %%
for epsilon in (0.1, 0.5, 0.9):
    accountant = Accountant(images.k, epsilon)
    print(f"{epsilon}: {accountant.per_step:.2f} a step, {accountant.total(300):.0f} in 300 steps")
