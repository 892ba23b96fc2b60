import lotor


def test_a_result_is_shown_in_one_line_whatever_its_length() -> None:
    arms = lotor.BernoulliArms([0.9, 0.1])
    short = lotor.run(lotor.UCB(), arms, budget=20, seed=7)
    long = lotor.run(lotor.UCB(), arms, budget=2000, seed=7)
    for result in (short, long):
        shown = str(result)
        assert shown == repr(result)
        assert len(shown) < 120
        assert shown.startswith(f"<Result of plain with ucb: reward {result.reward:g} in ")
        times = result.arms.count(0) if result.arms else 0
        assert f"{result.rounds} rounds over 2 arms, most often arm 0 ({times} times)" in shown
    assert len(long.arms or ()) == 2000


def test_a_result_without_its_arms_and_one_of_one_round() -> None:
    one = lotor.run(lotor.UCB(), lotor.BernoulliArms([1.0]), budget=1, seed=7)
    assert str(one).endswith("in 1 round over 1 arm, most often arm 0 (1 time), seed 7>")
    bare = lotor.run(lotor.UCB(), lotor.BernoulliArms([1.0]), budget=1, seed=7, trajectory=False)
    assert str(bare).endswith("in 1 round over 1 arm, seed 7>")
