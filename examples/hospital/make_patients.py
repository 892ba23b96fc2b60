"""Fill patients.db with made-up patients: 1.0 healed, 0.0 did not.

A hospital would copy its records instead: Outcomes.create(path, [1.0, 0.0, …]), in an order that
says nothing about the patients.
"""

import secrets
from pathlib import Path

from lotor.environments import Outcomes

PATIENTS = 1000
HEAL_OF_TEN = 8

outcomes = Outcomes.create(
    Path(__file__).with_name("patients.db"),
    [float(secrets.randbelow(10) < HEAL_OF_TEN) for _ in range(PATIENTS)],
)
print(f"{outcomes.path.name} holds {PATIENTS} made-up patients.")
