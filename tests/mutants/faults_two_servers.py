"""Faults in HELBA's form with two servers."""

from mutants.fault import Fault

AREA = "two servers"
TAMPERING = ("helba/two_servers/test_tampering.py",)
ALGEBRA = ("helba/two_servers/test_algebra.py",)
SETTING = ("helba/two_servers/test_setting.py",)
VIEWS = ("helba/two_servers/test_views.py",)
EQUAL = ("helba/shared/test_equals_plain.py",)

FAULTS = (
    Fault(
        "a user's contexts leave before they are on its disk",
        AREA,
        "        yield Once(round_place(t) + sha256(words).digest())\n",
        "",
        TAMPERING,
        "once",
    ),
    Fault(
        "the server's shares leave before they are on its disk",
        AREA,
        "        yield Once(place + content.digest())\n",
        "",
        TAMPERING,
        "once",
    ),
    Fault(
        "an estimate leaves the server before its update is on the disk",
        AREA,
        "show the pad server what they have in common.\n"
        "        yield Once(round_place(t) + sha256(memory.sums + words).digest())\n",
        "be used twice.\n",
        TAMPERING,
        "once",
    ),
    Fault(
        "the pad server makes models of estimates that are not on its disk",
        AREA,
        "        yield Once(round_place(t) + sha256(columns + answer.words).digest())\n",
        "",
        TAMPERING,
        "once",
    ),
    Fault(
        "the pad server's labels leave before their input is on the disk",
        AREA,
        "        yield Once(place + sha256(words + told.words).digest())\n",
        "",
        TAMPERING,
        "once",
    ),
    Fault(
        "one pad covers all updates of a user",
        AREA,
        "return self._sums.numbers(_UPDATES, t, self._setting.sums)",
        "return self._sums.numbers(_UPDATES, 0 * t, self._setting.sums)",
        ALGEBRA,
    ),
    Fault(
        "one pad covers all contexts of a user",
        AREA,
        "source.numbers(_CONTEXTS + part, t, arms * width)",
        "source.numbers(_CONTEXTS + part, 0 * t, arms * width)",
        ALGEBRA,
    ),
    Fault(
        "users share a key",
        AREA,
        "party=name, run=run, pad_key=new_key(), tie_key=tie_key or new_key()",
        "party=name, run=run, pad_key=bytes(32), tie_key=tie_key or new_key()",
        VIEWS,
    ),
    Fault(
        "the server is sent the table of outputs, too",
        AREA,
        "        yield Send(user, side.table(t - 1, place))\n",
        "        yield Send(SERVER, side.table(t - 1, place))\n",
        EQUAL,
    ),
    Fault(
        "of two equal entries of the model one is forgotten",
        AREA,
        "matrix[a, b] * (1 if a == b else 2)",
        "matrix[a, b] * 1",
        ALGEBRA,
    ),
    Fault(
        "other terms are not noticed by the pad server",
        AREA,
        "            check_digest(told.digest, digest, user)\n",
        "",
        TAMPERING,
    ),
    Fault(
        "two calls of products have one number",
        AREA,
        "calls.append(ProductCall(number + 1, modulus, (self.terms.arms, width), 1))",
        "calls.append(ProductCall(number, modulus, (self.terms.arms, width), 1))",
        SETTING,
    ),
    Fault(
        "any sum passes for a total",
        AREA,
        "if count != terms.budget or total > terms.budget * REWARD_ONE:",
        "if count < 0:",
        TAMPERING,
    ),
    Fault(
        "runs whose circuits do not fit a connection are accepted",
        AREA,
        "if self.ahead_bytes > MOST_AHEAD_BYTES:",
        "if self.ahead_bytes < 0:",
        SETTING,
    ),
    Fault(
        "a coalition that may collude is audited as one that may not",
        AREA,
        "harmful = roles in form.coalitions",
        "harmful = True",
        VIEWS,
        "audit",
    ),
)
