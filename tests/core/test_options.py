"""Options are fields of dataclasses: name, type, default and description are said once."""

from dataclasses import dataclass, field, fields
from typing import Literal, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import InputError
from lotor.core.options import Option, option, options_of
from lotor.environments.sources.base import ArmsSource
from lotor.protocols.protocol import PROTOCOLS


@dataclass(frozen=True)
class Scheme:
    secret: int = 0
    bits: int = field(default=64, metadata=option("How wide."))
    share: float | None = field(default=None, metadata=option("How much.", shown="a third"))
    mode: Literal["fast", "small"] = field(default="fast", metadata=option("How.", flag="how"))
    level: Optional[Literal[1, 2]] = field(  # noqa: UP045  both spellings are understood
        default=None, metadata=option("How high.")
    )
    name: str = field(default="", kw_only=True, metadata=option("Its name.", ordered=False))
    loud: bool = field(default=False, kw_only=True, metadata=option("Whether it is loud."))
    needed: int = field(kw_only=True, metadata=option("Has no default."))


def test_options_in_the_order_of_the_fields() -> None:
    assert options_of(Scheme) == (
        Option("bits", int, "How wide.", "bits", "64"),
        Option("share", float, "How much.", "share", "a third"),
        Option("mode", str, "How.", "how", "fast", ("fast", "small")),
        Option("level", int, "How high.", "level", "", ("1", "2")),
        Option("name", str, "Its name.", "name", "", ordered=False),
        Option("loud", bool, "Whether it is loud.", "loud", "False"),
        Option("needed", int, "Has no default.", "needed", ""),
    )


def test_a_subclass_has_the_options_of_its_base() -> None:
    @dataclass(frozen=True)
    class Wider(Scheme):
        more: int = field(default=1, kw_only=True, metadata=option("More."))

    assert [one.name for one in options_of(Wider)][-1] == "more"
    assert set(options_of(Scheme)) < set(options_of(Wider))


def test_a_field_of_another_type_is_no_option() -> None:
    @dataclass(frozen=True)
    class Wrong:
        many: list[int] = field(default_factory=list, metadata=option("Many."))

    with pytest.raises(TypeError, match="an option is an int, float, str, bool or Literal"):
        options_of(Wrong)


OPTIONS = {one.name: one for one in options_of(Scheme)}


@given(st.integers())
def test_whole_numbers_are_read(value: int) -> None:
    for given_as in (value, str(value)):
        read = OPTIONS["bits"].read(given_as)
        assert read == value
        assert type(read) is int


@given(st.floats(allow_nan=False))
def test_numbers_are_read_exactly(value: float) -> None:
    for given_as in (value, str(value)):
        read = OPTIONS["share"].read(given_as)
        assert read == value
        assert type(read) is float


@given(st.text())
def test_text_stays_as_it_is(value: str) -> None:
    assert OPTIONS["name"].read(value) == value


@pytest.mark.parametrize("said", [True, "true", "True", 1])
def test_true_is_true(said: object) -> None:
    assert OPTIONS["loud"].read(said) is True


@pytest.mark.parametrize("said", [False, "false", "False", 0])
def test_false_is_false(said: object) -> None:
    """Also as the text that an order carries."""
    assert OPTIONS["loud"].read(said) is False


@pytest.mark.parametrize(
    ("name", "value", "takes"),
    [
        ("bits", "many", "a whole number"),
        ("bits", "1.5", "a whole number"),
        ("bits", 1.5, "a whole number"),
        ("bits", None, "a whole number"),
        ("bits", [], "a whole number"),
        ("share", "much", "a number"),
        ("share", None, "a number"),
        ("loud", "perhaps", "true or false"),
        ("loud", 2, "true or false"),
    ],
)
def test_what_cannot_be_read_is_refused(name: str, value: object, takes: str) -> None:
    with pytest.raises(InputError) as caught:
        OPTIONS[name].read(value)
    assert str(caught.value) == f"{name} takes {takes}, not {value!r}"


def every_options_class() -> list[type]:
    sources = dict.fromkeys(kind.arms for kind in PROTOCOLS.values())
    assert all(issubclass(source, ArmsSource) for source in sources)
    return [*PROTOCOLS.values(), *sources]


@pytest.mark.parametrize("kind", every_options_class(), ids=lambda kind: kind.__name__)
def test_every_option_is_described(kind: type) -> None:
    options = options_of(kind)
    assert {one.name for one in options} <= {one.name for one in fields(kind)}
    for one in options:
        assert one.text.endswith("."), one.name
        assert one.flag.isidentifier()
    assert len({one.flag for one in options}) == len(options)
