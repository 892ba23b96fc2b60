# %% [markdown]
# # Movies: a recommender on clouds that nobody trusts
# A company knows what its customer likes (theta) and what its movies are like (vectors). Two
# clouds choose movies for it: one has one share of theta, the other the other one, and neither
# alone learns a thing about it. LinUCB-DS is the protocol.
#
# Set LOTOR_MOVIELENS to the path of u.data of MovieLens 100K for real ratings; without it the
# vectors are a look-alike.

# %%
import os

import lotor
from lotor.environments import linear_lookalike

path = os.environ.get("LOTOR_MOVIELENS")
if path:
    arms = lotor.LinearArms.movielens(path, k=30, user=1, d=5)
else:
    arms = linear_lookalike("movielens-factors-like", k=30, d=5, user=1)

# %% [markdown]
# Secure and plain choose the same movies.

# %%
protocol = lotor.LinUCBDS(lotor.LinUCB(S=4.0))  # no taste is longer than 4
secure = lotor.run(protocol, arms, budget=300, seed=1)
plain = lotor.run(protocol.plain(), arms, budget=300, seed=1)
assert secure.agrees_with(plain)
print(secure)
secure.plot()

# %% [markdown]
# What it costs, and who learns what. The published form (Paillier) is there for comparison: it
# shows one cloud enough to guess theta.

# %%
for party, cost in secure.parties.items():
    print(f"{party:10} {1000 * cost.cpu_seconds / 300:6.2f} ms of CPU a round")
for form in ("shared", "paper"):
    print(form)
    for role, finding in lotor.LinUCBDS.form_called(form).leakage.items():
        print(f"  {role} learns {finding.measured}")
