import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import ConfigError
from lotor.transport import Limits
from lotor.transport.dialer import Backoff


@pytest.mark.parametrize("field", Limits.__struct_fields__)
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_senseless_limits_are_refused_by_name(field: str, value: float) -> None:
    with pytest.raises(ConfigError, match=field):
        msgspec.structs.replace(Limits(), **{field: value})


@given(st.floats(0.001, 1.0), st.floats(1.0, 60.0))
def test_pauses_double_up_to_the_last_and_start_again(first: float, last: float) -> None:
    backoff = Backoff(Limits(backoff_first=first, backoff_last=last))
    for attempt in range(20):
        longest = min(first * 2**attempt, last)
        assert longest / 2 <= backoff.pause() <= longest
    backoff.lasted(last / 2)
    assert backoff.pause() >= last / 2
    backoff.lasted(last)
    assert backoff.pause() <= first
