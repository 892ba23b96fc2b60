"""Faults where two servers make for each other what a dealer would deal, and in PPCB on top."""

from mutants.fault import Fault

AREA = "without a dealer"
SCHEDULE = ("dealerless/test_schedule.py",)
RESUME = ("ppcb/shared/test_resume.py",)
VIEWS = ("ppcb/shared/test_views.py",)
TAMPERING = ("ppcb/shared/test_tampering.py",)
EQUAL = ("ppcb/shared/test_same_as_plain.py",)

FAULTS = (
    Fault(
        "one set of masks for all steps",
        AREA,
        "return Pads(self._masks, size, t=t, attempt=0,",
        "return Pads(self._masks, size, t=0, attempt=0,",
        VIEWS,
    ),
    Fault(
        "the evaluator brings the same numbers to all circuits",
        AREA,
        "Pads(self._numbers, 8 * count, t=turn.t,",
        "Pads(self._numbers, 8 * count, t=0 * turn.t,",
        VIEWS,
    ),
    Fault(
        "labels leave the garbler before their input is on the disk",
        AREA,
        "        yield Once(turn.place + sha256(packed).digest())\n",
        "",
        RESUME,
        "announces",
    ),
    Fault(
        "a context is computed on before it is on the disk",
        AREA,
        "        yield self._announced(t, _CONTEXT, x)\n",
        "",
        RESUME,
        "announces",
    ),
    Fault(
        "a reward is learnt from before it is on the disk",
        AREA,
        "        yield self._announced(t, _REWARD, reward)\n",
        "",
        RESUME,
        "announces",
    ),
    Fault(
        "one server always evaluates",
        AREA,
        "return 1 - self.number % 2",
        "return 1",
        SCHEDULE,
    ),
    Fault(
        "a context that is too long is chosen for",
        AREA,
        "if told_colours[0] ^ colours(outputs[arms:]).item():",
        "if False:",
        TAMPERING,
    ),
    Fault(
        "another version goes on with a run, in other batches",
        AREA,
        "if digest != self.digest:",
        "if False:",
        SCHEDULE,
    ),
    Fault(
        "transfers may be as weak as they like",
        AREA,
        '        check_security(self.hashes_per_key, "hashes of vectors")\n',
        "",
        SCHEDULE,
    ),
    Fault(
        "rounding may leave the rings",
        AREA,
        "if (1 / ridge + drift) * (1 + SLACK) >= MOST:",
        "if False:",
        SCHEDULE,
    ),
    Fault(
        "the actor is also told whether a context is too long",
        AREA,
        "signs = sharing.signs(turn, outputs[:arms])",
        "signs = sharing.signs(turn, outputs)",
        EQUAL,
    ),
    Fault(
        "ranks are left out, so that the first of equal scores wins",
        AREA,
        "ranked = (scores << shape.rank_bits) + chance.ranks\n    room = -(length",
        "ranked = scores << shape.rank_bits\n    room = -(length",
        EQUAL,
    ),
    Fault(
        "a restored server asks for choices again",
        AREA,
        "        if not restored:\n            yield from self._send(Choices,",
        "        if True:\n            yield from self._send(Choices,",
        RESUME,
        "restarted",
    ),
    Fault(
        "a truncated number borrows whatever the other's bit is",
        AREA,
        "    borrows += bit & theirs\n",
        "    borrows += theirs\n",
        ("crypto/sharing/test_cutting.py",),
    ),
    Fault(
        "a product counts one cross term only",
        AREA,
        "        for joined, share in self._divided(offered, not evaluator):\n",
        "        for joined, share in ():\n",
        ("crypto/sharing/test_supply.py",),
    ),
    Fault(
        "bits are multiplied as if they were shared by sums",
        AREA,
        "return _ONE - (self._own(values) << _ONE)",
        "return _ONE - (self._own(values) << np.uint64(64 - 64))",
        ("crypto/sharing/test_supply.py",),
    ),
)
