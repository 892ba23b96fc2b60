"""The names that others build on."""

import lotor

PUBLIC = [
    "OFUL",
    "PPCB",
    "RSOFUL",
    "RSOFULTR",
    "UCB",
    "AuditReport",
    "BernoulliArms",
    "CallbackArms",
    "ContextualArms",
    "Decision",
    "EpsilonGreedy",
    "GraphArms",
    "Helba",
    "LinUCB",
    "LinUCBDS",
    "LinearArms",
    "LinearContexts",
    "LinearEpsilonGreedy",
    "LotorError",
    "Pursuit",
    "RatingArms",
    "ReinforcementComparison",
    "Result",
    "Samba",
    "Softmax",
    "SpectralUCB",
    "SpectralUCBDS",
    "ThompsonSampling",
    "__version__",
    "audit",
    "run",
]


def test_public_names_are_pinned_sorted_and_there() -> None:
    assert lotor.__all__ == PUBLIC
    assert all(hasattr(lotor, name) for name in PUBLIC)
