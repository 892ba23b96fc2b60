"""Whatever members and strangers send, and whatever stands in a party's files: no harm is done."""

import secrets
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from lotor.core.errors import LotorError
from lotor.crypto.certificates import PartyKey
from lotor.crypto.signing import Identity
from lotor.protocols.form import Contribution
from lotor.runtime.daemon import announcement, commands
from lotor.runtime.daemon.announcement import EVERYBODY, PURPOSE
from lotor.runtime.daemon.config import read_config
from lotor.runtime.daemon.frames import Ask, Card, Open, Roster, decode, encode, read_card
from lotor.runtime.daemon.kit import KEY
from lotor.runtime.durable.frames import RunFrame
from lotor.runtime.durable.journal import STOPPED
from lotor.transport.handshake import Hello, Refusal, decode_greeting, encode_hello
from mutations import SEED, HostileTarget, Mutator, attack
from runtime.daemon.hostile import Sent
from runtime.daemon.stage import EVERYONE, Stage, play, unchanged
from runtime.daemon.waiting import until

# A parser's words about a number that no certificate has, before it is refused.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Parsed a serial number:cryptography.utils.CryptographyDeprecationWarning"
)

FEW, MANY = 100, 4_000
MANY_STRANGE, MANY_OF_MEMBERS, MANY_SIGNED = 30_000, 4_000, 2_000
RUN = "aa" * 16
TOML = b"""state = "state"
listen = "127.0.0.1:7400"

[peers]
controller = "hub.example.org:7400"

[limits]
wait = 60.0
max_frame = 1000000
workers = 2

[owner]
pull = "hospital:pull"
arms = 3
reward_range = [0.0, 1.0]
repeatable = true
tick = 0.5

[consent]
customers = ["acme"]
policies = ["ucb", "softmax:tau=0.02"]
least_budget = 10
total_budget = 1000
privacy_budget = 3.0

[members]
owner = ["lyon", "porto"]

[trial]
seed = 3
"""
COMMANDS = [
    commands.StartRun("samba", 24, {"policy": "ucb"}, {"owner": ["lyon"]}),
    commands.Approve(),
    commands.Refuse("not now"),
    commands.Stop("enough"),
    commands.Resolve(f"{RUN}/3/1", 0.5),
    commands.Resolve(f"{RUN}/3/1", features=(0.5, 0.25)),
]


def read_toml(folder: Path) -> Callable[[bytes], object]:
    path = folder / "party.toml"

    def read(data: bytes) -> object:
        path.write_bytes(data)
        return read_config(path)

    return read


def local_targets(folder: Path) -> dict[str, HostileTarget]:
    """What a party reads of its own files, and the first words of others."""
    card = encode(Card(bytes(300), Contribution(2, 0.0, 1.0)))
    hello = encode_hello(Hello(1, 1, "0", 0.0, card))
    refusal = msgspec.json.encode(Refusal("TransportError", "no"))
    targets = (
        HostileTarget("party.toml", [TOML], read_toml(folder)),
        HostileTarget("a command", list(map(commands.to_bytes, COMMANDS)), commands.from_bytes),
        HostileTarget("a card", [card], lambda data: read_card(data, "graz")),
        HostileTarget(
            "a greeting", [hello, refusal], lambda data: decode_greeting(data, "graz", 1)
        ),
    )
    return {target.name: target for target in targets}


LOCAL = ("party.toml", "a command", "a card", "a greeting")


@pytest.mark.parametrize("name", LOCAL)
def test_altered_files_and_greetings_are_refused_in_plain_words(name: str, tmp_path: Path) -> None:
    assert attack(local_targets(tmp_path)[name], FEW) > 0


@pytest.mark.long
@pytest.mark.parametrize("name", LOCAL)
def test_very_many_altered_files_and_greetings_are_refused_in_plain_words(
    name: str, tmp_path: Path
) -> None:
    assert attack(local_targets(tmp_path)[name], MANY, SEED + 1) > 0


