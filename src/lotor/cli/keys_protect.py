"""`lotor keys protect` and `lotor keys unprotect`."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from lotor.cli.keys_show import describe, print_document
from lotor.core.errors import InputError
from lotor.runtime.daemon.credentials import credential_file
from lotor.runtime.daemon.protecting import (
    Choice,
    SecretFolder,
    authority_folder,
    kit_folder,
    protect,
    unprotect,
)

KeyFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--key-file", help="A key file, at least 32 random bytes, not a passphrase."),
]
NewKeyFile: TypeAlias = Annotated[
    Path | None, typer.Option("--new-key-file", help="Make this key file, and use it.")
]
Kit: TypeAlias = Annotated[Path | None, typer.Option("--kit", help="The party's folder.")]
Authority: TypeAlias = Annotated[
    Path | None, typer.Option("--authority", help="Or the authority's folder.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]

KEEP = (
    "Keep {0} where no copy of this folder is, and a second copy of it: if it is lost, nothing "
    "can open the folder."
)
DONE = {
    "protected": "Key and journal are encrypted now. Copies that were made before, and what the "
    "disk keeps of the old files, are not: see docs/keys.md.",
    "completed": "What was interrupted is complete; it opens with what it was begun with.",
    "changed": "The old one does not open this folder any more. It still opens older copies of "
    "protection.json, and with them what is encrypted here now: see docs/keys.md.",
}


def choice_of(key_file: Path | None, new_key_file: Path | None) -> Choice:
    if key_file is not None and new_key_file is not None:
        raise InputError("--key-file and --new-key-file exclude each other: give one of them")
    return Choice(key_file, new_key_file)


def note_to_keep(choice: Choice, *, typed: bool = False) -> None:
    """What to do with the secret of a folder."""
    typer.echo(KEEP.format(secret_of(choice, typed=typed)), err=True)


def secret_of(choice: Choice, *, typed: bool = False) -> str:
    """What opens something from now on, and which one it is if nobody has `typed` it."""
    path, named = choice.new_key_file or choice.key_file, credential_file()
    if path is not None:
        return str(path)
    if named is None or typed:
        return "the passphrase"
    return f"the passphrase, which is the content of {named[0]} ({named[1]}),"


def _folder(kit: Path | None, authority: Path | None) -> SecretFolder:
    if kit is not None and authority is None:
        return kit_folder(kit)
    if authority is not None and kit is None:
        return authority_folder(authority)
    raise InputError("name one folder: --kit DIR for a party's, --authority DIR for an authority's")


def protect_command(
    kit: Kit = None,
    authority: Authority = None,
    key_file: KeyFile = None,
    new_key_file: NewKeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Encrypt a party's key and journal, or an authority's key; or change what opens them."""
    folder, choice = _folder(kit, authority), choice_of(key_file, new_key_file)
    done = protect(folder, choice)
    print_document(describe(folder.path), as_json=as_json)
    typer.echo(DONE[done], err=True)
    if done != "completed":
        note_to_keep(choice, typed=done == "changed")


def unprotect_command(
    kit: Kit = None, authority: Authority = None, as_json: AsJson = False
) -> None:
    """Decrypt a party's key and journal, or an authority's key, again."""
    folder = _folder(kit, authority)
    unprotect(folder)
    print_document(describe(folder.path), as_json=as_json)
    typer.echo(
        f"WARNING: what is in {folder.path} is no longer encrypted: whoever can read its files, "
        "or a copy of them, has them all.",
        err=True,
    )
