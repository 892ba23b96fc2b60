"""The demonstration of live rewards: a shop that learns what to recommend, at two clouds.

The owner's function reads what each arm pays in each round from a table beside its party.toml.
"""

import json
from collections.abc import Sequence

from lotor.core.effects import Decision
from lotor.environments import GraphArms, VectorArms
from lotor.environments.sources import MadeUpArms
from lotor.protocols.cast import Cast, CastMember, arm_in_id

REWARD_RANGE = (-2.0, 2.0)
SHOP_MODULE = '''"""What this shop sells, and what it earns with it."""

import json
from pathlib import Path

import lotor

catalogue = lotor.VectorArms{kind}({table})
_paid = json.loads((Path(__file__).parent / "paid.json").read_text())


def pull(decision):
    return _paid[decision.round - 1][decision.arm]
'''


def shop(made: MadeUpArms, seats: Sequence[str], *, budget: int, seed: int, policy: str) -> Cast:
    """One owner with made-up arms: nobody who takes part knows what they pay."""
    world, graph = made.arms(), made.kind is GraphArms
    answer = world.start(seed)
    # The run itself refuses a budget of 0.
    paid = [
        [answer(Decision.named("", t, arm)) for arm in range(world.k)]
        for t in range(1, max(budget, 1) + 1)
    ]

    def pull(decision: Decision) -> float:
        return paid[decision.round - 1][decision.arm]

    kind = VectorArms.on_graph if graph else VectorArms
    table = {
        "model": "shop:catalogue",
        "pull": "shop:pull",
        "arms": world.k,
        "reward_range": REWARD_RANGE,
        "repeatable": True,
    }
    module = SHOP_MODULE.format(kind=".on_graph" if graph else "", table=made.table)
    members = {seat: CastMember(seat) for seat in seats}
    members["principal"] = CastMember("principal", draws=True)
    members["owner"] = CastMember(
        "owner", table=table, files={"shop.py": module, "paid.json": json.dumps(paid)}
    )
    return Cast(
        story=(
            f"A shop has {world.k} things to recommend, and does not know what they bring. Two "
            f"clouds chose {budget} times by {policy}, learning from its encrypted takings, and "
            "the customer learned the total."
        ),
        members=members,
        environment=kind(made.table, pull, reward_range=REWARD_RANGE),
        pullers=("owner",),
        arm=arm_in_id,
    )
