"""Recorded views against shared/leakage.py: nothing in clear, one length a kind, no keys."""

from collections import defaultdict
from math import sqrt

import msgspec
import pytest

import lotor
from helpers import Outcome, run_openly
from lotor.core.effects import Message
from lotor.crypto.ot import Delta
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.protections import Protection
from lotor.protocols.samba import messages as set_up
from lotor.protocols.samba.shared import messages
from lotor.protocols.samba.shared.comp import SambaSharedComp, owners_keys
from lotor.protocols.samba.shared.controller import SambaSharedController
from lotor.protocols.samba.shared.customer import SambaSharedCustomer
from lotor.protocols.samba.shared.leakage import KEYS, MEASURED, MESSAGES
from lotor.protocols.samba.shared.owner import SambaSharedOwner

K, OWNERS, BUDGET = 6, 3, 60


def environment() -> lotor.CallbackArms:
    """Rewards with all their 32 bits in use, so that none appears by chance."""

    def pull(decision: lotor.Decision) -> float:
        return 0.1 + 0.9 * (sqrt(2) * (decision.round * 7 + decision.arm) % 1.0)

    return lotor.CallbackArms([pull] * K)


@pytest.fixture(params=["ucb", "epsilon-greedy", "pursuit"])
def outcome(request: pytest.FixtureRequest) -> Outcome:
    samba = lotor.Samba(lotor.Samba.configured(request.param, {}).policy, owners=OWNERS)
    return run_openly(samba, environment(), budget=BUDGET, seed=2)


def on_the_wire(outcome: Outcome) -> bytes:
    return b"".join(exchange.payload for exchange in outcome.recorder.exchanges)


def test_no_reward_sum_or_total_stands_on_any_wire(outcome: Outcome) -> None:
    seen = on_the_wire(outcome)
    sums: defaultdict[int, int] = defaultdict(int)
    secrets = []
    for _, decision, reward in outcome.recorder.pulls:
        fixed = outcome.run.scale.to_fixed(reward)
        sums[decision.arm] += fixed
        secrets.append(fixed)
    for secret in (*secrets, *sums.values(), sum(sums.values())):
        forms = secret.to_bytes(8, "big"), secret.to_bytes(8, "little"), str(secret).encode()
        assert not any(form in seen for form in forms)


def test_keys_are_seen_by_their_holders_only(outcome: Outcome) -> None:
    """Only what both servers know goes between them; no other key stands on any wire.

    In a simulation the tie key is that of the owners' own draws, since plain has one key for both.
    """
    seen = on_the_wire(outcome)
    secrets = []
    for party in outcome.parties.values():
        if isinstance(party, SambaSharedOwner):
            owner = party._memory
            secrets += [owner.coin_key, owner.share_key, owner.tag_key]
        elif isinstance(party, SambaSharedComp):
            comp = party._memory
            assert comp.terms is not None
            secrets += [comp.owners_key, comp.circuits.transfer_key, comp.circuits.seed_pairs[:16]]
            secrets += owners_keys(comp.owners_key, comp.terms).values()
        elif isinstance(party, SambaSharedController):
            key = party._memory.circuits.garbling_key
            secrets += [key, Delta.derive(key, outcome.run.id).words.tobytes()]
        elif isinstance(party, SambaSharedCustomer):
            secrets += [party._memory.tag_key, party._memory.sealing_key]
    assert len(secrets) == 3 * OWNERS + 3 + OWNERS + 2 + 2
    assert not any(secret in seen for secret in secrets)
    assert set(MEASURED) >= {role for _, holders in KEYS.values() for role in holders}


def test_each_owner_has_a_key_of_its_own_with_comp(outcome: Outcome) -> None:
    owners = [party for party in outcome.parties.values() if isinstance(party, SambaSharedOwner)]
    assert len({owner._memory.share_key for owner in owners}) == OWNERS
    assert len({owner._memory.tag_key for owner in owners}) == 1
    assert len({owner._memory.coin_key for owner in owners}) == 1


def test_messages_of_one_kind_have_one_length(outcome: Outcome) -> None:
    """Owners hold the same number of arms here; the last batch is smaller than the others."""
    lengths: defaultdict[tuple[type[Message], str], set[int]] = defaultdict(set)
    for exchange in outcome.recorder.exchanges:
        kind = type(exchange.message)
        who = exchange.to if kind in (set_up.Offers, set_up.SambaSetup) else exchange.sender
        listed = kind in (set_up.Offers, set_up.SealedKeys, set_up.SambaSetup)
        lengths[kind, who if listed else ""].add(len(exchange.payload))
    for (kind, _), found in lengths.items():
        assert len(found) <= (2 if kind in (garbled.Columns, garbled.GarbledTables) else 1), kind


def test_every_message_and_field_is_declared(outcome: Outcome) -> None:
    for exchange in outcome.recorder.exchanges:
        assert set(MESSAGES[type(exchange.message)]) == set(exchange.message.__struct_fields__)


def test_what_is_hidden_never_repeats(outcome: Outcome) -> None:
    hidden = {Protection.TRANSFER, Protection.GARBLED, Protection.PAD, Protection.SHARE}
    blobs = [
        getattr(exchange.message, name)
        for exchange in outcome.recorder.exchanges
        for name, protection in MESSAGES[type(exchange.message)].items()
        # What Controller passes on is Comp's.
        if protection in hidden and not (name == "comp" and exchange.sender == "controller")
    ]
    assert len(blobs) > BUDGET
    assert len(set(blobs)) == len(blobs)


def test_reprs_show_nothing(outcome: Outcome) -> None:
    for exchange in outcome.recorder.exchanges:
        if type(exchange.message).__module__ == messages.__name__:
            assert repr(exchange.message) == f"<{type(exchange.message).__name__}>"
    for party in outcome.parties.values():
        memory = getattr(party, "_memory", None)
        assert memory is None or " in run " in repr(memory)


def test_the_counts_are_those_of_the_forecast(outcome: Outcome) -> None:
    run, samba = outcome.run, lotor.Samba(owners=OWNERS)
    policy = msgspec.msgpack.decode(outcome.recorder.exchanges[0].message.terms)["policy"]  # type: ignore[attr-defined]
    samba = lotor.Samba(lotor.Samba.configured(policy, {}).policy, owners=OWNERS)
    counts = samba.in_form().complexity(samba, environment(), run.budget)["expected"]
    done: defaultdict[str, int] = defaultdict(int)
    for party in outcome.parties.values():
        for name, count in party.operations().items():
            done[name] += count
    assert {name: done[name] for name in counts} == counts


def test_the_bytes_are_those_of_the_forecast(outcome: Outcome) -> None:
    """Contents, without what messages are wrapped in."""
    samba = lotor.Samba(owners=OWNERS)
    figures = samba.in_form().forecast(samba, environment(), outcome.run.budget).figures
    sizes: defaultdict[type[Message], set[int]] = defaultdict(set)
    for exchange in outcome.recorder.exchanges:
        message = exchange.message
        if "place" in message.__struct_fields__:
            fields = [getattr(message, name) for name in message.__struct_fields__]
            sizes[type(message)].add(sum(map(len, fields[1:])))
    ahead = max(sizes[garbled.Columns]) + max(sizes[garbled.GarbledTables])
    assert ahead == figures["batch"] * figures["bytes_ahead"]  # type: ignore[operator]
    within = (
        OWNERS * max(sizes[messages.CoveredScores])
        + max(sizes[garbled.InputLabels])
        + max(sizes[messages.ResultBits])
        + OWNERS * max(sizes[messages.ResultShares])
    )
    assert within == figures["bytes_within"]
