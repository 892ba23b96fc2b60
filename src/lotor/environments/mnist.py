"""MNIST: images of handwritten digits, from the files that its authors published."""

import gzip
import zlib
from math import prod
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import DataError, InputError
from lotor.environments.rating_files import (
    FilePath,
    check_digest,
    notice,
    read_verified,
    to_path,
    verified,
)

_SOURCE = "http://yann.lecun.com/exdb/mnist/"
_TERMS = (
    "MNIST, Yann LeCun, Corinna Cortes and Christopher Burges, from NIST's special databases: the "
    "authors' terms of use are unclear; cite LeCun, Bottou, Bengio and Haffner, Gradient-based "
    "learning applied to document recognition, Proceedings of the IEEE 86(11), 1998."
)

# Digests of the unpacked files: the same data may be packed by gzip in several ways.
MNIST_SHA256: dict[str, tuple[str, str]] = {
    "train": (
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
    "test": (
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
}
_PREFIXES = {"train": "train", "test": "t10k"}


def read_mnist(
    folder: FilePath, images: Literal["train", "test"], sha256: tuple[str, str] | None
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The images as rows of pixels, and the digit of each."""
    if images not in _PREFIXES:
        raise InputError(f"images is {images!r}: give 'train' (60,000) or 'test' (10,000)")
    expected = MNIST_SHA256[images] if sha256 is None else sha256
    if isinstance(expected, str) or len(expected) != 2:
        raise InputError("sha256 must be a pair of digests: of the images and of the labels")
    for digest in expected:
        check_digest(digest)
    prefix, place = _PREFIXES[images], to_path(folder)
    pixels, seen = _read(Path(place, f"{prefix}-images-idx3-ubyte.gz"), expected[0], axes=3)
    labels, also = _read(Path(place, f"{prefix}-labels-idx1-ubyte.gz"), expected[1], axes=1)
    notice(folder, f"{seen} (images) and {also} (labels)", _TERMS)
    if len(pixels) != len(labels) or len(labels) == 0 or labels.max() > 9:
        raise DataError(
            f"the files in {folder} do not belong together: there must be a label from 0 to 9 for "
            f"each image, and at least one; get them again from {_SOURCE}"
        )
    return pixels.reshape(len(pixels), -1), labels.astype(np.int64)


def _read(path: Path, sha256: str, axes: int) -> tuple[NDArray[np.uint8], str]:
    """One file and its digest: 0, 0, 8 (bytes), the number of axes, their lengths, the bytes."""
    packed, _ = read_verified(path, None, _SOURCE)
    try:
        data = gzip.decompress(packed)
    except (OSError, EOFError, zlib.error):
        raise DataError(
            f"{path} is not a gzip file, or was cut short: get it again from {_SOURCE}"
        ) from None
    digest = verified(path, data, sha256, _SOURCE)
    start = 4 + 4 * axes
    lengths = np.frombuffer(data[4:start], ">u4").tolist() if len(data) >= start else []
    if data[:4] != bytes((0, 0, 8, axes)) or prod(lengths) != len(data) - start:
        raise DataError(
            f"{path} is not an idx file of bytes with {axes} axes, or was cut short: get it again "
            f"from {_SOURCE}"
        )
    return np.frombuffer(data[start:], np.uint8).reshape(lengths), digest
