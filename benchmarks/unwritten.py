"""Runs `lotor` without durability, or care for slow functions: `unwritten.py ARGS…`.

Answers are not written down, nor are two checkpoints of three, and a party's function is called in
the event loop, which a slow one would hold up. A run that is killed would go wrong: this only shows
how much of a round's CPU time cannot be saved there.
"""

from itertools import count

from lotor.cli import main
from lotor.core.effects import Decision
from lotor.runtime.daemon.function_caller import FunctionCaller
from lotor.runtime.durable.record import RunRecord

WRITTEN = 3  # one checkpoint of so many, since federation.py finds the round in the journal

_numbers = count()
_checkpoint = RunRecord.checkpoint


def checkpoint(record: RunRecord, snapshot: bytes | None, **counters: object) -> None:
    if snapshot is None or next(_numbers) % WRITTEN == 0:
        _checkpoint(record, snapshot, **counters)  # type: ignore[arg-type]
    else:
        record.commits += 1


def begin(caller: FunctionCaller, decision: Decision) -> bool:
    caller.ready = caller._check(decision, caller._function(decision))
    return True


RunRecord.checkpoint = checkpoint  # type: ignore[method-assign, assignment]
RunRecord.note = lambda *_: None  # type: ignore[method-assign]
FunctionCaller.begin = begin  # type: ignore[method-assign, assignment]

if __name__ == "__main__":
    main()
