"""What the toy gives away, as an attack that `lotor audit` runs."""

from collections import Counter, defaultdict

import msgspec

from lotor.core.views import Truth, View
from lotor.protocols.attack import NOT_TRIED, Attack, Score
from lotor_toy.roles import OwnScore, ToyTerms


class LargestScore(Attack):
    """The referee sees all scores, so it knows which arm is pulled."""

    name = "the largest score"
    secret = "arms"  # noqa: S105

    def score(self, view: View, truth: Truth) -> Score:
        owners = msgspec.msgpack.decode(view.order, type=ToyTerms).owners
        scores: defaultdict[int, dict[int, bytes]] = defaultdict(dict)
        for seen in view.exchanges:
            if isinstance(seen.message, OwnScore):
                # Of several iterations, the last one decides.
                scores[seen.message.t][owners.index(seen.sender)] = seen.message.value
        if not scores:
            return NOT_TRIED
        right = sum(truth.arms[t - 1] == max(one, key=one.__getitem__) for t, one in scores.items())
        pulled = Counter(truth.arms[t - 1] for t in scores)
        return Score(right, len(scores), max(pulled.values()) / len(scores))
