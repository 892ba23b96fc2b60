"""Faults in what PPCB and LinUCB-DS keep after a run, and in runs that go on from it."""

from mutants.fault import Fault

AREA = "kept states"
PPCB = ("ppcb/test_continued.py",)
LINEAR = ("linucb_ds/test_continued.py",)

FAULTS = (
    Fault(
        "a run begins with the very shares that were kept",
        AREA,
        "share = kept.share + moved if kept.first else kept.share - moved",
        "share = kept.share",
        PPCB,
        "do_not_fit",
    ),
    Fault(
        "servers draw again what they drew in the earlier run",
        AREA,
        "return Chance.drawn(self._draws, self._terms.before + t)",
        "return Chance.drawn(self._draws, t)",
        PPCB,
        "one_that_is_as_long or floats",
    ),
    Fault(
        "a prediction changes the model",
        AREA,
        "return 0 if self.predicts else max(0, self.ends - self.late)",
        "return max(0, self.ends - self.late)",
        PPCB,
    ),
    Fault(
        "late rewards are lost when the model is kept",
        AREA,
        "return self.steps + (self.late if self.keep else 0)",
        "return self.steps",
        PPCB,
        "late_rewards",
    ),
    Fault(
        "a server goes on from the other's share",
        AREA,
        "if found != (continued.run, party, continued.steps) or not same",
        "if not same",
        PPCB,
        "refused",
    ),
    Fault(
        "an order may say that less was told than was",
        AREA,
        "if terms.continued != continued_from(earlier):",
        "if terms.continued is None:",
        PPCB,
        "less_than_was_told",
    ),
    Fault(
        "each run of a chain has the whole privacy budget",
        AREA,
        "            budget -= told\n",
        "",
        ("ppcb/test_continued.py", "privacy/test_accountant.py"),
        "budget",
    ),
    Fault(
        "P goes on with other arms",
        AREA,
        "if self.arms != arms_digest(fields):",
        "if not fields:",
        LINEAR,
        "other_arms",
    ),
    Fault(
        "a total counts pulls of earlier runs",
        AREA,
        "        self.rewards = RewardSum(self.layout, self.catalogue.arms()[0])\n",
        "        self.rewards = RewardSum(self.layout, self.catalogue.arms()[0])\n"
        "        self.rewards.noise += (memory.kept is not None) << 60\n",
        LINEAR,
    ),
    Fault(
        "P draws the noise of the earlier run again",
        AREA,
        "noise = self.draws.noise(number)",
        "noise = self.draws.noise(t)",
        LINEAR,
        "are_one",
    ),
    Fault(
        "live rewards go on under a fresh key",
        AREA,
        "if self.keep or self.continued is not None:",
        "if self.keep:",
        ("linucb_ds/live/test_options.py",),
        "keep_or_continue",
    ),
)
