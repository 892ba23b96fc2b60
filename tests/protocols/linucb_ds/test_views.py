"""Recorded views: nothing of theta or the rewards in clear where leakage.py says hidden."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

import lotor
from helpers import Outcome
from lotor.core.effects import Message
from lotor.crypto.paillier import PackedLayout
from lotor.crypto.paillier.encoding import CIPHERTEXT, FINGERPRINT_BYTES
from lotor.protocols.linear_draws import LinearDraws
from lotor.protocols.linucb_ds.messages import LinUCBOrder, LinUCBSetup
from lotor.protocols.linucb_ds.paper import messages
from lotor.protocols.linucb_ds.paper.leakage import KEYS, MEASURED, NETWORK
from lotor.protocols.linucb_ds.paper.principal import LinUCBPrincipal
from protocols.linucb_ds.stage import (
    BITS,
    Keeping,
    decrypted_sum,
    kept,
    known_keys,
    layout_of,
    scores_seen_by_comp,
    small,
    small_key,
    some_arms,
    some_graph,
)
from scanning import forms_of_number, forms_of_reward

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

BUDGET = 25
# Fields that hold ciphertexts, public keys or signatures; of the rest P reads every byte.
PROTECTED = {
    LinUCBOrder: {"terms", "signatures"},
    LinUCBSetup: {"terms", "signature"},
    messages.CompKey: {"public", "signature"},
    messages.Model: {"theta"},
    messages.PackedScores: {"packed"},
    messages.MaskedSum: {"masked"},
    messages.SwitchedSum: {"switched"},
    messages.LinUCBTotal: {"total"},
}
View = tuple[Outcome, dict[str, Keeping]]


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with known_keys(small_key("comp"), small_key("customer")):
        yield


@pytest.fixture(scope="module", params=["linucb", "spectral-ucb"])
def view(request: pytest.FixtureRequest, _keys: None) -> View:
    """96-bit slots, so that no integer is so short that random bytes hold it by chance."""
    if request.param == "linucb":
        return kept(small(slot_bits=96), some_arms(3, k=12, d=4), budget=BUDGET)
    policy = lotor.SpectralUCB(C=20.0)
    return kept(small(policy, slot_bits=96), some_graph(3, k=8), budget=BUDGET)


def seen_by_p(view: View) -> bytes:
    """All that P received and sent, and all that it wrote down."""
    outcome, parties = view
    wire = [exchange.payload for exchange in outcome.recorder.view("principal")]
    return b"".join(wire + parties["principal"].snapshots)


def written(number: int) -> Iterator[bytes]:
    """The ways in which an integer might stand somewhere, those that random bytes never hit."""
    size = max(1, (number.bit_length() + 8) // 8)
    for width in {size, 8, 12, 16}:
        if width >= size:
            yield number.to_bytes(width, "big", signed=True)
            yield number.to_bytes(width, "little", signed=True)
    yield str(number).encode()
    yield str(abs(number)).encode()
    if number.bit_length() < 64:
        yield msgspec.msgpack.encode(number)


def theta_in_clear(outcome: Outcome) -> Iterator[bytes]:
    arms = outcome.run.environment
    assert isinstance(arms, lotor.LinearArms)
    for value in arms.theta.tolist():
        yield from forms_of_reward(value)
    for fixed in layout_of(outcome).theta(arms.theta):
        yield from written(fixed)


def rewards_in_clear(outcome: Outcome) -> Iterator[bytes]:
    """What each pull paid, without and with its noise, and the sums so far."""
    arms, layout = outcome.run.environment, layout_of(outcome)
    assert isinstance(arms, lotor.LinearArms)
    draws, theta = LinearDraws.simulated(outcome.run, arms), layout.theta(arms.theta)
    rows = layout.arms(arms.vectors)
    total = 0
    for t, arm in enumerate(outcome.arms, start=1):
        mean = sum(x * y for x, y in zip(rows[arm], theta, strict=True))
        reward = mean + layout.noise(draws.noise(t))
        total += reward
        for number in (mean, reward, total):
            yield from written(number)
            yield from forms_of_reward(layout.reward(number))
    assert total == decrypted_sum(outcome)


def scores_in_clear(outcome: Outcome) -> Iterator[bytes]:
    fraction = layout_of(outcome).fraction
    for scores in scores_seen_by_comp(outcome):
        for score in scores:
            yield from written(score)
            yield from forms_of_reward(float(np.ldexp(float(score), -fraction)))


@pytest.mark.parametrize("secrets", [theta_in_clear, rewards_in_clear, scores_in_clear])
def test_p_sees_nothing_of_theta_scores_or_rewards(view: View, secrets: object) -> None:
    seen = seen_by_p(view)
    forms = {form for form in secrets(view[0]) if len(form) >= 6}  # type: ignore[operator]
    assert len(forms) > 20
    assert not any(form in seen for form in forms)


def test_the_search_would_find_a_clear_value(view: View) -> None:
    """Comp's own view holds every score, once it is decrypted."""
    outcome, _ = view
    score = scores_seen_by_comp(outcome)[0][0]
    leaking = seen_by_p(view) + msgspec.msgpack.encode(
        messages.MaskedSum(score.to_bytes(16, "big"))
    )
    assert any(form in leaking for form in written(score))


