"""Faults in HELBA's shared form, and in the whole numbers that it computes with."""

from mutants.fault import Fault

AREA = "hidden contexts"
TAMPERING = ("helba/shared/test_tampering.py",)
ALGEBRA = ("helba/shared/test_algebra.py",)
SETTING = ("helba/shared/test_setting.py",)
EQUAL = ("helba/shared/test_equals_plain.py",)
WHOLE = ("optimistic/test_whole_model.py",)

FAULTS = (
    Fault(
        "contexts leave before they are on the user's disk",
        AREA,
        "        yield Once(round_place(t) + content.digest())\n",
        "",
        TAMPERING,
        "once",
    ),
    Fault(
        "an estimate leaves before its update is on the server's disk",
        AREA,
        "show the user what they have in common.\n"
        "        yield Once(round_place(t) + sha256(memory.sums + words).digest())\n",
        "be used twice.\n",
        TAMPERING,
        "once",
    ),
    Fault(
        "HELBA's labels leave before their input is on the disk",
        AREA,
        "        yield Once(place + sha256(words + covered.words).digest())\n",
        "",
        TAMPERING,
        "once",
    ),
    Fault(
        "a reward is not on the user's disk before its update leaves",
        AREA,
        "(yield Pull(decision, masked=True)))  # step 11",
        "(yield Pull(decision)))  # step 11",
        ("helba/test_forms_resume.py",),
        "power_cut",
    ),
    Fault(
        "updates are not counted",
        AREA,
        "if (numbers[-1] - counted) % modulus.product != start:",
        "if not len(numbers):",
        ALGEBRA,
    ),
    Fault(
        "one R serves all batches",
        AREA,
        "source.invertible(_MATRICES, start, d)",
        "source.invertible(_MATRICES, 0, d)",
        ALGEBRA,
    ),
    Fault(
        "one s serves all batches",
        AREA,
        "source.numbers(_VECTORS, start, d)",
        "source.numbers(_VECTORS, 0, d)",
        ALGEBRA,
    ),
    Fault(
        "one pad covers all updates",
        AREA,
        "return self._source.numbers(_PADS, t, self._setting.sums)",
        "return self._source.numbers(_PADS, 0 * t, self._setting.sums)",
        ALGEBRA,
    ),
    Fault(
        "an error names the prime that divides det V",
        AREA,
        '"modulo a prime: that happens by chance once in 2^"',
        'f"modulo one of {setting.modulus.primes}: by chance once in 2^"',
        ALGEBRA,
    ),
    Fault(
        "the user's shares are the same in all rounds",
        AREA,
        "return source.numbers(label, turn, self._arms)",
        "return source.numbers(label, 0 * turn, self._arms)",
        ALGEBRA,
    ),
    Fault(
        "scores have no offset",
        AREA,
        "numbers = (modulus.whole(both) + offset) % modulus.product",
        "numbers = (modulus.whole(both) + 0 * offset) % modulus.product",
        EQUAL,
    ),
    Fault(
        "arms are not in the order of ties",
        AREA,
        "vectors(t, [contexts[arm] for arm in order])",
        "vectors(t, contexts)",
        EQUAL,
    ),
    Fault(
        "runs in which a prime may divide a determinant are not refused",
        AREA,
        "if self.distance > MOST_DISTANCE:",
        "if self.distance > 0:",
        SETTING,
    ),
    Fault(
        "condition (8) is computed on a grid",
        AREA,
        "        if policy.C is not None:\n            raise InputError(",
        "        if policy.C == 0:\n            raise InputError(",
        WHOLE,
    ),
    Fault(
        "rounded contexts are taken to be no longer than contexts",
        AREA,
        "return ceil(longest * longest + longest * _root(index.d) + Fraction(index.d, 4))",
        "return ceil(longest * longest / 2)",
        WHOLE,
    ),
    Fault(
        "the window of scores forgets rewards",
        AREA,
        "return self.reward * (isqrt(product) + 1)",
        "return isqrt(product) + 1",
        WHOLE,
    ),
    Fault(
        "halves are rounded to even numbers",
        AREA,
        "return below + (value - below >= 0.5)",
        "return round(value)",
        WHOLE,
    ),
)
