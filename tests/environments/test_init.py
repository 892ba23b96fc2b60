import lotor.environments


def test_public_names() -> None:
    assert lotor.environments.__all__ == [
        "LOOKALIKES",
        "BernoulliArms",
        "CallbackArms",
        "Environment",
        "Outcomes",
        "PullFunction",
        "RatingArms",
        "lookalike",
    ]
    assert all(hasattr(lotor.environments, name) for name in lotor.environments.__all__)
