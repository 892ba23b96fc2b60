"""What the dealt form settles before a share leaves, so that no pad covers two values."""

from helpers import run_openly
from lotor.core.effects import Checkpoint, Once, Receive, Send, Steps
from lotor.protocols.linucb_ds.dealt.messages import DealtRewards
from lotor.protocols.party import Party
from lotor.protocols.two_server.messages import Opened
from protocols.linucb_ds.dealt.stage import dealt
from protocols.linucb_ds.stage import some_arms


class Watched(Party):
    """Keeps every effect of a party, but for its checkpoints."""

    def __init__(self, party: Party) -> None:
        self._party = party
        self.effects: list[object] = []

    def steps(self) -> Steps[object]:
        steps, value = self._party.steps(), None
        while True:
            try:
                effect = steps.send(value)
            except StopIteration as end:
                return end.value
            if not isinstance(effect, Checkpoint):
                self.effects.append(effect)
            value = yield effect


def test_rows_are_settled_before_anything_leaves_that_depends_on_them() -> None:
    watches: dict[str, Watched] = {}
    run_openly(
        dealt(),
        some_arms(1, k=4, d=2),
        budget=5,
        wrap=lambda name, party: watches.setdefault(name, Watched(party)),
    )
    for name in ("principal", "comp"):
        effects = watches[name].effects
        settled = [i for i, one in enumerate(effects) if isinstance(one, Once)]
        assert len(settled) == 4 + 1
        for i in settled:
            before, after = effects[i - 1], effects[i + 1]
            if name == "comp":  # what it received
                assert isinstance(before, Receive)
                assert before.kind is Opened
            assert isinstance(after, Send)
            assert isinstance(after.message, Opened | DealtRewards)
