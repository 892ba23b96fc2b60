# %% [markdown]
# # Five minutes with Lotor
# Three drugs, each with a hospital that keeps its outcomes to itself. Which drug heals most?
# Here the outcomes are simulated: drug B heals 8 patients of 10, which the algorithm does not know.

# %%
import lotor

arms = lotor.BernoulliArms({"drug A": 0.3, "drug B": 0.8, "drug C": 0.5})
plain = lotor.run(lotor.ThompsonSampling(), arms, budget=600, seed=7)
print(plain)

# %% [markdown]
# That was plain: one program saw everything. A result has each round's arm and reward, and what
# was missed by not always choosing the best arm.

# %%
print(plain.pulls)
print(plain.to_frame("pandas").tail(3))
plain.plot()

# %% [markdown]
# Now in secret. Each hospital keeps its own outcomes, two servers find out which drug is next
# without learning any score, choice or outcome, and the customer learns the total. The same seed
# gives the same arms: cryptography changes nothing.

# %%
samba = lotor.Samba(lotor.ThompsonSampling(), owners=3)
secure = lotor.run(samba, arms, budget=600, seed=7)
assert secure.agrees_with(plain)
print(secure)
for party, cost in secure.parties.items():
    print(f"{party:10} {cost.cpu_seconds:6.2f} s of CPU, {cost.bytes_sent / 1e6:6.2f} MB sent")

# %% [markdown]
# A simulation may stop when you have seen enough: a callback sees every round.

# %%
enough = lotor.run(lotor.UCB(), arms, budget=10_000, seed=7, on_round=lambda one: one.total >= 100)
print(enough)

# %% [markdown]
# And a policy can be driven by hand, one patient at a time: ask for an arm, tell what it paid.

# %%
bandit = lotor.Bandit(lotor.UCB(), ["drug A", "drug B", "drug C"], seed=7)
for _ in range(50):
    drug = bandit.ask()
    bandit.tell(drug, reward=1.0 if drug == "drug B" else 0.0)
print(bandit)
