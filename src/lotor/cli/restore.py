"""`lotor restore`: puts back what `lotor backup` has written."""

from pathlib import Path
from typing import Annotated

import typer

from lotor.cli.keys_protect import AsJson, KeyFile
from lotor.cli.keys_show import print_document
from lotor.cli.moments import moment
from lotor.cli.serve import KitOption
from lotor.runtime.daemon.backup.restoring import RestoreReport, restore

MEANING = """\
This journal is as of {made}. Runs that were over then, and what runs had cost, are as they were.
Runs that have gone on since do not go on from it: their other parties refuse it, and
`lotor runs show` says so. If a newer journal exists, put that one back; else end these runs by
`lotor runs stop`.
It has forgotten the runs that began since, and what they cost: see what `lotor budget` counts, and
lower the budgets in party.toml if there were any.
Serve this party in one place only. Next: `lotor doctor --kit {kit}`."""
REPLACED = """\
What was there is now in {}, secrets included: delete it when you do not need it any more.
"""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def restore_command(
    file: Annotated[Path, typer.Argument(help="What `lotor backup` has written.")],
    kit: KitOption,
    key_file: KeyFile = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace a kit that is there; it is kept beside the new one."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Put a backup back: all of it is checked before anything takes its place."""
    report = restore(file, kit, key_file=key_file, force=force)
    document = {
        "kit": report.kit,
        "state": report.state,
        "party": report.subject,
        "made": moment(report.made),
        "files": report.files,
        **({"replaced": [{"folder": one} for one in report.replaced]} if report.replaced else {}),
    }
    print_document(document, as_json=as_json)
    typer.echo(_meaning(report), err=True)


def _meaning(report: RestoreReport) -> str:
    """What the operator has to know before the party is served."""
    text = MEANING.format(made=moment(report.made), kit=report.kit)
    return REPLACED.format(" and ".join(report.replaced)) + text if report.replaced else text
