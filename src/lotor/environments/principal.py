"""Principal components: many features turned into a few."""

import numpy as np
from numpy.typing import NDArray

from lotor.core.fixed_point import Floats

# All of MNIST as floats would take 400 MB.
_BLOCK = 4096


def unit_components(rows: NDArray[np.uint8] | Floats, count: int) -> Floats:
    """Each row's first principal components, scaled to length 1 (a row of zeros stays one).

    >>> square = np.array([[2.0, 0, 0], [0, 2, 0], [-2, 0, 0], [0, -2, 0]])
    >>> np.round(np.square(unit_components(square, 2)).sum(axis=1), 9).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    mean = rows.mean(axis=0)
    covariance = np.zeros((rows.shape[1], rows.shape[1]))
    starts = range(0, len(rows), _BLOCK)
    for start in starts:
        centred = rows[start : start + _BLOCK] - mean
        covariance += centred.T @ centred
    _, vectors = np.linalg.eigh(covariance)
    chosen = vectors[:, ::-1][:, :count]
    # A component's sign is arbitrary: its largest entry is positive, on every machine.
    largest = np.take_along_axis(chosen, np.abs(chosen).argmax(axis=0)[np.newaxis], axis=0)
    chosen = chosen * np.sign(largest)
    parts = [(rows[start : start + _BLOCK] - mean) @ chosen for start in starts]
    components: Floats = np.concatenate(parts)
    lengths = np.sqrt(np.square(components).sum(axis=1, keepdims=True))
    return components / np.where(lengths > 0, lengths, 1.0)
