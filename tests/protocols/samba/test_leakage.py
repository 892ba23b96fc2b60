"""Recorded views against leakage.py: nothing in clear where it says hidden, one length a kind."""

from collections import defaultdict
from collections.abc import Iterator
from math import sqrt
from pathlib import Path

import msgspec
import pytest

import lotor
from helpers import Outcome, run_openly, seen_by_comp
from lotor.core.effects import Message
from lotor.policies import Policy
from lotor.protocols.protections import Protection
from lotor.protocols.samba import messages as set_up
from lotor.protocols.samba.paper import messages
from lotor.protocols.samba.paper.comp import SambaPaperComp
from lotor.protocols.samba.paper.controller import SambaPaperController
from lotor.protocols.samba.paper.customer import SambaPaperCustomer
from lotor.protocols.samba.paper.leakage import FIGURE_7, KEYS, MEASURED, MESSAGES, ROLES, Sight
from lotor.protocols.samba.paper.owner import SambaPaperOwner

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

HIDDEN = {Sight.MASKED, Sight.PERMUTED, Sight.AES_GCM, Sight.PAILLIER, Sight.NOTHING}
K, OWNERS, BUDGET = 6, 3, 90
MASKED = 1 << 64


def environment() -> lotor.CallbackArms:
    """Rewards with all their 32 bits in use, so that none appears by chance."""

    def pull(decision: lotor.Decision) -> float:
        return 0.1 + 0.9 * (sqrt(2) * (decision.round * 7 + decision.arm) % 1.0)

    return lotor.CallbackArms([pull] * K)


def record(policy: Policy, selection: str = "bits") -> Outcome:
    samba = lotor.Samba(
        policy,
        form="paper",
        insecure_key_bits=512,
        owners=OWNERS,
        selection=selection,  # type: ignore[arg-type]
    )
    return run_openly(samba, environment(), budget=BUDGET, seed=2)


@pytest.fixture(scope="module", params=["ucb", "epsilon-greedy", "pursuit", "position"])
def outcome(request: pytest.FixtureRequest) -> Outcome:
    if request.param == "position":
        return record(lotor.UCB(), "position")
    return record(lotor.Samba.configured(request.param, {}).policy)


def bytes_seen(outcome: Outcome, role: str) -> bytes:
    """All that a role reads off the wire; the network reads everything."""
    if role == "network":
        seen = outcome.recorder.exchanges
    elif role == "owner":
        seen = outcome.recorder.received("owner-1")
    else:
        seen = outcome.recorder.received(role)
    wire = b"".join(exchange.payload for exchange in seen)
    if role == "comp":  # it reads behind the ciphertexts, too
        behind = [value for values in seen_by_comp(outcome) for value in values]
        # What is masked is longer, and may begin as any reward does.
        wire += b"".join(value.to_bytes(8, "big") for value in behind if value < MASKED)
    return wire


def written(number: int) -> Iterator[bytes]:
    """The ways in which an integer might stand in a message, those that random bytes never hit."""
    encoded = msgspec.msgpack.encode(number)
    forms = number.to_bytes(8, "big"), number.to_bytes(8, "little"), str(number).encode(), encoded
    yield from (form for form in forms if len(form) >= 8)


def secrets_of(outcome: Outcome, datum: str) -> list[int]:
    """The clear values behind a row of Figure 7, as the fixed-point integers that roles compute."""
    pulls = [
        (name, decision, outcome.run.scale.to_fixed(reward))
        for name, decision, reward in outcome.recorder.pulls
    ]
    if datum == "cumulative reward":
        return [sum(reward for _, _, reward in pulls)]
    if datum == "reward of a round":
        return [reward for _, _, reward in pulls]
    own = datum == "sum and pulls of an owner's arm"
    sums: defaultdict[int, int] = defaultdict(int)
    for name, decision, reward in pulls:
        if (name == "owner-1") == own:
            sums[decision.arm] += reward
    return list(sums.values())