def clear_parts(outcome: Outcome) -> list[tuple[type[Message], dict[str, object]]]:
    """What P can read of what it was sent."""
    return [
        (type(seen.message), {
            name: value
            for name, value in msgspec.structs.asdict(seen.message).items()
            if name not in PROTECTED.get(type(seen.message), set())
        })
        for seen in outcome.recorder.received("principal")
    ]  # fmt: skip


def clear_memory(parties: dict[str, Keeping]) -> list[dict[str, object]]:
    """What P writes down, without what it was sent under protection and its key of the mask."""
    memories = []
    for snapshot in parties["principal"].snapshots:
        memory = msgspec.msgpack.decode(snapshot)
        memory.pop("keys")
        memory.pop("comp_key")
        if memory.pop("terms") is not None:
            # theta*, last of the model's fields
            memory["model"].pop()
        memories.append(memory)
    return memories


def test_another_theta_with_the_same_choices_looks_the_same_to_p() -> None:
    """Of theta, P learns what the pulled arms say, and nothing else."""
    vectors = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.6], [-1.0, 0.2]]
    views = [
        kept(small(), lotor.LinearArms(vectors, theta), budget=BUDGET)
        for theta in ([0.8, 0.1], [0.8003, 0.0998])
    ]
    (first, first_parties), (second, second_parties) = views
    assert first.arms == second.arms
    assert decrypted_sum(first) != decrypted_sum(second)
    assert clear_parts(first) == clear_parts(second)
    assert clear_memory(first_parties) == clear_memory(second_parties)


def test_p_never_holds_what_decrypts(view: View) -> None:
    """Neither in what it was sent nor in any snapshot: a thief of its disk reads no theta."""
    seen = seen_by_p(view)
    for holder in ("comp", "customer"):
        key = small_key(holder)
        n, p, q = int(key.public.n), int(key.p), int(key.q)
        for secret in (p, q, (p - 1) * (q - 1), p * p, pow(p, -1, q)):
            assert not any(form in seen for form in forms_of_number(secret))
        # Its public half is there, so a secret one would be found.
        assert any(form in seen for form in forms_of_number(n))
        assert key.to_bytes() not in seen


def test_the_private_keys_are_at_home_only(view: View) -> None:
    _, parties = view
    for holder in ("comp", "customer"):
        p = forms_of_number(int(small_key(holder).p))
        for name, party in parties.items():
            found = any(form in snapshot for snapshot in party.snapshots for form in p)
            assert found == (name == holder)


def test_the_owner_writes_no_theta_down(view: View) -> None:
    outcome, parties = view
    snapshots = b"".join(parties["owner"].snapshots)
    assert snapshots
    assert not any(form in snapshots for form in theta_in_clear(outcome) if len(form) >= 6)


