from pathlib import Path

import pytest

from transport.parties import Federation


@pytest.fixture
def federation(tmp_path: Path) -> Federation:
    return Federation(tmp_path)
