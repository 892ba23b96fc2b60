# %% [markdown]
# # Hidden contexts
# Users keep their contexts and rewards; the server learns from sums that it cannot read and
# chooses without seeing a score (HELBA). The toy problem is the paper's.

# %%
import lotor

toy = lotor.LinearContexts.toy(rounds=130, seed=5)
helba = lotor.Helba()
secure = lotor.run(helba, toy, budget=130, seed=1)
plain = lotor.run(helba.plain(), toy, budget=130, seed=1)
assert secure.agrees_with(plain)
print(secure)
secure.plot()

# %% [markdown]
# Encryption costs no regret here: every choice is plain's. What it costs is time, a few
# milliseconds a round.

# %%
print(
    f"{1000 * secure.cpu_seconds / 130:.1f} ms of CPU a round, {secure.bytes_sent / 130:,.0f} bytes"
)
print(f"expected regret after 130 rounds: {float(secure.regret()[-1]):.2f}")

# %% [markdown]
# With one server, users trust each other. With two servers that do not collude, they need not.

# %%
two = lotor.run(lotor.Helba(servers=2), toy, budget=20, seed=1)
print(two)
print(sorted(two.parties))
