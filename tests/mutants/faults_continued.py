"""Faults in what is kept after a run, and in runs that continue others."""

from mutants.fault import Fault

AREA = "continued runs"

FAULTS = [
    Fault(
        "the total of a continued run has the rewards of the earlier one in it",
        AREA,
        "return [(s - s_before, n - n_before) for",
        "return [(s - 0 * s_before, n - n_before) for",
        ("samba/test_continued.py",),
        "equals_plain",
    ),
    Fault(
        "ties are drawn for the places of arms, not for their numbers",
        AREA,
        "return [number for held in self.numbers().values() for number in held]",
        "return list(range(self.k))",
        ("samba/test_continued.py",),
        "between_others",
    ),
    Fault(
        "known arms are pulled to begin with as if they were new",
        AREA,
        "in list(pairs)[len(self._memory.had) :]:",
        "in list(pairs):",
        ("samba/test_continued.py",),
        "equals_plain",
    ),
    Fault(
        "an owner goes on from what another party kept",
        AREA,
        "found = (kept.run, kept.party, kept.rounds, kept.numbers)",
        "found = (continued.run, owner, continued.rounds, numbers)",
        ("samba/test_continued.py",),
        "kept_itself",
    ),
    Fault(
        "what is kept is written down in clear",
        AREA,
        "return _FORMAT + self._aead(run).seal([state], self._bound(run))",
        "return _FORMAT + state",
        ("daemon/test_continued.py",),
        "open_only",
    ),
    Fault(
        "what is kept is not bound to its party",
        AREA,
        'return f"{run} {self._party}".encode()',
        "return run.encode()",
        ("daemon/test_continued.py",),
        "open_only",
    ),
    Fault(
        "a run that was stopped is kept",
        AREA,
        "            self._change(run, state, note)\n            self.keep_nothing(run)",
        "            self._change(run, state, note)",
        ("test_kept_states.py",),
        "ended_early",
    ),
    Fault(
        "what a party keeps goes into its journal as it is",
        AREA,
        "kept is None or self._seal is None else self._seal(kept)",
        "kept is None else kept",
        ("test_kept_states.py",),
        "towards_the_end",
    ),
    Fault(
        "a party with another key goes on in the place of an earlier one",
        AREA,
        "elif before.key_bytes != member.key_bytes:",
        "elif before.subject != member.subject:",
        ("daemon/test_continued.py",),
        "another_key",
    ),
    Fault(
        "nobody is asked before it keeps something",
        AREA,
        "if request.keeps and not keep:",
        "if False:",
        ("test_consent.py",),
        "is_asked",
    ),
]
