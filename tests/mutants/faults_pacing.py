"""Faults in when rounds begin."""

from mutants.fault import Fault

FAULTS = [
    Fault(
        "a party that is rebuilt waits again for rounds that had begun",
        "pacing",
        "if t <= self.begun or self._is_open(t):",
        "if self._is_open(t):",
        ("test_round_gate.py",),
    ),
    Fault(
        "rounds that were held up follow each other at once",
        "pacing",
        "self.begun, self._began = t, self._clock.now()",
        "self.begun, self._began = t, self._began + self._pace.every",
        ("test_round_gate.py",),
    ),
    Fault(
        "a restart ends a pause",
        "pacing",
        "self.paused = saved.paused",
        "self.paused = None",
        ("test_pauses.py",),
    ),
    Fault(
        "nobody minds that another party has paused the run",
        "pacing",
        "if self.paused is not None or self.pausing:",
        "if self.paused is not None:",
        ("test_round_gate.py",),
    ),
    Fault(
        "anybody grants rounds",
        "pacing",
        "grant.signature,\n                sender=agreement.form.opener,",
        "grant.signature,\n                sender=sender,",
        ("test_hostile_grants.py",),
    ),
    Fault(
        "a grant counts twice where its command is carried out again after a crash",
        "pacing",
        "with self._journal.transaction():\n            if live.state == RUNNING:",
        "if True:\n            if live.state == RUNNING:",
        ("test_on_demand.py",),
        "twice",
    ),
]
