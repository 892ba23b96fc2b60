"""How a user is asked for the contexts of a round."""

from math import sqrt

import numpy as np

from lotor.core.effects import HIDDEN, Decision, Observe, Steps
from lotor.core.errors import InputError
from lotor.core.fixed_point import Floats
from lotor.protocols.helba.shared.setting import HelbaSharedSetting


def observed_contexts(setting: HelbaSharedSetting, t: int) -> Steps[Floats]:
    """All arms' contexts of round t, (arms, d), from a row of all their numbers."""
    terms, policy = setting.terms, setting.policy
    longest = sqrt(terms.arms) * policy.L
    # The pull has another name, so that an operator can tell which of the two is in doubt.
    decision = Decision(terms.run, t, HIDDEN, f"{terms.run}/contexts/{t}")
    numbers = yield Observe(decision, (0, terms.arms * terms.d), longest)
    if len(numbers) != terms.arms * terms.d:
        raise InputError(
            f"there are {len(numbers)} numbers for the contexts of round {t}, not "
            f"{terms.arms * terms.d}: give one context of {terms.d} numbers for each of "
            f"{terms.arms} arms, one after the other"
        )
    x: Floats = np.array(numbers, dtype=np.float64).reshape(terms.arms, terms.d)
    policy.check_contexts(x)
    return x
