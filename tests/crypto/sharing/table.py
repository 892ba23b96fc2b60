"""Both servers and the dealer at one table, with all that passes between them written down."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lotor.crypto.sharing import (
    Bits,
    Circuit,
    Engine,
    MaskedWords,
    PadCipher,
    Pads,
    Recipe,
    ServerEngine,
    Shared,
    SharedBits,
    Tally,
    Words,
    joined,
    settled,
    to_message,
)
from lotor.crypto.sharing.engine import Compute
from lotor.crypto.sharing.masked import Secret

T = TypeVar("T")
DType: TypeAlias = np.dtype[np.unsignedinteger]
Pair: TypeAlias = tuple[Shared, Shared] | tuple[SharedBits, SharedBits] | tuple[Tally, Tally]

KEYS = (bytes(range(32)), bytes(range(32, 64)))
ALL_ONES = 2**64 - 1
EXTREMES = [0, 1, 2, 2**62, 2**63 - 1, 2**63, 2**63 + 1, ALL_ONES - 1, ALL_ONES]
EXTREMES += [0x5555555555555555, 0xAAAAAAAAAAAAAAAA]
EXTREMES += [1 << place for place in range(64)]

numbers = st.one_of(st.sampled_from(EXTREMES), st.integers(0, ALL_ONES))
seeds = st.integers(0, 2**32)
few_dims = hnp.array_shapes(min_dims=1, max_dims=3, max_side=4)


def mixed(shape: tuple[int, ...], seed: int) -> Words:
    """Elements of Z/2^64, half of them extreme."""
    rng = np.random.default_rng(seed)
    extreme = rng.choice(np.array(EXTREMES, np.uint64), shape)
    return np.where(rng.random(shape) < 0.5, extreme, rng.integers(0, 2**64, shape, np.uint64))


def arrays(shapes: st.SearchStrategy[tuple[int, ...]]) -> st.SearchStrategy[Words]:
    return st.builds(mixed, shapes, seeds)


broadcastable = st.builds(
    lambda shapes, seed: tuple(mixed(s, seed + i) for i, s in enumerate(shapes.input_shapes)),
    hnp.mutually_broadcastable_shapes(num_shapes=2, min_dims=1, max_dims=3, max_side=3),
    seeds,
)


def uniform(seed: int, *shape: int) -> Words:
    return np.random.default_rng(seed).integers(0, 2**64, shape, np.uint64)


def signed(numbers: Sequence[int]) -> Words:
    """Numbers in two's complement."""
    return np.array([number % 2**64 for number in numbers], np.uint64)


def shared(x: Words, seed: int = 0) -> tuple[Shared, Shared]:
    """Shares of x; the seed makes them the same each time."""
    share = np.random.default_rng(seed).integers(0, 2**64, x.shape, np.uint64)
    return Shared(share, first=True), Shared(x - share, first=False)


def shared_bits(x: Bits, seed: int = 0) -> tuple[SharedBits, SharedBits]:
    share = np.frombuffer(np.random.default_rng(seed).bytes(x.nbytes), x.dtype).reshape(x.shape)
    return SharedBits(share, first=True), SharedBits(x ^ share, first=False)


def shared_tally(x: Bits, seed: int = 0) -> tuple[Tally, Tally]:
    share = np.random.default_rng(seed).integers(0, 2**16, x.shape, np.uint16)
    return Tally(share, first=True), Tally(x.astype(np.uint16) - share, first=False)


def whole(results: tuple[Any, Any]) -> Any:
    """The value that two servers' results are shares of."""
    first, second = results
    if isinstance(first, tuple):
        return tuple(whole(each) for each in zip(first, second, strict=True))
    if isinstance(first, np.ndarray):
        np.testing.assert_array_equal(first, second)
        return first
    assert first.first
    assert not second.first
    assert first.share.shape == second.share.shape
    assert first.share.dtype == second.share.dtype
    if isinstance(first, Shared | Tally):
        return first.share + second.share
    return first.share ^ second.share


