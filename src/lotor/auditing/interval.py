"""Between which bounds a probability lies, by how often something happened."""


def clopper_pearson(right: int, of: int, level: float) -> tuple[float, float]:
    """The exact interval (Clopper and Pearson, 1934): it misses with probability 1 - level at most.

    >>> low, high = clopper_pearson(5, 10, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.187, 0.813)
    """
    from scipy.special import betaincinv  # noqa: PLC0415

    if of == 0:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = float(betaincinv(right, of - right + 1, tail)) if right else 0.0
    high = float(betaincinv(right + 1, of - right, 1 - tail)) if right < of else 1.0
    return low, high
