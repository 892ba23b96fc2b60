"""Faults in how outcomes are told late, and counted once."""

from mutants.fault import Fault

AREA = "inboxes"

FAULTS = [
    Fault(
        "the second outcome of a decision takes the place of the first",
        AREA,
        "if found.told and found.reward != reward:",
        "if False:",
        ("test_open_decisions.py",),
        "TestTold",
    ),
    Fault(
        "an outcome that nobody waited for counts in each round again",
        AREA,
        "self.outcomes.count(asked.t, {*handed, *asked.awaited})",
        "self.outcomes.count(asked.t, asked.awaited)",
        ("test_open_decisions.py",),
        "TestTold",
    ),
    Fault(
        "a lost outcome is handed to a party that cannot do without one",
        AREA,
        "if reward is None:  # what a lost",
        "if False:  # what a lost",
        ("test_inbox_trouble.py",),
        "lost",
    ),
    Fault(
        "a run that settles takes outcomes that it does not count",
        AREA,
        "if self.state != RUNNING or (self.counted and not self.told):",
        "if self.state != RUNNING:",
        ("test_open_decisions.py",),
        "last_moment",
    ),
    Fault(
        "the longer a run is, the longer a party looks for outcomes",
        AREA,
        "WHERE told IS NOT NULL AND counted IS NULL;",
        "WHERE told IS NOT NULL AND counted = 0;",
        ("test_open_decisions.py",),
        "however_often",
    ),
]
