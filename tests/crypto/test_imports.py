"""Each part of crypto loads only the libraries that it computes with."""

import subprocess
import sys
from pathlib import Path

import pytest

import lotor

LIBRARIES = {"cryptography", "gmpy2", "msgspec", "numpy", "tenseal", "websockets"}
NEEDED = {
    "aead": {"cryptography"},
    "bfv": {"numpy"},
    "certificates": {"cryptography", "msgspec"},
    # SEAL is loaded on first use, gmpy2 by the first set of parameters.
    "ckks": {"cryptography", "msgspec", "numpy"},
    # Powers of a fixed base are Paillier's, which reads and writes its keys with msgspec.
    "garbling": {"cryptography", "gmpy2", "msgspec", "numpy"},
    "one_use": set(),
    "ot": {"cryptography", "gmpy2", "msgspec", "numpy"},
    "paillier": {"gmpy2", "msgspec", "numpy"},
    "prf": {"cryptography", "numpy"},
    "residues": {"cryptography", "gmpy2", "numpy"},
    "seal": set(),
    "sealing": {"cryptography"},
    "signing": {"cryptography"},
    "workers": {"msgspec"},
}
# Without the package's own __init__, which offers everything.
CODE = """
import importlib, sys, types
package = types.ModuleType("lotor")
package.__path__ = [sys.argv[1]]
sys.modules["lotor"] = package
importlib.import_module("lotor.crypto." + sys.argv[2])
print(*sys.modules)
"""


@pytest.mark.parametrize("part", NEEDED)
def test_a_part_loads_what_it_needs(part: str) -> None:
    folder = str(Path(lotor.__file__).parent)
    done = subprocess.run(  # noqa: S603  our own interpreter and code
        [sys.executable, "-c", CODE, folder, part], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) & LIBRARIES <= NEEDED[part]
