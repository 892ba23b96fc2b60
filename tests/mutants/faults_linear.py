"""Faults in LinUCB-DS's shared form, its live rewards, and what garbled forms have in common."""

from mutants.fault import Fault

LIVE_AREA = "live rewards"
AREA = "linear shared form"

FAULTS = (
    Fault(
        "P's rows leave before they are on the disk",
        AREA,
        "                yield Once(covered.place + covered.rows + covered.shares)\n",
        "",
        ("linucb_ds/shared/test_tampering.py",),
        "once",
    ),
    Fault(
        "Comp's labels leave before their input is on the disk",
        AREA,
        "                yield Once(given.place + given.rows + given.shares)\n",
        "",
        ("linucb_ds/shared/test_tampering.py",),
        "once",
    ),
    Fault(
        "a restarted P makes a batch of products again",
        AREA,
        "if begins and not memory.products:",
        "if begins:",
        ("linucb_ds/test_forms_resume.py",),
        "restarted or crash",
    ),
    Fault(
        "a batch of products may leave before it is on the disk",
        AREA,
        "yield Checkpoint(game.snapshot, game.round(memory.t), durable=begins)",
        "yield Checkpoint(game.snapshot, game.round(memory.t))",
        ("linucb_ds/shared/test_tampering.py",),
        "on_the_disk",
    ),
    Fault(
        "a run may tell Comp as much as it likes",
        AREA,
        "if self.distance > LARGEST_DISTANCE:",
        "if self.distance > 0:",
        ("linucb_ds/shared/test_tampering.py",),
        "tells_too_much",
    ),
    Fault(
        "several places may win",
        AREA,
        "if bits.sum() != 1:",
        "if bits.sum() > 99:",
        ("garbled/test_reading.py",),
    ),
    Fault(
        "an evaluator chooses for the wrong batch",
        AREA,
        "later = number + self.ahead",
        "later = number + 1",
        ("samba/test_forms_equal_plain.py",),
    ),
    Fault(
        "another live reward may leave after a power cut",
        LIVE_AREA,
        "reward: float = yield Pull(decision, masked=True)\n                hidden",
        "reward: float = yield Pull(decision)\n                hidden",
        ("linucb_ds/live/test_resume.py",),
        "power",
    ),
    Fault(
        "live rewards of another range are taken",
        LIVE_AREA,
        "if terms.scale != self._scale:",
        "if False:",
        ("linucb_ds/live/test_resume.py",),
        "range",
    ),
    Fault(
        "a long run leaves no room for its live rewards",
        LIVE_AREA,
        "min(_MOST_U_BITS, _SUM_BITS - self.budget.bit_length())",
        "_MOST_U_BITS",
        ("linear/test_live_layout.py",),
    ),
)
