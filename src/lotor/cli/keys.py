"""`lotor keys`: how a federation makes, shows, renews and revokes its keys."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from lotor.cli.derive import allow, whole_number
from lotor.cli.keys_protect import (
    KeyFile,
    NewKeyFile,
    choice_of,
    note_to_keep,
    protect_command,
    unprotect_command,
)
from lotor.cli.keys_show import (
    describe,
    describe_certificate,
    describe_request,
    lines_of,
    print_document,
)
from lotor.core.errors import ConfigError, InputError
from lotor.crypto.certificates import Request, Subject, Trust
from lotor.protocols.protocol import PROTOCOLS, all_forms, shown_first
from lotor.runtime.daemon.authority import AuthorityFolder
from lotor.runtime.daemon.enrolment import (
    CERTIFICATE_LABEL,
    LIST_LABEL,
    install_certificate,
    install_revocations,
    make_request,
    renew_request,
)
from lotor.runtime.daemon.key_files import naming, read_file, replace_file
from lotor.runtime.daemon.protecting import Choice, create_authority
from lotor.sandbox.kits import AUTHORITY_FOLDER, make_kits

DEMO_OWNERS = ["lyon", "porto", "graz"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Make, show, protect, renew and revoke the keys of a federation.",
    epilog="One organisation runs `lotor keys authority`. Every party runs `request` on its own "
    "machine, the authority runs `sign`, and the party runs `install`: docs/keys.md.",
)

app.command("protect")(protect_command)
app.command("unprotect")(unprotect_command)

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
AuthorityDir: TypeAlias = Annotated[Path, typer.Option("--authority", help="Authority's folder.")]
KitDir: TypeAlias = Annotated[Path, typer.Option("--kit", help="The party's folder.")]


def _check_role(role: str, protocol: str | None) -> None:
    """Refuse a role that no protocol has."""
    if protocol is not None:
        allow(PROTOCOLS, protocol)
    known = list(dict.fromkeys(one.name for form in all_forms(PROTOCOLS) for one in form.roles))
    if role not in known:
        raise InputError(
            f"no protocol has the role {role!r}: choose one of {', '.join(known)}, or name your "
            "own protocol by --protocol module:Class"
        )


def _note(text: str) -> None:
    typer.echo(text, err=True)


@app.command("authority")
def authority_command(
    name: Annotated[str, typer.Argument(help="The federation's name, e.g. 'clinics'.")],
    folder: Annotated[Path, typer.Option("--dir", help="Where to put it.")] = Path("authority"),
    days: Annotated[
        int, typer.Option(parser=whole_number, help="How long the federation can last.")
    ] = 3650,
    key_file: KeyFile = None,
    new_key_file: NewKeyFile = None,
    unprotected: Annotated[
        bool, typer.Option("--unprotected", help="Do not encrypt its key: for trials.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make the authority of a federation: the one key that all parties trust."""
    choice = choice_of(key_file, new_key_file)
    if unprotected:
        if choice != Choice():
            raise InputError("--unprotected goes with no key file: leave one of them out")
        AuthorityFolder.create(folder, name, days)
        _note(f"WARNING: {folder}/key.pem is not encrypted: whoever copies it can pose as anybody.")
    else:
        create_authority(folder, name, days, choice)
        note_to_keep(choice)
    print_document({**describe(folder), "folder": str(folder)}, as_json=as_json)
    _note(
        f"Guard {folder}/key.pem: anybody who can open it can pose as any party. Back up the "
        "folder.\n"
        "Tell every party the fingerprint above by phone.\n"
        "Next: each party runs `lotor keys request`."
    )


