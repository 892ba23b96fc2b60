# %% [markdown]
# # Hospitals: the International Stroke Trial
# 19,435 patients of 466 hospitals got aspirin or none, and no, little or more heparin, by lot. Who
# was alive and independent six months later? Had the six treatments been six centres' secrets,
# a bandit could have moved patients towards the better ones while the trial ran.
#
# The data is open (ODC-By; Sandercock, Niewada, Czlonkowska, 2011, doi 10.7488/ds/104): save it as
# comma-separated values with the columns RXASP, RXHEP and OCCODE and set LOTOR_IST to its path.
# Without it this notebook draws outcomes with the trial's own shares.

# %%
import csv
import os
import random

import lotor

SHARES = {
    "no drug": 0.365,
    "low heparin": 0.362,
    "medium heparin": 0.367,
    "aspirin": 0.377,
    "aspirin, low heparin": 0.375,
    "aspirin, medium heparin": 0.380,
}
HEPARIN = {"N": 0, "L": 1, "M": 2, "H": 2}  # the pilot phase called the medium dose high


def outcomes(path: str) -> dict[str, list[float]]:
    """Each treatment's patients: 1 if alive and independent, 0 if not; some were lost."""
    found: dict[str, list[float]] = {name: [] for name in SHARES}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["OCCODE"] in ("1", "2", "3", "4") and row["RXHEP"] in HEPARIN:
                place = 3 * (row["RXASP"] == "Y") + HEPARIN[row["RXHEP"]]
                found[list(SHARES)[place]].append(float(row["OCCODE"] in ("3", "4")))
    return found


# %%
path = os.environ.get("LOTOR_IST")
if path:
    patients = outcomes(path)
    for answers in patients.values():
        random.Random(1).shuffle(answers)  # they are sorted by hospital
    streams = {name: iter(answers) for name, answers in patients.items()}
    pulls = {name: (lambda _, stream=stream: next(stream)) for name, stream in streams.items()}
    print({name: round(sum(one) / len(one), 3) for name, one in patients.items()})
else:
    print("LOTOR_IST is not set: outcomes are drawn with the trial's shares")


def arms() -> lotor.BernoulliArms | lotor.CallbackArms:
    return lotor.CallbackArms(pulls) if path else lotor.BernoulliArms(SHARES)


# %% [markdown]
# Six centres, one treatment each. Nobody sees another's outcomes; the customer learns how many
# patients did well.

# %%
result = lotor.run(lotor.Samba(lotor.UCB(), owners=6), arms(), budget=1_000, seed=3)
print(result)
result.plot()

# %% [markdown]
# The treatments differ by less than two patients of a hundred, so a thousand patients cannot tell
# them apart: the pulls stay spread. That, too, is a result, and an honest one.
