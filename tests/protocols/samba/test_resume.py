"""A party rebuilt from its checkpoint goes on as if nothing had happened."""

import pytest

import lotor
from helpers import run_openly
from lotor.core.effects import Checkpoint, Steps
from lotor.core.errors import FormatError, InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.signing import trusting_identities
from lotor.policies import Policy, to_text
from lotor.protocols.party import Party, Run
from lotor.protocols.samba.paper.comp import SambaPaperComp
from lotor.protocols.samba.paper.controller import SambaPaperController
from lotor.protocols.samba.paper.customer import SambaPaperCustomer
from lotor.protocols.samba.paper.owner import SambaPaperOwner
from restarting import Restarting

pytestmark = pytest.mark.filterwarnings("ignore::lotor.crypto.paillier.InsecureKeyWarning")

POLICIES = [lotor.UCB(), lotor.ThompsonSampling(), lotor.EpsilonGreedy(0.3), lotor.Pursuit()]


def restarting(name: str, party: Party, policy: Policy, every: int) -> Party:
    def rebuild(snapshot: bytes) -> Party:
        if isinstance(party, SambaPaperOwner):
            return SambaPaperOwner(
                party._ring.identity,
                party._ring.run,
                policy,
                held=party._held,
                scale=party._scale,
                minimum_key_bits=128,
                snapshot=snapshot,
            )
        if isinstance(party, SambaPaperComp):
            return SambaPaperComp(party._ring.identity, party._ring.run, policy, snapshot=snapshot)
        if isinstance(party, SambaPaperController):
            run = party._memory.run
            return SambaPaperController(run, policy, minimum_key_bits=128, snapshot=snapshot)
        assert isinstance(party, SambaPaperCustomer)
        identity, run = party._ring.identity, party._ring.run
        return SambaPaperCustomer.restored(identity, run, policy, snapshot, minimum_key_bits=128)

    return Restarting(party, rebuild, every)


@pytest.mark.parametrize("policy", POLICIES, ids=to_text)
@pytest.mark.parametrize("selection", ["bits", "position"])
@pytest.mark.parametrize("every", [1, 2, 3])
def test_restarted_equals_uninterrupted(policy: Policy, selection: str, every: int) -> None:
    """From the very first effect on, set-up and first pulls included."""
    samba = lotor.Samba(policy, form="paper", insecure_key_bits=128, owners=2, selection=selection)  # type: ignore[arg-type]
    arms = lotor.BernoulliArms([0.2, 0.5, 0.8])
    smooth = run_openly(samba, arms, budget=30, seed=6)
    broken = run_openly(
        samba,
        arms,
        budget=30,
        seed=6,
        wrap=lambda name, party: restarting(name, party, policy, every),
    )
    assert all(p.restarts > 0 for p in broken.parties.values() if isinstance(p, Restarting))
    assert broken.arms == smooth.arms
    assert len(broken.recorder.pulls) == 30
    assert broken.seats["customer"].output == smooth.seats["customer"].output


def test_snapshots_carry_the_count_of_sealed_messages() -> None:
    """A restored key must not start counting towards its limit anew."""
    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=128)
    outcome = run_openly(
        samba,
        lotor.BernoulliArms([0.2, 0.5]),
        budget=32,
        wrap=lambda name, party: restarting(name, party, lotor.UCB(), 5),
    )
    for name in ("comp", "owner-1"):
        assert outcome.parties[name].operations()["aes_gcm_encryptions"] >= 60


def snapshot_of(party: Party) -> bytes:
    first = next(party.steps())
    assert isinstance(first, Checkpoint)
    return first.snapshot()


def test_snapshots_of_others_and_junk_are_refused() -> None:
    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=128)
    parties = samba.parties(Run("aa", 2, 10, RewardScale(), 1))
    identity = trusting_identities(["comp"])["comp"]
    good = snapshot_of(parties["comp"])
    SambaPaperComp(identity, "aa", lotor.UCB(), snapshot=good)
    with pytest.raises(InputError, match="in run aa, not of comp in run bb"):
        SambaPaperComp(identity, "bb", lotor.UCB(), snapshot=good)
    with pytest.raises(InputError, match="with ucb, not with pursuit"):
        SambaPaperComp(identity, "aa", lotor.Pursuit(), snapshot=good)
    for junk in (b"", good[:-1], b"junk", snapshot_of(parties["controller"])):
        with pytest.raises(FormatError, match="not a snapshot of a SambaPaperCompMemory"):
            SambaPaperComp(identity, "aa", lotor.UCB(), snapshot=junk)


def test_memories_do_not_show_their_keys() -> None:
    parties = lotor.Samba(form="paper", insecure_key_bits=128).parties(
        Run("aa", 2, 10, RewardScale(), 1)
    )
    for name in ("comp", "controller", "owner-1"):
        party = parties[name]
        assert isinstance(party, SambaPaperComp | SambaPaperController | SambaPaperOwner)
        assert repr(party._memory).endswith(f"of {name} in run aa at round 0>")


def test_an_owner_restored_for_other_arms_refuses() -> None:
    samba = lotor.Samba(lotor.UCB(), form="paper", insecure_key_bits=128, owners=2)
    snapshots: dict[str, bytes] = {}

    def keep(name: str, party: Party) -> Party:
        class Kept(Restarting):
            def steps(self) -> Steps[object]:
                steps = party.steps()
                value: object = None
                while True:
                    try:
                        effect = steps.send(value)
                    except StopIteration as end:
                        return end.value
                    if isinstance(effect, Checkpoint):
                        snapshots[name] = effect.snapshot()
                    value = yield effect

        return Kept(party, lambda _: party, 1)

    outcome = run_openly(samba, lotor.BernoulliArms([0.5] * 3), budget=9, run_id="aa", wrap=keep)
    assert outcome.seats["customer"].output is not None
    identity = trusting_identities(["owner-2"])["owner-2"]

    def again(snapshot: bytes, held: int, scale: RewardScale) -> SambaPaperOwner:
        return SambaPaperOwner(
            identity,
            "aa",
            lotor.UCB(),
            held=held,
            scale=scale,
            minimum_key_bits=128,
            snapshot=snapshot,
        )

    next(again(snapshots["owner-2"], 2, RewardScale()).steps())
    with pytest.raises(InputError, match="of owner-1 in run"):
        again(snapshots["owner-1"], 1, RewardScale())
    for held, scale in ((3, RewardScale()), (2, RewardScale(0, 2))):
        with pytest.raises(ProtocolError, match="do not fit owner-2"):
            next(again(snapshots["owner-2"], held, scale).steps())
