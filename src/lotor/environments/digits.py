"""scikit-learn's digits: 1,797 images of 8 by 8 pixels."""

import numpy as np
from numpy.typing import NDArray

from lotor.core.draws import shuffled
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats


def read_digits(shuffle_seed: int) -> tuple[Floats, NDArray[np.int64]]:
    """The images as rows of 64 pixels and the digit of each, in an order that the seed decides."""
    if not isinstance(shuffle_seed, int | np.integer) or shuffle_seed < 0:
        raise InputError(
            f"shuffle_seed {shuffle_seed!r} is not a whole number from 0 up: give one, such as 7"
        )
    try:
        from sklearn.datasets import load_digits  # noqa: PLC0415
    except ImportError as error:
        raise InputError(
            "the digits come with scikit-learn, which is not installed: run pip install "
            "'lotor[data]', or use ContextualArms.lookalike, which needs nothing"
        ) from error
    data = load_digits()
    images, labels = np.asarray(data.data, np.float64), np.asarray(data.target, np.int64)
    order = shuffled(len(labels), shuffle_seed)
    return images[order], labels[order]
