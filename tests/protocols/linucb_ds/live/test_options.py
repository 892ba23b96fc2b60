"""How live rewards are asked for, and who refuses them with which reason."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec
import pytest

import lotor
from lotor.core.errors import InputError, ProtocolError
from lotor.core.fixed_point import RewardScale
from lotor.crypto.signing import trusting_identities
from lotor.protocols.earlier import Earlier, EndedRun
from lotor.protocols.form import MODEL, Assignment, Contribution
from lotor.protocols.linucb_ds.live.form import LinUCBDSLive
from lotor.protocols.linucb_ds.live.terms import LiveTerms
from lotor.protocols.linucb_ds.terms import ContinuedPulls
from lotor.protocols.party import Run
from lotor.protocols.plain import Plain
from protocols.linucb_ds.live.stage import SHOP, live

FRESH = "cannot go on under a fresh one"
KINDS = [lotor.LinUCBDS, lotor.SpectralUCBDS]


def ordered(policy: str = "linucb") -> LiveTerms:
    return LiveTerms(
        run="aa",
        budget=9,
        policy=policy,
        slot_bits=128,
        key_bits=3072,
        customer_key=b"",
        low=0.0,
        high=1.0,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_rewards_and_the_forms_name_say_the_same(kind: type[lotor.LinUCBDS]) -> None:
    said = kind(form="paper", rewards="live")
    assert said == kind(form="paper-live") == kind.ordered(said.order_options())
    assert (said.form, said.rewards) == ("paper-live", "live")
    assert isinstance(said.in_form(), LinUCBDSLive)
    assert kind().rewards == kind(form="paper").rewards == "model"


@pytest.mark.parametrize("form", ["shared", "dealt"])
@pytest.mark.parametrize("kind", KINDS)
def test_forms_on_shares_refuse_them_with_the_reason(kind: type[lotor.LinUCBDS], form: str) -> None:
    with pytest.raises(InputError, match="shares of theta that the owner made at the set-up"):
        kind(form=form, rewards="live")


def test_options_that_make_no_sense() -> None:
    with pytest.raises(InputError, match="rewards is 'model' or 'live', not 'theta'"):
        lotor.LinUCBDS(rewards="theta")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="always have 128 bits"):
        lotor.LinUCBDS(form="paper-live", slot_bits=96)
    with pytest.raises(InputError, match="rewards is 'model' or 'live'"):
        Plain(lotor.LinUCB(), {"rewards": "theta"})


def test_what_does_not_fit_is_refused_before_keys_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(*_: object, **__: object) -> None:
        pytest.fail("a key was made for a run that cannot be")

    for module in ("comp", "form"):
        monkeypatch.setattr(f"lotor.protocols.linucb_ds.paper.{module}.generate_keypair", made)
    small_gamma = lotor.LinUCB(gamma=1e-12)
    with pytest.raises(InputError, match="gamma is too small"):
        lotor.run(live(small_gamma), SHOP, budget=10, seed=1)
    with pytest.raises(InputError, match="give LinearArms"):
        lotor.run(live(), lotor.BernoulliArms([0.5, 0.4]), budget=10, seed=1)


def test_arms_without_a_theta_need_live_rewards() -> None:
    with pytest.raises(InputError, match="rewards='live'"):
        lotor.run(lotor.LinUCBDS(), SHOP, budget=10, seed=1)


@pytest.mark.parametrize(
    ("brought", "policy", "complaint"),
    [
        ([[1.0], [2.0]], "linucb", "a model of type list, and linucb-ds with live rewards needs"),
        (SHOP, "linucb:gamma=1e-12", "gamma is too small for arms of length 1"),
        (SHOP, "spectral-ucb", "give it GraphArms"),
    ],
)
def test_an_owner_whose_arms_do_not_fit_refuses_the_run(
    brought: object, policy: str, complaint: str
) -> None:
    """When its party is built, so that a federation tells it to everybody in the owner's name."""
    form = live().in_form()
    terms = ordered(policy)
    assignment = Assignment(
        run="aa",
        seat="owner",
        order=terms.to_bytes(),
        identity=trusting_identities(["owner"])["owner"],
        contribution=Contribution(4, 0.0, 1.0),
        brings=frozenset(form.role("owner").brings),
        data=brought,
    )
    with pytest.raises(InputError, match=complaint):
        form.party(assignment)
    with pytest.raises(InputError, match="no function that answers pulls"):
        form.party(replace(assignment, brings=frozenset({MODEL})))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_kept_and_the_reason_is_said(kind: type[lotor.LinUCBDS]) -> None:
    for asked in ({"form": "paper-live"}, {"form": "paper", "rewards": "live"}):
        with pytest.raises(InputError, match=f"keeps nothing: .*{FRESH}; leave keep out"):
            kind(keep=True, **asked)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=FRESH):
        kind.ordered({"form": "paper-live", "keep": 1})
    policy = kind.policy_kind()()
    with pytest.raises(InputError, match=FRESH):
        Plain(policy, {"rewards": "live", "keep": True})
    form = kind(form="paper-live").in_form()
    assert not form.continuable
    assert not form.keeps


def test_plain_keeps_nothing_of_arms_without_a_theta() -> None:
    with pytest.raises(InputError, match=FRESH):
        lotor.run(Plain(lotor.LinUCB(), {"keep": True}), SHOP, budget=5, seed=1)
    assert lotor.run(live().plain(), SHOP, budget=5, seed=1).kept is None


@pytest.mark.parametrize(
    "changes", [{"keep": True}, {"continued": ContinuedPulls("bb", 3)}], ids=["keep", "continued"]
)
def test_terms_that_keep_or_continue_are_refused(changes: Mapping[str, object]) -> None:
    ordered().check("aa")
    with pytest.raises(ProtocolError, match=f"{FRESH}; order it without"):
        msgspec.structs.replace(ordered(), **changes).check("aa")


def test_no_run_is_continued_with_live_rewards() -> None:
    form, identity = live().in_form(), trusting_identities(["customer"])["customer"]
    earlier = Earlier("aa", ordered().to_bytes(), b"sums")
    with pytest.raises(InputError, match=f"cannot continue another one: .*{FRESH}; start a new"):
        form.reopen(live(), "bb", {}, 5, identity, earlier)
    ended = EndedRun("aa", "linucb-ds", earlier.order, {"principal": b"", "agent": b""})
    run = Run("bb", SHOP.k, 5, RewardScale(), 1, SHOP, 2, ended)
    for protocol in (live(), live().plain()):
        with pytest.raises(InputError, match=FRESH):
            protocol.parties(run)
