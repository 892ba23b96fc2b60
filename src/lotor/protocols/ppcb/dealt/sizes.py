"""Which circuits a run of the dealt form computes, and how long the dealer's messages are.

All parties derive both from the terms.
"""

from lotor.crypto.sharing import MANY, TOURNAMENT, group_count
from lotor.protocols.ppcb.shape import StepShape

# What the dealer deals for each arm whose update is computed, beside A⁻¹: mainly the table of a
# reciprocal, as so many entries of A⁻¹.
ARM_ENTRIES = 90
# From so many entries on, what need not be dealt, opened and computed is worth the nine rounds more
# of a step, of which the arm waits for none: measured for rounds of 200 µs and a gigabit network.
WORTH_ROUNDS = 6000


def one_arm_learns(arms: int, features: int) -> bool:
    """Whether only the chosen arm learns; else what every arm would learn is computed.

    To read and to write one arm by its one-hot vector is dealt as much as two arms' updates.
    """
    entries = features * (features + 1) // 2
    return (arms - 2) * (entries + ARM_ENTRIES) >= WORTH_ROUNDS


def largest_message(shape: StepShape) -> int:
    """Bytes of the larger part of the dealer's longest message.

    One has some words for each entry of an arm's A⁻¹, the table of a reciprocal, and for each pair
    of arms what comparing takes.
    """
    k, d, entries = shape.arms, shape.features, shape.entries
    pairs = k * k // 2
    if k >= TOURNAMENT:
        groups = group_count(k)
        pairs = (k * -(-k // groups) + groups * groups) // 2
    choosing = 64 * pairs + 1600 * (min(pairs, MANY) + 2) + 6 * min(k, TOURNAMENT) * k
    if one_arm_learns(k, d):
        # Choosing and learning are in one message, and read and write all arms' entries.
        preparing = k * (8 * entries + 16 * d + 40) + 36 * entries + 4 * d * d + 100 * d + 2200
        return choosing + preparing + k * (8 * entries + 20 * d)
    gaining = k * (24 * entries + 4 * d * (d + 1) + 64 * d + 2200)
    learning = k * (8 * entries + 24 * d + 40)
    return gaining + max(choosing, learning)
