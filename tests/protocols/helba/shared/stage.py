"""Small runs of the forms on shares, for several tests."""

import numpy as np

import lotor
from helpers import run_openly
from lotor.core.effects import Effect, Once, Send
from lotor.core.fixed_point import Floats, RewardScale
from lotor.policies.optimistic import BatchedOFUL
from lotor.protocols.helba.shared.form import ordered_setting
from lotor.protocols.helba.shared.setting import HelbaSharedSetting
from relayed import Relayed

QUADRATIC = BatchedOFUL()
ROOT = BatchedOFUL(index="sqrt", width="union", eta=0.1)
POLICIES = [
    QUADRATIC,
    ROOT,
    BatchedOFUL(eta=0.5, touch="flat", width="union"),
    BatchedOFUL(index="sqrt", ridge=0.01, L=1.0),
]
SCALE = RewardScale(-6.0, 6.0)


def setting_of(
    policy: BatchedOFUL = QUADRATIC, *, budget: int = 130, arms: int = 2, d: int = 2
) -> HelbaSharedSetting:
    helba = lotor.Helba(policy)
    return ordered_setting(helba, "run", budget=budget, arms=arms, d=d, scale=SCALE)


def contexts(
    seed: int, *, rounds: int, arms: int, d: int, longest: float, kind: str = "any"
) -> Floats:
    """Contexts within a length: any, all of the arms equal, on axes, as long as allowed, or 0."""
    generator = np.random.default_rng(seed)
    table: Floats = generator.normal(size=(rounds, arms, d))
    if kind == "equal":
        table = np.repeat(table[:, :1], arms, axis=1)
    elif kind == "axes":
        table = np.sign(table) * np.eye(d)[generator.integers(d, size=(rounds, arms))]
    elif kind == "zero":
        table[generator.random((rounds, arms)) < 0.7] = 0.0
    lengths = np.linalg.norm(table, axis=-1, keepdims=True)
    scale = longest / np.where(lengths == 0, 1.0, lengths)
    if kind == "any":
        scale = scale * generator.random((rounds, arms, 1))
    scaled: Floats = table * scale
    return scaled


def noted(helba: lotor.Helba, arms: lotor.LinearContexts, seat: str) -> list[type]:
    """What a party yields in a run of all rounds, as kinds of messages and `Once`."""
    kinds: list[type] = []

    def note(effect: Effect) -> Effect:
        if isinstance(effect, Once):
            kinds.append(Once)
        elif isinstance(effect, Send):
            kinds.append(type(effect.message))
        return effect

    run_openly(
        helba,
        arms,
        budget=arms.rounds,
        wrap=lambda name, party: Relayed(party, note) if name == seat else party,
    )
    return kinds