@pytest.mark.parametrize(
    ("datum", "role"),
    [
        (datum, role)
        for datum, row in FIGURE_7.items()
        for role in ROLES
        # An arm's number is too small to look for; test_protections.py looks at positions.
        if row[role] in HIDDEN and datum != "arm pulled in a round"
    ],
)
def test_nothing_in_clear_where_figure_7_says_hidden(
    outcome: Outcome, datum: str, role: str
) -> None:
    seen = bytes_seen(outcome, role)
    for secret in secrets_of(outcome, datum):
        for form in written(secret):
            assert form not in seen


def test_the_search_would_find_a_clear_value(outcome: Outcome) -> None:
    secret = secrets_of(outcome, "cumulative reward")[0]
    leaking = bytes_seen(outcome, "network") + msgspec.msgpack.encode(
        messages.PartialSums([secret.to_bytes(8, "big")])
    )
    assert any(form in leaking for form in written(secret))


def test_keys_are_seen_by_their_holders_only(outcome: Outcome) -> None:
    """No secret key of any party stands on any wire."""
    seen = bytes_seen(outcome, "network")
    secrets = []
    for party in outcome.parties.values():
        if isinstance(party, SambaPaperOwner):
            memory = party._memory
            secrets += [memory.own_key, memory.coin_key, memory.mask_key]
        elif isinstance(party, SambaPaperComp):
            secrets.append(party._memory.aes_key)
        elif isinstance(party, SambaPaperController):
            secrets.append(party._memory.permutation_key)
        elif isinstance(party, SambaPaperCustomer):
            secrets += [int(p).to_bytes(32, "big") for p in (party._key.p, party._key.q)]
    assert len(secrets) == 3 * OWNERS + 4
    assert not any(secret in seen for secret in secrets)
    assert set(ROLES) >= {role for _, holders in KEYS.values() for role in holders}


def test_messages_of_one_kind_have_one_length(outcome: Outcome) -> None:
    """Owners hold the same number of arms here; exploring rounds are no exception."""
    lengths: defaultdict[tuple[type[Message], str], set[int]] = defaultdict(set)
    for exchange in outcome.recorder.exchanges:
        kind = type(exchange.message)
        # Comp's and the first owner's lists have different numbers of entries.
        sealer = exchange.to if kind is set_up.Offers else exchange.sender
        many = kind in (set_up.Offers, set_up.SealedKeys)
        # A sealed AES key is one key, the owners' are two.
        purpose = ""
        if kind is set_up.SambaSealedKey:
            assert isinstance(exchange.message, set_up.SambaSealedKey)
            purpose = str(len(exchange.message.sealed))
        lengths[kind, sealer if many else purpose].add(len(exchange.payload))
    assert all(len(found) == 1 for found in lengths.values()), lengths


def test_every_message_and_field_is_declared(outcome: Outcome) -> None:
    for exchange in outcome.recorder.exchanges:
        declared = MESSAGES[type(exchange.message)]
        assert set(declared) == set(exchange.message.__struct_fields__)


def test_protected_bytes_never_repeat(outcome: Outcome) -> None:
    """Fresh randomness each time: what an owner or Comp sends is never sent again."""
    blobs = [
        getattr(exchange.message, name)
        for exchange in outcome.recorder.exchanges
        for name, protection in MESSAGES[type(exchange.message)].items()
        if protection is Protection.AES_GCM and exchange.sender != "controller"
    ]
    assert len(blobs) > BUDGET
    assert len(set(blobs)) == len(blobs)


def test_security_md_says_what_was_measured() -> None:
    page = (Path(__file__).parents[3] / "SECURITY.md").read_text().replace("**", "")
    for finding in MEASURED.values():
        assert f"| {finding.paper} | {finding.measured} |" in page


def test_every_role_has_a_measured_finding() -> None:
    assert set(MEASURED) == set(ROLES)
    assert all(set(row) == set(ROLES) for row in FIGURE_7.values())
