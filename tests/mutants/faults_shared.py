"""Faults in SAMBA's shared form."""

from mutants.fault import Fault

FAULTS = (
    Fault(
        "labels leave before their input is on the disk",
        "shared form",
        "                yield Once(place + scores)\n",
        "",
        ("samba/shared/test_tampering.py",),
        "once",
    ),
    Fault(
        "an owner's reward is not on the disk before its next score leaves",
        "shared form",
        "Controller the XOR of the two.\n    masked: ClassVar[bool] = True\n",
        "Controller the XOR of the two.\n    masked: ClassVar[bool] = False\n",
        ("samba/test_forms_resume.py",),
        "power_cut",
    ),
    Fault(
        "an owner does not check tags",
        "shared form",
        "if bit > 1 or theirs[1] ^ pad[1] != mine[1 + bit]:",
        "if bit > 1:",
        ("samba/shared/test_tampering.py",),
    ),
    Fault(
        "an owner takes several selected arms for one",
        "shared form",
        "if len(selected) > 1:",
        "if not selected and len(selected) > 1:",
        ("samba/shared/test_tampering.py",),
    ),
    Fault(
        "ties go to the smallest draw",
        "shared form",
        "np.argsort(~self._draws.words(TIES, t, l)",
        "np.argsort(self._draws.words(TIES, t, l)",
        ("samba/test_forms_equal_plain.py",),
        "ties",
    ),
    Fault(
        "all owners get the same key from Comp",
        "shared form",
        'derive_key(secret, f"share key of {owner}")',
        'derive_key(secret, f"share key of all {bool(owner)}")',
        ("samba/shared/test_leakage.py",),
    ),
    Fault(
        "Comp's results are not under the owner's pad",
        "shared form",
        'rows["tag"] = signs.tags[:, 0] ^ tags',
        'rows["tag"] = signs.tags[:, 0] ^ (tags & np.uint64(0))',
        ("samba/test_forms_equal_plain.py",),
    ),
    Fault(
        "the total's tag is not checked",
        "shared form",
        "if tag != alpha * w % P:",
        "if tag < 0:",
        ("samba/shared/test_tampering.py",),
    ),
    Fault(
        "a restored evaluator does not compute its labels again",
        "shared form",
        "            if not restored:\n                yield Send",
        "            if restored:\n                yield Send",
        ("samba/test_forms_resume.py",),
        "restarted",
    ),
)
