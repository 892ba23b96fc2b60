"""Computing on ciphertexts, with levels and scales kept right in one place.

Each level has its own scale, chosen so that the product of two ciphertexts of a level lands
exactly on the scale of the next. Public factors are encoded at whatever scale makes their product
land there, so that nothing is ever added at two different scales.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from lotor.core.errors import CryptoError, InputError, LevelsExhaustedError
from lotor.crypto.ckks.ciphertext import Ciphertext
from lotor.crypto.ckks.context import Values
from lotor.crypto.ckks.keys import EvaluationKeys
from lotor.crypto.seal.binding import SealCiphertext, refusals, result_of

# Scales that differ by less differ by rounding only, but SEAL compares every bit.
_SAME_SCALE: Final = 1e-12


class Evaluator:
    """A server's arithmetic. `counts` holds the number of operations by name and level."""

    def __init__(self, keys: EvaluationKeys) -> None:
        self.keys = keys
        self.context = keys.context
        self.parameters = keys.context.parameters
        self.counts: Counter[tuple[str, int]] = Counter()
        self._seal = keys.context.evaluator

    def __repr__(self) -> str:
        return f"<Evaluator under key {self.keys.fingerprint}>"

    def totals(self) -> dict[str, int]:
        """The number of operations by name, over all levels."""
        totals: Counter[str] = Counter()
        for (operation, _), count in self.counts.items():
            totals[operation] += count
        return dict(totals)

    def _own(self, ciphertext: Ciphertext) -> Ciphertext:
        ciphertext.check_key(self.keys.fingerprint)
        return ciphertext

    def require(self, ciphertext: Ciphertext, levels: int) -> None:
        """Refuse a computation that needs more levels than are left, before it begins."""
        self._own(ciphertext)
        if ciphertext.levels_left < levels:
            raise LevelsExhaustedError(
                f"this computation needs {levels} levels and the ciphertext has "
                f"{ciphertext.levels_left} of {self.parameters.levels} left: take parameters with "
                "more levels, a shallower computation, or let the key holder refresh it"
            )

    def add(self, a: Ciphertext, b: Ciphertext) -> Ciphertext:
        """The sum; it costs a level only where both are at one level with different scales."""
        a, b = self._alike(self._own(a), self._own(b))
        return self._counted("add", a.level, result_of(self._seal.add, a.seal, b.seal))

    def subtract(self, a: Ciphertext, b: Ciphertext) -> Ciphertext:
        """The difference, see `add`."""
        a, b = self._alike(self._own(a), self._own(b))
        return self._counted("add", a.level, result_of(self._seal.sub, a.seal, b.seal))

    def negate(self, a: Ciphertext) -> Ciphertext:
        return self._wrapped(result_of(self._seal.negate, self._own(a).seal))

    def add_plain(self, a: Ciphertext, values: Values) -> Ciphertext:
        """Add public values."""
        plain = self.context.encode(values, self._own(a).level, a.scale)
        return self._counted("add_plain", a.level, result_of(self._seal.add_plain, a.seal, plain))

    def multiply(self, a: Ciphertext, b: Ciphertext) -> Ciphertext:
        """The product, relinearised and rescaled: one level below the lower of the two."""
        return self.dot([(a, b)])

    def dot(
        self, pairs: Sequence[tuple[Ciphertext, Ciphertext]], signs: Sequence[int] | None = None
    ) -> Ciphertext:
        """The sum of products, each with its sign; relinearised and rescaled only once."""
        signs = [1] * len(pairs) if signs is None else signs
        if not pairs or len(signs) != len(pairs) or any(sign not in (1, -1) for sign in signs):
            raise InputError("dot takes at least one pair and for each a sign of 1 or -1")
        level = max(item.level for pair in pairs for item in pair)
        for item in (item for pair in pairs for item in pair):
            self.require(item, level + 1 - item.level)
        total: SealCiphertext | None = None
        # A first term with a plus needs no negation.
        ordered = sorted(zip(self._matched(pairs, level), signs, strict=True), key=lambda x: -x[1])
        for (a, b), sign in ordered:
            product = self._product(a, b, level)
            if total is None:
                total = product
                if sign < 0:
                    self._seal.negate_inplace(total)
                continue
            product.scale = total.scale
            with refusals:
                (self._seal.add_inplace if sign > 0 else self._seal.sub_inplace)(total, product)
            self.counts["add", level] += 1
        if total is None:
            raise InputError("dot takes at least one pair")
        return self._reduced(total, level)

    def _matched(
        self, pairs: Sequence[tuple[Ciphertext, Ciphertext]], level: int
    ) -> list[tuple[Ciphertext, Ciphertext]]:
        """The pairs with all products at one scale."""
        scales = [a.scale * b.scale for a, b in pairs]
        if all(_close(scale, scales[0]) for scale in scales):
            return list(pairs)
        # Pairs of this very level cannot be changed any more: the others follow them.
        fixed = [s for s, (a, b) in zip(scales, pairs, strict=True) if a.level == b.level == level]
        goal = fixed[0] if fixed else self.parameters.scales[level] ** 2
        matched = []
        for scale, (a, b) in zip(scales, pairs, strict=True):
            if _close(scale, goal):
                matched.append((a, b))
            elif a.level < level:
                matched.append((self.align(a, level, goal / b.scale), b))
            else:
                matched.append((a, self.align(b, level, goal / a.scale)))
        return matched

    def _product(self, a: Ciphertext, b: Ciphertext, level: int) -> SealCiphertext:
        self.counts["square" if a is b else "multiply", level] += 1
        left = self._lowered(a, level)
        if a is b:
            return result_of(self._seal.square, left)
        return result_of(self._seal.multiply, left, self._lowered(b, level))

    def _reduced(self, product: SealCiphertext, level: int) -> Ciphertext:
        with refusals:
            self._seal.relinearize_inplace(product, self.keys.relinearisation)
        self.counts["relinearise", level] += 1
        return self._rescaled(product, level)

    def _rescaled(self, product: SealCiphertext, level: int) -> Ciphertext:
        out = result_of(self._seal.rescale_to_next, product)
        self.counts["rescale", level] += 1
        own = self.parameters.scales[level + 1]
        if _close(out.scale, own):
            out.scale = own
        return self._wrapped(out)

    def multiply_plain(self, a: Ciphertext, values: Values) -> Ciphertext:
        """The product with public values, one level down and at that level's own scale."""
        return self.weighted_sum([(values, a)])

    def weighted_sum(
        self,
        terms: Sequence[tuple[Values, Ciphertext]],
        constant: float = 0.0,
        *,
        level: int | None = None,
        scale: float | None = None,
    ) -> Ciphertext:
        """Ciphertexts times public values, summed; at any level and scale below all of them."""
        lowest = max((item.level for _, item in terms), default=0) + 1
        level = lowest if level is None else level
        for _, item in terms:
            self.require(item, max(lowest, level) - item.level)
        if level < lowest:
            raise InputError(f"a product of level {lowest - 1} cannot land at level {level}")
        scale = self.parameters.scales[level] if scale is None else scale
        before = scale * self.parameters.dropped_prime(level - 1)
        total: SealCiphertext | None = None
        for values, item in terms:
            if np.all(np.abs(values) * (before / item.scale) < 1):
                # It would be encoded as zero, which SEAL refuses to multiply with.
                continue
            product = self._plain_product(item, values, level - 1, before)
            if total is None:
                total = product
            else:
                with refusals:
                    self._seal.add_inplace(total, product)
                self.counts["add", level - 1] += 1
        if total is None:
            raise InputError(
                "a product with public zeros only is not secret: leave it out, or add a constant"
            )
        result = self._rescaled(total, level - 1)
        result.seal.scale = scale
        return self.add_plain(result, constant) if constant else result

    def _plain_product(
        self, a: Ciphertext, values: Values, level: int, goal: float
    ) -> SealCiphertext:
        plain = self.context.encode(values, level, goal / a.scale)
        out = result_of(self._seal.multiply_plain, self._lowered(a, level), plain)
        out.scale = goal
        self.counts["multiply_plain", level] += 1
        return out

    def align(self, a: Ciphertext, level: int, scale: float) -> Ciphertext:
        """The same values at a lower level and another scale, exactly."""
        if a.level == level and _close(a.scale, scale):
            return a
        if a.level >= level:
            raise CryptoError(
                f"two ciphertexts of level {level} have different scales and cannot be combined: "
                "encrypt one of them one level higher, or at the scale of the other"
            )
        return self.weighted_sum([(1.0, a)], level=level, scale=scale)

    def rotate(self, a: Ciphertext, step: int) -> Ciphertext:
        """Slot i of the result is slot i + step, around the end."""
        step = self.keys.check_rotation(step)
        self._own(a)
        if not step:
            return a
        out = result_of(self._seal.rotate_vector, a.seal, step, self.keys.rotation[step])
        return self._counted("rotate", a.level, out)

    def sum_slots(self, a: Ciphertext, count: int, stride: int = 1) -> Ciphertext:
        """Slot i of the result is the sum of slots i, i + stride, …, `count` of them."""
        for step in halvings(count, stride):
            a = self.add(a, self.rotate(a, step))
        return a

    def _alike(self, a: Ciphertext, b: Ciphertext) -> tuple[Ciphertext, Ciphertext]:
        if a.level > b.level:
            return a, self.align(b, a.level, a.scale)
        if b.level > a.level:
            return self.align(a, b.level, b.scale), b
        if a.scale == b.scale:
            return a, b
        if _close(a.scale, b.scale):
            return a, self._relabelled(b, a.scale)
        level = a.level + 1
        self.require(a, 1)
        own = self.parameters.scales[level]
        return self.align(a, level, own), self.align(b, level, own)

    def _relabelled(self, a: Ciphertext, scale: float) -> Ciphertext:
        # To its own level: SEAL's interface has no other way to copy.
        copy = result_of(self._seal.mod_switch_to, a.seal, self.context.ids[a.level])
        copy.scale = scale
        return self._wrapped(copy)

    def _lowered(self, a: Ciphertext, level: int) -> SealCiphertext:
        if a.level == level:
            return a.seal
        return result_of(self._seal.mod_switch_to, a.seal, self.context.ids[level])

    def _counted(self, operation: str, level: int, result: SealCiphertext) -> Ciphertext:
        self.counts[operation, level] += 1
        return self._wrapped(result)

    def _wrapped(self, result: SealCiphertext) -> Ciphertext:
        return Ciphertext(self.context, self.keys.fingerprint, result)


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_SAME_SCALE)


def halvings(count: int, stride: int) -> list[int]:
    """The rotations that bring `count` slots together, which must be a power of two."""
    if count < 1 or count & (count - 1) or stride < 1:
        raise InputError(f"count={count}, stride={stride}: the count must be a power of two")
    return [stride << place for place in reversed(range(count.bit_length() - 1))]
