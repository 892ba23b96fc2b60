"""Principal components: many features turned into a few."""

import numpy as np

from lotor.core.fixed_point import Floats


def unit_components(rows: Floats, count: int) -> Floats:
    """Each row's first principal components, scaled to length 1 (a row of zeros stays one).

    >>> square = np.array([[2.0, 0, 0], [0, 2, 0], [-2, 0, 0], [0, -2, 0]])
    >>> np.round(np.abs(unit_components(square, 2)).sum(axis=1), 9).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    centred = rows - rows.mean(axis=0)
    # Of the covariance rather than of the rows, of which there may be many.
    _, vectors = np.linalg.eigh(centred.T @ centred)
    chosen = vectors[:, ::-1][:, :count]
    # A component's sign is arbitrary: its largest entry is positive, on every machine.
    largest = np.take_along_axis(chosen, np.abs(chosen).argmax(axis=0)[np.newaxis], axis=0)
    components = centred @ (chosen * np.sign(largest))
    lengths = np.sqrt(np.square(components).sum(axis=1, keepdims=True))
    scaled: Floats = components / np.where(lengths > 0, lengths, 1.0)
    return scaled