def test_draw_keys_stay_with_p(view: View) -> None:
    """With them, Comp would know the permutation and the mask."""
    outcome, _ = view
    wire = b"".join(exchange.payload for exchange in outcome.recorder.exchanges)
    principal = outcome.parties["principal"]
    assert isinstance(principal, LinUCBPrincipal)
    assert len(principal._memory.keys) == 5
    assert not any(key in wire for key in principal._memory.keys.values())


def ciphertexts(outcome: Outcome) -> Iterator[bytes]:
    """The number of each ciphertext that travelled; what is relayed unchanged counts once."""
    width = CIPHERTEXT.width(BITS)
    for exchange in outcome.recorder.exchanges:
        match exchange.message:
            case messages.Model(theta=theta):
                yield from (data[-width:] for data in theta)
            case messages.PackedScores(packed=packed):
                body = packed[FINGERPRINT_BYTES:]
                yield from (body[i : i + width] for i in range(0, len(body), width))
            case messages.MaskedSum(data) | messages.SwitchedSum(data):
                yield data[-width:]
            case messages.LinUCBTotal(total=data):
                yield data[-width:]


def test_ciphertexts_of_equal_plaintexts_never_repeat() -> None:
    """All scores of all rounds are one number here: nobody can tell."""
    arms = lotor.LinearArms([[1.0, 0.0]] * 20, [0.0, 0.0], noise_sd=0)
    outcome, _ = kept(small(), arms, budget=60)
    assert len({score for scores in scores_seen_by_comp(outcome) for score in scores}) == 1
    found = list(ciphertexts(outcome))
    assert len(found) == 2 + 59 * 3 + 3
    assert len(set(found)) == len(found)


def test_messages_of_one_kind_have_one_length() -> None:
    """Whatever theta, the scores and the sum are; and no exponent or sign travels beside them."""
    lengths: defaultdict[type[Message], set[int]] = defaultdict(set)
    generator = np.random.default_rng(1)
    vectors = generator.normal(size=(12, 2))
    for scale in (0.0, 1e-9, -0.5, 0.7):
        arms = lotor.LinearArms(vectors, [scale, scale / 2], noise_sd=abs(scale) / 7)
        outcome, _ = kept(small(), arms, budget=BUDGET)
        for exchange in outcome.recorder.exchanges:
            lengths[type(exchange.message)].add(len(exchange.payload))
        layout = PackedLayout(BITS, 12, 64)
        for message in (seen.message for seen in outcome.recorder.received("comp")):
            if isinstance(message, messages.PackedScores):
                assert len(message.packed) == layout.message_bytes
                assert message.packed[:FINGERPRINT_BYTES] == bytes.fromhex(
                    small_key("comp").public.fingerprint
                )
                assert len(message.t) == 8
    assert len(lengths) == 10
    assert all(len(found) == 1 for found in lengths.values()), lengths


def test_comp_sees_the_arms_in_another_order_each_round() -> None:
    """The winner's position says nothing: one arm that always wins is everywhere."""
    arms = lotor.LinearArms([[1.0]] + [[0.1]] * 7, [0.9], noise_sd=0, first=0)
    outcome, _ = kept(small(), arms, budget=400)
    assert set(outcome.arms) == {0}
    positions = [seen.index(max(seen)) for seen in scores_seen_by_comp(outcome)]
    counts = np.bincount(positions, minlength=8)
    assert counts.min() > 8  # by chance it is not in one of 10^12 runs


def test_security_md_says_what_was_measured() -> None:
    page = (Path(__file__).parents[3] / "SECURITY.md").read_text().replace("**", "")
    for role, finding in MEASURED.items():
        row = f"| {finding.paper} | {finding.measured} |".replace("**", "")
        assert row in page, role
    roles = {"owner", "customer", "principal", "comp"}
    assert set(MEASURED) == roles | {NETWORK}
    assert {holder for _, holders in KEYS.values() for holder in holders} <= roles
    for name, (purpose, holders) in KEYS.items():
        assert f"| {name} | {purpose} | {', '.join(holders)} |" in page
