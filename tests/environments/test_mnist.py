"""Files written here, small and of the published form."""

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from lotor.core.errors import DataError, InputError
from lotor.environments.mnist import MNIST_SHA256, read_mnist

SHARED = Path(__file__).parents[3] / "shared" / "data" / "mnist"
PIXELS = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
IMAGES = bytes((0, 0, 8, 3)) + np.array([3, 2, 2], ">u4").tobytes() + PIXELS.tobytes()
LABELS = bytes((0, 0, 8, 1)) + np.array([3], ">u4").tobytes() + bytes((7, 0, 9))
NAMES = ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")


def write(folder: Path, images: bytes, labels: bytes) -> tuple[str, str]:
    """The files, and the digests of what is in them."""
    for name, data in zip(NAMES, (images, labels), strict=True):
        Path(folder, name).write_bytes(gzip.compress(data))
    return hashlib.sha256(images).hexdigest(), hashlib.sha256(labels).hexdigest()


def test_files_of_the_users_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digests = write(tmp_path, IMAGES, LABELS)
    pixels, labels = read_mnist(tmp_path, "test", digests)
    assert pixels.tolist() == PIXELS.reshape(3, 4).tolist()
    assert labels.tolist() == [7, 0, 9]
    said = capsys.readouterr().err
    assert all(digest in said for digest in digests)


def test_other_files_than_the_published_are_refused(tmp_path: Path) -> None:
    digests = write(tmp_path, IMAGES, LABELS)
    with pytest.raises(DataError, match=f"has sha256 {digests[0]} instead of {'.' * 64}"):
        read_mnist(tmp_path, "test", None)
    with pytest.raises(DataError, match=f"has sha256 {digests[1]} instead of"):
        read_mnist(tmp_path, "test", (digests[0], digests[0]))


@pytest.mark.parametrize(
    ("images", "labels", "complaint"),
    [
        (IMAGES[:-1], LABELS, "is not an idx file of bytes with 3 axes, or was cut short"),
        (IMAGES + b"0", LABELS, "is not an idx file"),
        (IMAGES[:10], LABELS, "is not an idx file"),
        (b"", LABELS, "is not an idx file"),
        (LABELS, LABELS, "is not an idx file"),
        (IMAGES, b"1" + LABELS[1:], "with 1 axes"),
        (IMAGES, LABELS[:7] + bytes((2, 7, 0)), "do not belong together"),
        (IMAGES, LABELS[:-1] + bytes((10,)), "a label from 0 to 9"),
    ],
)
def test_damaged_files_are_refused(
    tmp_path: Path, images: bytes, labels: bytes, complaint: str
) -> None:
    with pytest.raises(DataError, match=complaint):
        read_mnist(tmp_path, "test", write(tmp_path, images, labels))


def test_no_images_at_all_are_refused(tmp_path: Path) -> None:
    images = bytes((0, 0, 8, 3)) + np.array([0, 2, 2], ">u4").tobytes()
    labels = bytes((0, 0, 8, 1)) + bytes(4)
    with pytest.raises(DataError, match="at least one"):
        read_mnist(tmp_path, "test", write(tmp_path, images, labels))


@pytest.mark.parametrize("packed", [b"", b"no gzip", gzip.compress(IMAGES, mtime=0)[:-9]])
def test_what_gzip_cannot_unpack_is_refused(tmp_path: Path, packed: bytes) -> None:
    digests = write(tmp_path, IMAGES, LABELS)
    Path(tmp_path, NAMES[0]).write_bytes(packed)
    with pytest.raises(DataError, match=r"t10k-images-idx3-ubyte\.gz"):
        read_mnist(tmp_path, "test", digests)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read .*train-images-idx3-ubyte\.gz"):
        read_mnist(tmp_path, "train", None)


@pytest.mark.parametrize("sha256", ["0" * 64, ("0" * 64,), ("0" * 64, "short")])
def test_digests_come_in_pairs(tmp_path: Path, sha256: tuple[str, str]) -> None:
    with pytest.raises(InputError, match="sha256"):
        read_mnist(tmp_path, "test", sha256)


def test_there_are_two_sets_of_images(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'train' \(60,000\) or 'test' \(10,000\)"):
        read_mnist(tmp_path, "t10k", None)  # type: ignore[arg-type]


@pytest.mark.skipif(not SHARED.exists(), reason="needs MNIST in ../shared/data/mnist")
@pytest.mark.parametrize(("images", "count"), [("train", 60_000), ("test", 10_000)])
def test_the_published_files_are_known(images: str, count: int) -> None:
    pixels, labels = read_mnist(SHARED, images, None)  # type: ignore[arg-type]
    assert pixels.shape == (count, 784)
    assert len(labels) == count
    assert set(MNIST_SHA256) == {"train", "test"}
