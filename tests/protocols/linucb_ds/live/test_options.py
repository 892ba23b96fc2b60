"""How live rewards are asked for, and who refuses them with which reason."""

import pytest

import lotor
from lotor.core.errors import InputError
from lotor.protocols.linucb_ds.live.form import LinUCBDSLive
from lotor.protocols.plain import Plain
from protocols.linucb_ds.live.stage import SHOP, live

KINDS = [lotor.LinUCBDS, lotor.SpectralUCBDS]


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
