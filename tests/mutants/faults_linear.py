"""Faults in the shared form of LinUCB-DS, and in what garbled forms have in common."""

from mutants.fault import Fault

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
)
