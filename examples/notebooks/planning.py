# %% [markdown]
# # Planning a deployment
# Four hospitals want to compare three treatments for a year. What will it take, which form fits,
# and how long does a decision take if the servers are in two countries? `lotor.plan` rehearses the
# run on this machine and says so; nobody's data is needed.

# %%
import lotor

treatments = lotor.BernoulliArms({"drug A": 0.4, "drug B": 0.6, "drug C": 0.5})
PATIENTS = 600

# %% [markdown]
# The same run in each form of SAMBA, with 30 ms between any two parties and back. A form costs
# processor time, bytes or round trips, and each asks for trust in other parties.

# %%
plans = {
    form: lotor.plan(
        lotor.Samba(owners=3, form=form), treatments, budget=PATIENTS, rtt=0.03, seconds=1
    )
    for form in ("shared", "dealt", "paper")
}
for form, planned in plans.items():
    apart = lotor.Samba(form=form).in_form().apart
    work, wait = sum(planned.cpu_seconds.values()), planned.seconds / PATIENTS
    print(f"{form}: {planned.bytes_in_all / 1e6:.1f} MB, {work:.1f} s of processor time")
    print(f"  {wait * 1e3:.0f} ms a decision; must not collude: {apart}")

# %% [markdown]
# A hospital is one party: what does it send and compute?

# %%
for name, size in plans["shared"].bytes_sent.items():
    print(f"{name}: {size:,} bytes, {plans['shared'].cpu_seconds[name]:.2f} s")

# %% [markdown]
# Distance is what counts. The shared form takes two round trips a decision, the dealt one three.

# %%
for rtt in (0.001, 0.01, 0.1):
    planned = lotor.plan(lotor.Samba(), treatments, budget=100, rtt=rtt, rounds=100)
    print(f"{rtt * 1e3:g} ms: {100 / planned.seconds:.0f} decisions a second")

# %% [markdown]
# Is a year of patients enough to find out? Simulate it, many times, before you ask anybody.

# %%
patients = [PATIENTS // 4, PATIENTS]
found = lotor.compare(lotor.UCB(), treatments, patients, seeds=range(8)).to_frame("columns")
for budget, regret in zip(patients, found["regret"], strict=True):
    print(f"{budget} patients: {regret:.0f} more would have got well with the best drug only")
