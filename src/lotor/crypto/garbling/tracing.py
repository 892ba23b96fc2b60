"""A formula as a list of numpy's calls: Python walks through it once, and never again.

What a circuit does depends on shapes alone. Arrays stay where they are, so that each call can be
written down with its arguments and be repeated for other labels.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lotor.core.errors import InputError

Calls: TypeAlias = list[tuple[Callable[..., object], tuple[object, ...]]]


class TracedWires(np.ndarray[tuple[Any, ...], np.dtype[np.uint64]]):
    """Wires that do not compute, but write down what would be computed.

    >>> calls: Calls = []
    >>> x = np.zeros((2, 1), np.uint64)
    >>> y = traced(x, calls)[:1] ^ traced(x, calls)[1:]
    >>> x[:, 0] = 5, 3
    >>> for call, arguments in calls:
    ...     _ = call(*arguments)
    >>> untraced(y).tolist()
    [[6]]
    """

    calls: Calls

    def __array_finalize__(self, parent: object) -> None:
        self.calls = getattr(parent, "calls", [])
        if isinstance(parent, TracedWires) and not _is_part(untraced(self), untraced(parent)):
            raise InputError(
                "a formula copies wires in a way that cannot be repeated: use slices, ^, "
                "take, np.concatenate and np.zeros_like"
            )

    def __repr__(self) -> str:
        return f"<TracedWires {self.shape}>"

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Sequence[Any] = (), **options: Any
    ) -> Any:
        if ufunc is not np.bitwise_xor or method != "__call__" or options:
            return NotImplemented  # labels can do nothing else
        arrays = [untraced(each) for each in inputs]
        made = out[0] if out else self._made(np.broadcast_shapes(*(a.shape for a in arrays)))
        self._note(ufunc, *arrays, untraced(made))
        return made

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.zeros_like:
            made = self._made(arguments[0].shape)
            self._note(untraced(made).fill, 0)
            return made
        if function is not np.concatenate or len(arguments) != 1 or options.keys() - {"axis"}:
            return NotImplemented
        parts = [untraced(each) for each in arguments[0]]
        axis = options.get("axis", 0)
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        made = self._made(tuple(shape))
        self._note(np.concatenate, parts, axis, untraced(made))
        return made

    def __setitem__(self, index: Any, wires: Any) -> None:
        self._note(untraced(self).__setitem__, index, untraced(wires))

    def take(self, indices: NDArray[np.intp], axis: int) -> "TracedWires":  # type: ignore[override]
        """The given places of an axis."""
        made = self._made((*self.shape[:axis], len(indices), *self.shape[axis + 1 :]))
        self._note(untraced(self).take, indices, axis, untraced(made), "clip")
        return made

    def _made(self, shape: tuple[int, ...]) -> "TracedWires":
        return traced(np.empty(shape, np.uint64), self.calls)

    def _note(self, call: Callable[..., object], *arguments: object) -> None:
        self.calls.append((call, arguments))


def traced(wires: NDArray[np.uint64], calls: Calls) -> TracedWires:
    """An array that from now on writes down what is done with it."""
    made = wires.view(TracedWires)
    made.calls = calls
    return made


def _is_part(view: NDArray[np.uint64], whole: NDArray[np.uint64]) -> bool:
    return view.size == 0 or np.may_share_memory(view, whole)


def untraced(wires: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The array itself."""
    return wires.view(np.ndarray)