@dataclass(slots=True)
class Run(Generic[T]):
    """A circuit's results at both servers, what each sent and knew, and what was opened."""

    recipe: Recipe
    results: tuple[T, T]
    openings: tuple[list[list[Bits]], list[list[Bits]]]
    secrets: tuple[list[Bits], list[Bits]]
    opened: list[Bits]
    messages: tuple[list[bytes], list[bytes]] = field(init=False)

    def __post_init__(self) -> None:
        first, second = (
            [b"".join(share.tobytes() for share in opening) for opening in sent]
            for sent in self.openings
        )
        self.messages = first, second

    @property
    def value(self) -> Any:
        return whole(self.results)


class Noting(ServerEngine):
    """A server that writes down what it draws and is dealt."""

    def __init__(self, pads: Pads, corrections: bytes | None = None) -> None:
        super().__init__(pads, corrections)
        self.known: list[Bits] = []

    def uniform(self, shape: tuple[int, ...], dtype: DType, *, xor: bool) -> Secret:
        secret = super().uniform(shape, dtype, xor=xor)
        self.known.append(secret.share)
        return secret

    def dealt(self, compute: Compute, shape: tuple[int, ...], dtype: DType, *, xor: bool) -> Secret:
        secret = super().dealt(compute, shape, dtype, xor=xor)
        self.known.append(secret.share)
        return secret


def blank(x: Shared | SharedBits | Tally) -> Shared | SharedBits | Tally:
    """What the dealer runs a circuit on."""
    return type(x)(np.zeros_like(x.share), first=False)


def traced(circuit: Callable[..., Circuit[Any]], *inputs: Pair) -> Recipe:
    """What the dealer learns of a circuit."""
    return Recipe.of(lambda engine: circuit(engine, *(blank(second) for _, second in inputs)))


def run(
    circuit: Callable[..., Circuit[T]],
    *inputs: Pair,
    t: int = 0,
    attempt: int = 0,
    keys: tuple[bytes, bytes] = KEYS,
    short_pads: int = 0,
    short_corrections: int = 0,
) -> Run[T]:
    """Run a circuit between two servers; `short…` takes bytes away that it needs."""
    recipe = traced(circuit, *inputs)

    def pads(server: int, short: int = 0) -> Pads:
        size = recipe.pad_bytes(first=server == 0) - short
        return Pads(PadCipher(keys[server]), size, t=t, attempt=attempt, circuit=0)

    corrections = recipe.deal(pads(0), pads(1))
    assert len(corrections) == recipe.correction_bytes
    corrections = corrections[: len(corrections) - short_corrections]
    servers = Noting(pads(0, short_pads)), Noting(pads(1, short_pads), corrections)
    steps = [
        circuit(server, *(pair[number] for pair in inputs)) for number, server in enumerate(servers)
    ]
    openings: tuple[list[list[Bits]], list[list[Bits]]] = [], []
    opened: list[Bits] = []
    values: list[Any] = [None, None]
    while True:
        asked, results = [], []
        for each, value in zip(steps, values, strict=True):
            try:
                asked.append(each.send(value))
            except StopIteration as end:
                results.append(end.value)
        if results:
            assert not asked, "one server ended before the other"
            first, second = results
            known = servers[0].known, servers[1].known
            return Run(recipe, (first, second), openings, known, opened)
        for sent, opening in zip(openings, asked, strict=True):
            sent.append([part.share for part in opening])
        messages = [to_message(opening) for opening in reversed(asked)]
        values = [joined(*each, "peer") for each in zip(asked, messages, strict=True)]
        opened.extend(values[0])


def ending_settled(engine: Engine, circuit: Circuit[MaskedWords]) -> Circuit[Shared]:
    """A circuit that ends in a merely shared value."""
    return settled(engine, (yield from circuit))
