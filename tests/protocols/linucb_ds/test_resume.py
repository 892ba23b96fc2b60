"""A party rebuilt from its checkpoint goes on as if nothing had happened."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import lotor
from helpers import run_openly
from lotor.core.errors import FormatError, InputError, JournalError
from lotor.crypto.paillier import Ciphertext
from lotor.crypto.signing import trusting_identities
from lotor.protocols.linucb_ds.paper.comp import LinUCBComp
from lotor.protocols.linucb_ds.paper.customer import LinUCBCustomer, LinUCBCustomerMemory
from lotor.protocols.linucb_ds.paper.messages import MaskedSum
from lotor.protocols.linucb_ds.paper.owner import LinUCBOwner
from lotor.protocols.linucb_ds.paper.principal import LinUCBPrincipal
from lotor.protocols.party import Party
from protocols.linucb_ds.stage import (
    BITS,
    decrypted_sum,
    kept,
    known_keys,
    messages_of,
    small,
    small_key,
    some_arms,
    some_graph,
)
from restarting import Restarting

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

PARTIES = ["customer", "owner", "principal", "comp"]
NOISE = np.random.default_rng(1).normal(size=9)
SETTINGS = {
    "linucb": (small(lotor.LinUCB()), some_arms(1, k=9, d=3)),
    "spectral-ucb": (small(lotor.SpectralUCB(C=20.0), 96), some_graph(2, k=6)),
    "given": (small(), lotor.LinearArms([[1.0], [-0.5]], [0.9], noise=NOISE, first=1)),
}


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with known_keys(small_key("comp"), small_key("customer")):
        yield


def rebuild(party: Party, snapshot: bytes) -> Party:
    """The same party after a crash, from what it is started with and its snapshot."""
    if isinstance(party, LinUCBOwner):
        return LinUCBOwner(
            party._identity,
            party._memory.run,
            party._arms,
            minimum_key_bits=BITS,
            snapshot=snapshot,
        )
    if isinstance(party, LinUCBComp):
        run = party._memory.run
        return LinUCBComp(party._identity, run, insecure_key_bits=BITS, snapshot=snapshot)
    if isinstance(party, LinUCBPrincipal):
        return LinUCBPrincipal(
            party._memory.run,
            noise=party._noise,
            first=party._first,
            minimum_key_bits=BITS,
            snapshot=snapshot,
        )
    assert isinstance(party, LinUCBCustomer)
    run = party._order.run
    return LinUCBCustomer.restored(party._identity, run, snapshot, minimum_key_bits=BITS)


def restarting(names: list[str], every: int) -> Callable[[str, Party], Party]:
    def wrap(name: str, party: Party) -> Party:
        if name not in names:
            return party
        return Restarting(party, lambda snapshot: rebuild(party, snapshot), every)

    return wrap


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.parametrize("names", [PARTIES, *([name] for name in PARTIES)], ids="+".join)
def test_restarted_equals_uninterrupted(setting: str, every: int, names: list[str]) -> None:
    """From the very first effect on, set-up and key switching included."""
    protocol, arms = SETTINGS[setting]
    smooth = run_openly(protocol, arms, budget=9, seed=6)
    outputs = []

    def wrap(name: str, party: Party) -> Party:
        wrapped = restarting(names, every)(name, party)
        outputs.append(wrapped)
        return wrapped

    broken = run_openly(protocol, arms, budget=9, seed=6, wrap=wrap)
    restarts = [party.restarts for party in outputs if isinstance(party, Restarting)]
    assert len(restarts) == len(names)
    assert all(count > 0 for count in restarts)
    assert broken.arms == smooth.arms
    assert broken.seats["customer"].output == smooth.seats["customer"].output


def test_the_mask_is_the_same_after_a_crash_within_key_switching() -> None:
    """Another one would change the sum, or show Comp two masks of one sum."""
    outcome, parties = kept(*SETTINGS["linucb"], budget=9)
    (message,) = messages_of(outcome, MaskedSum)
    assert isinstance(message, MaskedSum)
    key = small_key("comp")
    masked = key.decrypt(Ciphertext.from_bytes(message.masked, key.public))
    seen = set()
    for _ in range(3):
        again = rebuild(outcome.parties["principal"], parties["principal"].snapshots[-1]).steps()
        next(again)
        sent = next(again)
        again.close()
        repeated = sent.message  # type: ignore[union-attr]
        assert isinstance(repeated, MaskedSum)
        seen.add(repeated.masked)
        assert key.decrypt(Ciphertext.from_bytes(repeated.masked, key.public)) == masked
    # Fresh randomness each time, and the mask is there at all.
    assert len(seen | {message.masked}) == 4
    rand = masked - decrypted_sum(outcome)
    assert rand > 2**100
    assert rand.bit_length() > 100 + decrypted_sum(outcome).bit_length()


def test_two_runs_have_different_masks() -> None:
    key, masked = small_key("comp"), set()
    for _ in range(4):
        outcome = run_openly(*SETTINGS["linucb"], budget=9, seed=6)
        (message,) = messages_of(outcome, MaskedSum)
        assert isinstance(message, MaskedSum)
        masked.add(key.decrypt(Ciphertext.from_bytes(message.masked, key.public)))
    assert len(masked) == 4


def test_snapshots_of_others_and_junk_are_refused() -> None:
    outcome, parties = kept(*SETTINGS["linucb"], budget=9)
    for name, party in outcome.parties.items():
        good = parties[name].snapshots[-1]
        next(rebuild(party, good).steps())
        other = parties["comp" if name != "comp" else "owner"].snapshots[-1]
        for junk in (b"", good[:-1], b"junk", other):
            with pytest.raises(FormatError, match="not a snapshot of a"):
                rebuild(party, junk)
    with pytest.raises(InputError, match="in run aa, not of principal in run bb"):
        LinUCBPrincipal("bb", snapshot=parties["principal"].snapshots[-1])
    stranger = trusting_identities(["lyon"])["lyon"]
    with pytest.raises(InputError, match="of comp in run aa, not of lyon"):
        LinUCBComp(stranger, "aa", insecure_key_bits=BITS, snapshot=parties["comp"].snapshots[-1])


def test_a_customers_snapshot_without_its_order_is_refused() -> None:
    identity = trusting_identities(["customer"])["customer"]
    empty = LinUCBCustomerMemory(party="customer", run="aa", private_key=b"").dump()
    with pytest.raises(FormatError, match="has no order"):
        LinUCBCustomer.restored(identity, "aa", empty, minimum_key_bits=BITS)


def test_a_snapshot_whose_sums_are_of_another_model_is_refused() -> None:
    outcome, parties = kept(*SETTINGS["linucb"], budget=9)
    others, other_parties = kept(*SETTINGS["given"], budget=9)
    party = rebuild(outcome.parties["principal"], parties["principal"].snapshots[-1])
    assert isinstance(party, LinUCBPrincipal)
    another = rebuild(others.parties["principal"], other_parties["principal"].snapshots[-1])
    assert isinstance(another, LinUCBPrincipal)
    party._memory.state = another._memory.state
    with pytest.raises(JournalError, match="does not belong to a model of 3 dimensions"):
        next(party.steps())


def test_memories_do_not_show_their_keys() -> None:
    outcome, _ = kept(*SETTINGS["linucb"], budget=9)
    for name in ("owner", "principal", "comp"):
        party = outcome.parties[name]
        assert isinstance(party, LinUCBOwner | LinUCBPrincipal | LinUCBComp)
        assert repr(party._memory).startswith("<")
        assert f"of {name} in run aa at round" in repr(party._memory)
