"""Evaluation keys at which SEAL ends its process end another one only."""

import struct
from pathlib import Path

import pytest

from crypto.ckks.small import small
from crypto.workers.jobs_for_tests import Aborting
from lotor.core.errors import FormatError
from lotor.crypto.ckks import EvaluationKeys, key_trial
from lotor.crypto.ckks.framing import CKKSFrame
from lotor.crypto.seal.framing import FrameKind

KIT = small(2, (1,))
P, KEY = KIT.parameters, KIT.secret.fingerprint
HONEST = KIT.secret.evaluation_keys([1])


def with_part(place: int, part: bytes) -> bytes:
    frame = CKKSFrame.read(FrameKind.EVALUATION_KEYS, HONEST, P)
    parts = [bytes(one) for one in frame.parts]
    parts[place] = part
    return CKKSFrame(FrameKind.EVALUATION_KEYS, P.fingerprint, KEY, tuple(parts)).to_bytes()


def test_honest_keys_are_loaded_after_their_trial() -> None:
    keys = EvaluationKeys.from_bytes(HONEST, P, KEY, trial=True)
    assert [*keys.rotation] == [1]


def test_keys_that_end_a_process_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setattr(key_trial, "KeyTrial", Aborting)
    with pytest.raises(FormatError, match="a process that tried to has ended"):
        EvaluationKeys.from_bytes(HONEST, P, KEY, trial=True)


@pytest.mark.parametrize("place", [1, 2])
def test_other_altered_keys_are_refused_with_their_reason(place: int) -> None:
    content = struct.pack("<HBBBBHQ", 0xA15E, 16, 4, 3, 0, 0, 116) + bytes(100)
    with pytest.raises(FormatError, match="SEAL cannot read these bytes"):
        EvaluationKeys.from_bytes(with_part(place, content), P, KEY, trial=True)
