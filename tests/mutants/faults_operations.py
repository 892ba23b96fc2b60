"""Faults in what operators do with a party: pruning, backups, and a first party.toml."""

from mutants.fault import Fault

AREA = "operations"

FAULTS = [
    Fault(
        "a pruned run begins again when it is announced again",
        AREA,
        "return run not in self.runs and self._journal.pruning.state(run) is not None",
        "return False",
        ("daemon/test_prune.py",),
        "announcement",
    ),
    Fault(
        "the journal lets a pruned run begin",
        AREA,
        "self.pruning.check_new(row.id)",
        "pass",
        ("durable/test_pruning.py",),
        "never_begins_again",
    ),
    Fault(
        "what was pruned stays in the log",
        AREA,
        """                    self._database.execute(remove, (run,))
            self._erasure.mark()""",
        """                    self._database.execute(remove, (run,))""",
        ("durable/test_pruning.py",),
        "nothing_of_a_pruned_run",
    ),
    Fault(
        "a table is forgotten in pruning",
        AREA,
        '    "settling": "run",\n',
        "",
        ("durable/test_pruning.py",),
    ),
    Fault(
        "pruning gives budget back",
        AREA,
        '    "statuses": "run",\n',
        '    "statuses": "run",\n    "ledger": "run",\n',
        ("durable/test_pruning.py",),
        "budget or on_purpose",
    ),
    Fault(
        "what peers have not received is pruned",
        AREA,
        'if self._count("SELECT count(*) FROM outbox WHERE run = ?", run):',
        "if not run:",
        ("durable/test_pruning.py",),
        "messages_for_a_peer",
    ),
    Fault(
        "a peer that still has something to deliver is told that the run was stopped",
        AREA,
        "said = state if state in ENDED else statuses.BLOCKED",
        "said = STOPPED",
        ("daemon/test_prune.py",),
        "keeps_what_it_has",
    ),
    Fault(
        "chunks do not say which is the last",
        AREA,
        '["lotor chunk 1", head, number, last]',
        '["lotor chunk 1", head, number]',
        ("test_chunks.py",),
        "anything_else",
    ),
    Fault(
        "chunks may change places",
        AREA,
        '["lotor chunk 1", head, number, last]',
        '["lotor chunk 1", head, last]',
        ("test_chunks.py",),
        "anything_else",
    ),
    Fault(
        "a backup may write anywhere",
        AREA,
        "if not allowed(head.name):",
        "if not head.name:",
        ("daemon/test_backup.py",),
        "fixed_list",
    ),
    Fault(
        "a restore replaces a journal that lies elsewhere unasked",
        AREA,
        "if not force:\n                _check_free(kit, state)",
        "if False:\n                _check_free(kit, state)",
        ("daemon/test_backup.py",),
        "anywhere",
    ),
    Fault(
        "what a restore replaces is lost",
        AREA,
        "path.rename(folder / aside / path.name)",
        "path.unlink() if path.is_file() else None",
        ("daemon/test_backup.py",),
        "on_purpose or killed",
    ),
    Fault(
        "a new party.toml lets any customer's runs start",
        AREA,
        '"customers": (),',
        '"customers": ("*",),',
        ("daemon/test_initial.py",),
        "with_nothing",
    ),
]
