"""Three hospitals, each with one treatment and its own outcomes, find the best one together.

A hospital plugs in its data as a function that is asked for one outcome at a time; it may be slow
or async. Nobody sees another hospital's outcomes; the customer learns how many patients healed.
"""

import asyncio
import secrets

import lotor


class Hospital:
    """Stands for a ward: the next patient gets the treatment, and heals or does not."""

    def __init__(self, name: str, cured: int, of: int) -> None:
        self.name = name
        self._cured, self._of = cured, of
        self.treated = 0
        self.healed = 0

    async def treat(self, _: lotor.Decision) -> float:
        await asyncio.sleep(0)  # the world takes its time
        outcome = secrets.randbelow(self._of) < self._cured
        self.treated += 1
        self.healed += outcome
        return float(outcome)


hospitals = [Hospital("Lyon", 3, 10), Hospital("Porto", 8, 10), Hospital("Graz", 5, 10)]
arms = lotor.CallbackArms([hospital.treat for hospital in hospitals])
result = lotor.run(lotor.Samba(lotor.ThompsonSampling(), owners=3), arms, budget=300)

for hospital in hospitals:
    print(f"{hospital.name} treated {hospital.treated} and healed {hospital.healed}")
print(f"The customer learns: {result.reward:g} of 300 healed.")
assert result.reward == sum(hospital.healed for hospital in hospitals)