class Onlooker:
    """Keeps all frames of a run, as members and strangers could have recorded them."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def __call__(self, name: str, frame: RunFrame) -> Sent:
        self.frames.append(encode(frame))
        return [frame]


async def held_run(made: Stage) -> tuple[str, list[bytes]]:
    """A run in which everybody waits for a pull, and samples of all its frames."""
    onlooker = Onlooker()
    await made.meddler("lyon", onlooker)
    await made.meddler("controller", onlooker)
    made.hold()
    run = await made.order()
    await made.held(run)
    agreement = made.live("controller", run).agreement
    others = (Open(run, agreement.signed, agreement.signature), Ask(""))
    cards = Roster("", [Card(made.controller.kit.certificate.to_der(), Contribution(1))])
    return run, [*onlooker.frames, *map(encode, (*others, cards))]


def refused(made: Stage, sender: str, payload: bytes) -> bool:
    """Whether the controller refuses a frame of this sender."""
    try:
        made.controller._handle(sender, decode(payload, sender))
    except LotorError as error:
        assert str(error)  # noqa: PT017
        return True
    return False


def nothing_unforeseen(made: Stage) -> None:
    """What nobody has foreseen ends a run with "report this"; a traceback has more lines."""
    assert not [line for line in made.log if "report this" in line or "Traceback" in line]


async def strangers_send(made: Stage, count: int, seed: int) -> None:
    run, frames = await held_run(made)
    mutator = Mutator(seed)
    with unchanged(made.controller):
        said = sum(refused(made, "graz", mutator.altered(frames)) for _ in range(count))
    assert said > count // 2
    assert list(made.controller.runs) == [run]
    nothing_unforeseen(made)
    made.release()
    await made.finishes(run)


def test_altered_frames_of_strangers_change_nothing(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        await strangers_send(made, 1_000, SEED)

    play(scene, tmp_path, "comp", "customer", "porto")


@pytest.mark.long
def test_very_many_altered_frames_of_strangers_change_nothing(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        await strangers_send(made, MANY_STRANGE, SEED + 1)

    play(scene, tmp_path, "comp", "customer", "porto")


# To whom, and in whose name.
MEMBERS = [
    ("controller", "lyon"),
    ("controller", "comp"),
    ("lyon", "controller"),
    ("comp", "controller"),
    ("customer", "controller"),
]


async def members_send(made: Stage, to: str, sender: str, count: int, seed: int) -> None:
    """A member may end a run, and cannot do more: the others do the next one."""
    await made.meddler("lyon", Onlooker())
    await made.meddler("controller", Onlooker())
    mutator = Mutator(seed)
    for _ in range(2):
        onlooker = Onlooker()
        for name in ("lyon", "controller"):
            made.meddle(name, onlooker)
        made.hold()
        run = await made.order()
        await made.held(run)
        node = made.nodes[to]
        for _ in range(count // 2):
            payload = mutator.altered(onlooker.frames)
            try:
                node._handle(sender, decode(payload, sender))
            except LotorError as error:
                assert str(error)  # noqa: PT017
        for name in EVERYONE:
            made.live(name, run).end(STOPPED, "over")
        made.release()
        nothing_unforeseen(made)
    assert all(node.error is None for node in made.nodes.values())
    await made.works()


@pytest.mark.parametrize(("to", "sender"), MEMBERS[:3])
def test_altered_frames_of_members_harm_no_other_run(to: str, sender: str, tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        await members_send(made, to, sender, 400, SEED)

    play(scene, tmp_path, "comp", "customer", "porto")


@pytest.mark.long
@pytest.mark.parametrize(("to", "sender"), MEMBERS)
def test_very_many_altered_frames_of_members_harm_no_other_run(
    to: str, sender: str, tmp_path: Path
) -> None:
    async def scene(made: Stage) -> None:
        await members_send(made, to, sender, MANY_OF_MEMBERS, SEED + 1)

    play(scene, tmp_path, "comp", "customer", "porto")


def signed_anew(made: Stage) -> Callable[[bytes], object]:
    """Reads an announcement that its own customer has altered and signed."""
    key = PartyKey.from_pem((made.kit("customer") / KEY).read_bytes())
    customer, node = Identity("customer", key.private, {}), made.controller

    def read(content: bytes) -> object:
        run = content[3:35].decode("ascii", "replace")  # where it stands, if it was left alone
        about = {"run": run, "purpose": PURPOSE, "recipient": EVERYBODY}
        return announcement.check(
            content,
            customer.sign(content, **about),
            protocols=node.context.protocols,
            trust=node.kit.fresh_trust(),
            key=node.kit.key,
        )

    return read


async def customer_announces(made: Stage, count: int, seed: int) -> None:
    run, _ = await held_run(made)
    signed = made.live("controller", run).agreement.signed
    read = signed_anew(made)
    read(signed)
    assert attack(HostileTarget("an announcement", [signed], read), count, seed) > count // 2
    made.release()
    await made.finishes(run)


async def somebody_commands(made: Stage, count: int, seed: int) -> None:
    """In the queue of an owner's journal, about runs that it does not know."""
    run, _ = await held_run(made)
    node, mutator = made.nodes["lyon"], Mutator(seed)
    samples = list(map(commands.to_bytes, COMMANDS))
    with unchanged(node):
        for _ in range(count):
            node.journal.commands.add(secrets.token_hex(16), mutator.altered(samples))
        node.commands.look_again()
        await until(lambda: not node.journal.commands.waiting() or node.error)
    assert node.error is None
    nothing_unforeseen(made)
    made.release()
    await made.finishes(run)


SCENES = {"announcements": customer_announces, "commands": somebody_commands}


@pytest.mark.parametrize("what", SCENES)
def test_altered_announcements_and_commands_change_nothing(what: str, tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        await SCENES[what](made, 200, SEED)

    play(scene, tmp_path, "comp", "customer", "porto")


@pytest.mark.long
@pytest.mark.parametrize("what", SCENES)
def test_very_many_altered_announcements_and_commands_change_nothing(
    what: str, tmp_path: Path
) -> None:
    async def scene(made: Stage) -> None:
        await SCENES[what](made, MANY_SIGNED, SEED + 1)

    play(scene, tmp_path, "comp", "customer", "porto")
