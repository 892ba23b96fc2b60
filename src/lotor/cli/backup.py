"""`lotor backup`: a party's kit and journal in one encrypted file."""

from pathlib import Path
from typing import Annotated

import typer

from lotor.cli.keys_protect import AsJson, KeyFile, NewKeyFile, choice_of, secret_of
from lotor.cli.keys_show import print_document
from lotor.cli.moments import moment
from lotor.cli.serve import KitOption
from lotor.runtime.daemon.backup.making import back_up

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def backup_command(
    file: Annotated[Path, typer.Argument(help="The file to write; it must not exist yet.")],
    kit: KitOption,
    key_file: KeyFile = None,
    new_key_file: NewKeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Write an encrypted backup of a party's kit and journal, also while it is served."""
    choice = choice_of(key_file, new_key_file)
    report = back_up(kit, file, choice)
    document = {
        "file": report.file,
        "party": report.subject,
        "made": moment(report.made),
        "files": report.files,
        "bytes": report.size,
    }
    print_document(document, as_json=as_json)
    typer.echo(
        f"Keep {secret_of(choice)} where no copy of this file is, and a second copy of it: if it "
        "is lost, nothing can open the backup.\n"
        "Modules and data of your own in the kit are not in it. Runs that go on do not go on from "
        "it, but from the party's own journal: docs/keys.md.",
        err=True,
    )
