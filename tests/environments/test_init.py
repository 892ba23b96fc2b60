import lotor.environments


def test_public_names() -> None:
    assert lotor.environments.__all__ == [
        "LINEAR_LOOKALIKES",
        "LOOKALIKES",
        "BernoulliArms",
        "CallbackArms",
        "ChangingArms",
        "ContextualArms",
        "Environment",
        "Factors",
        "GraphArms",
        "LinearArms",
        "LinearContexts",
        "LoggedArms",
        "OffPolicyEstimate",
        "Outcomes",
        "PullFunction",
        "RatingArms",
        "VectorArms",
        "doubly_robust",
        "fitted_rewards",
        "ips",
        "linear_lookalike",
        "lookalike",
        "movielens_factors",
        "self_normalised_ips",
    ]
    assert all(hasattr(lotor.environments, name) for name in lotor.environments.__all__)
