import lotor.environments


def test_public_names() -> None:
    assert lotor.environments.__all__ == [
        "LINEAR_LOOKALIKES",
        "LOOKALIKES",
        "BernoulliArms",
        "CallbackArms",
        "ContextualArms",
        "Environment",
        "Factors",
        "GraphArms",
        "LinearArms",
        "LinearContexts",
        "Outcomes",
        "PullFunction",
        "RatingArms",
        "linear_lookalike",
        "lookalike",
        "movielens_factors",
    ]
    assert all(hasattr(lotor.environments, name) for name in lotor.environments.__all__)
