"""The demonstration: hospitals that compare treatments."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lotor.core.effects import Decision
from lotor.environments import BernoulliArms, Outcomes
from lotor.protocols.cast import Cast, CastMember, arm_in_id

# Each hospital of the demonstration tries a treatment of its own, which helps this share of its
# patients.
HOSPITALS = {
    "lyon": 0.45,
    "porto": 0.6,
    "graz": 0.75,
    "turku": 0.5,
    "malmo": 0.35,
    "gdansk": 0.55,
    "bilbao": 0.4,
    "basel": 0.65,
    "torino": 0.3,
    "cork": 0.5,
    "split": 0.6,
    "leuven": 0.25,
    "tartu": 0.45,
    "aarhus": 0.7,
    "patras": 0.35,
    "szeged": 0.55,
    "brno": 0.4,
    "leiden": 0.65,
    "kosice": 0.3,
    "bergen": 0.5,
}
DEMO_HOSPITALS = 3
HOSPITAL_MODULE = '''"""Outcomes of this hospital's patients, each for one decision for ever."""

from pathlib import Path

from lotor.environments import Outcomes

pull = Outcomes(Path(__file__).with_name("patients.db"))
'''


def hospitals(
    means: Mapping[str, float],
    *,
    budget: int,
    seed: int,
    policy: str,
    servers: Sequence[str] = ("customer", "controller", "comp"),
) -> Cast:
    """Hospitals with one arm each, whose outcomes are those of `BernoulliArms` with this seed.

    `servers` are all others who take part.
    """
    arms = BernoulliArms(list(means.values()))
    pull = arms.start(seed)
    # Controller's draws decide ties in some forms.
    members = {name: CastMember(name, draws=name == "controller") for name in servers}
    for arm, name in enumerate(means):
        outcomes = [pull(Decision("", t, arm, "")) for t in range(budget)]
        members[name] = CastMember(
            "owner",
            table={"pull": "hospital:pull", "repeatable": True},
            files={"hospital.py": HOSPITAL_MODULE, "patients.db": _recorded(outcomes)},
            draws=True,
        )
    return Cast(
        story=(
            f"{len(means)} hospitals ({', '.join(means)}) treated {budget} patients and chose by "
            f"{policy} among their treatments."
        ),
        members=members,
        environment=arms,
        pullers=tuple(means),
        arm=arm_in_id,
    )


def _recorded(outcomes: Sequence[float]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        Outcomes.create(path, outcomes)

    return write