@app.command()
def request(
    role: Annotated[str, typer.Option(help="What the party does in runs.")],
    name: Annotated[str, typer.Option(help="The party's own name in the federation.")],
    kit: Annotated[
        Path | None, typer.Option("--kit", help="The folder to make. Default: the name.")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(help="Your own protocol that has the role, as module:Class.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a party's key, on its own machine, and a request for a certificate."""
    _check_role(role, protocol)
    folder = kit or Path(name)
    made = make_request(folder, Subject(name, role))
    _print_request(made, folder, as_json=as_json)


@app.command()
def renew(kit: KitDir, as_json: AsJson = False) -> None:
    """Ask for a new certificate with the same key, before the old one expires."""
    _print_request(renew_request(kit), kit, as_json=as_json)


def _print_request(made: Request, kit: Path, *, as_json: bool) -> None:
    file = kit / "request.pem"
    print_document({**describe_request(made), "file": str(file)}, as_json=as_json)
    _note(
        f"Next: send {file} to the authority (it is not secret), and read out the fingerprint "
        f"by phone.\n{kit}/key.pem is secret and stays here.\n"
        f"The authority sends a certificate back: `lotor keys install FILE --kit {kit}`."
    )


@app.command()
def sign(
    request_file: Annotated[Path, typer.Argument(metavar="REQUEST", help="A request.pem.")],
    authority: AuthorityDir = Path("authority"),
    days: Annotated[
        int, typer.Option(parser=whole_number, help="How long the certificate is valid.")
    ] = 365,
    out: Annotated[
        Path | None, typer.Option(help="The file to write. Default: NAME.certificate.pem.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask whether the fingerprint has been compared.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Sign a party's request, once its fingerprint has been compared by phone."""
    folder = AuthorityFolder(authority)
    pem = read_file(request_file, "it should be the request.pem that a party sent")
    with naming(request_file):
        asked = Request.from_pem(pem)
    folder.check(asked)
    target = out or Path(f"{asked.subject.name}.certificate.pem")
    _check_target(target)
    if not yes:
        _confirm(asked)
    folder.unlock()
    with naming(authority):
        certificate = folder.sign(pem, days)
    replace_file(target, folder.handout(certificate))
    shown = describe_certificate(certificate, Trust(folder.certificate_pem))
    print_document({**shown, "file": str(target)}, as_json=as_json)
    _note(
        f"Next: send {target} to {asked.subject} (it is not secret), who runs\n"
        f"  lotor keys install {target.name} --kit {asked.subject.name}"
    )


def _check_target(path: Path) -> None:
    """Refuse, before anything is signed, a file that cannot be written or must not be replaced."""
    if not path.parent.is_dir():
        raise ConfigError(f"{path} cannot be written: there is no folder {path.parent}")
    if path.exists() and b"-----BEGIN CERTIFICATE-----" not in read_file(path, "")[:100]:
        raise ConfigError(f"{path} exists and is not a certificate: choose another --out")


def _confirm(asked: Request) -> None:
    for line in lines_of({**describe_request(asked), "kind": None}):
        _note(line)
    _note("Has the party read out this fingerprint by phone, and may it have this role? [y/N]")
    # Not typer.confirm: it writes to stdout, which is for data.
    answer = typer.get_text_stream("stdin").readline()
    if not answer:
        raise InputError(
            "nothing was signed, because nobody answered: compare the fingerprint and use --yes"
        )
    if answer.strip().lower() not in {"y", "yes"}:
        raise InputError("nothing was signed: the answer was not yes")


@app.command()
def install(
    file: Annotated[
        Path, typer.Argument(help="What the authority sent: a certificate, or its revoked.pem.")
    ],
    kit: KitDir,
    as_json: AsJson = False,
) -> None:
    """Put what the authority sent into a kit, after checking that it belongs there."""
    sent = read_file(file, "it should be what the authority sent")
    if LIST_LABEL in sent and CERTIFICATE_LABEL not in sent:
        install_revocations(kit, file)
        print_document(describe(kit), as_json=as_json)
        _note("The revocation list counts at once; a running party need not be restarted.")
        return
    install_certificate(kit, file)
    print_document(describe(kit), as_json=as_json)
    _note(
        "Compare the authority's fingerprint by phone: the holder of that key decides who is who.\n"
        f"Next: write {kit}/party.toml, for instance with `lotor init --kit {kit}`."
    )


@app.command()
def show(
    path: Annotated[
        Path,
        typer.Argument(help="A kit, an authority folder, a certificate, a request or a list."),
    ] = Path(),
    as_json: AsJson = False,
) -> None:
    """Show names, roles, fingerprints, how long they last, and what is revoked."""
    print_document(describe(path), as_json=as_json)


@app.command()
def revoke(
    name: Annotated[str, typer.Argument(help="The party whose certificates no longer count.")],
    authority: AuthorityDir = Path("authority"),
    as_json: AsJson = False,
) -> None:
    """Take a party's certificates back, for instance after its key was stolen."""
    folder = AuthorityFolder(authority)
    taken = folder.revoke(name)
    _note(f"{len(taken)} certificate(s) of {taken[0].role} {name} no longer count.")
    _print_list(folder, as_json=as_json)


@app.command()
def refresh(authority: AuthorityDir = Path("authority"), as_json: AsJson = False) -> None:
    """Sign the revocation list anew: after 30 days it counts as stale."""
    folder = AuthorityFolder(authority)
    folder.refresh()
    _print_list(folder, as_json=as_json)


def _print_list(folder: AuthorityFolder, *, as_json: bool) -> None:
    file = folder.revoked_path
    print_document({**describe(file), "file": str(file)}, as_json=as_json)
    _note(
        f"Next: send {file} to every party (it is not secret), who runs\n"
        "  lotor keys install revoked.pem --kit DIR\n"
        "Until then a party still accepts the certificates that you have revoked."
    )


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="The folder to make.")],
    owner: Annotated[
        list[str] | None, typer.Option(help="An owner's name; repeat. Default: lyon porto graz.")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(help="The protocol whose parties to make.", show_default="samba")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            help="The form of the protocol; `lotor run PROTOCOL --help` lists them.",
            show_default="the protocol's default",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a whole federation's keys on this machine, for trials only."""
    if protocol is not None:
        allow(PROTOCOLS, protocol)
    kind = PROTOCOLS[protocol or shown_first(PROTOCOLS)]
    chosen = kind.form_called(form or kind.default_form())
    chosen.check_federated(kind.name)
    if owner is not None and chosen.owner_role is None:
        raise InputError(f"--owner does not go with {kind.name}: its parties have fixed roles")
    members: dict[str, str] = {}
    for role in chosen.roles:
        named = (owner or DEMO_OWNERS) if role.name == chosen.owner_role else role.seats
        for name in named:
            if name in members:
                raise InputError(f"two parties are called {name!r}: give each one its own name")
            members[name] = role.name
    kits = make_kits(folder, members)
    _note(
        "WARNING: all private keys of this federation are on one machine, so it protects nobody's "
        "data: use it for trials only."
    )
    shown = {name: str(kit) for name, kit in kits.items()}
    print_document({"authority": str(folder / AUTHORITY_FOLDER), **shown}, as_json=as_json)
