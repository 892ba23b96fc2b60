"""Two-server secret sharing: a small engine for computing on values that nobody sees.

A value is shared between two servers, additively in Z/2^64 or by XOR. Circuits are generators
that read like formulas; a dealer, who sees nothing of them, provides correlated randomness.
"""

from lotor.crypto.sharing.argmax import (
    TOURNAMENT,
    Heats,
    argmax,
    differences,
    group_count,
    heats,
    losses,
    only,
    placed,
    tournament,
)
from lotor.crypto.sharing.arithmetic import (
    contract,
    multiply,
    multiply_three,
    settled,
    square,
    truncate,
    upper_outer,
)
from lotor.crypto.sharing.boolean import both, conjunction
from lotor.crypto.sharing.circuits import (
    Circuit,
    Opening,
    OpeningShare,
    due,
    joined,
    to_message,
    together,
)
from lotor.crypto.sharing.comparison import MANY, Coins, negative
from lotor.crypto.sharing.conversion import bit_to_word, bits_to_words, words_to_bits
from lotor.crypto.sharing.cutting import cut, cut_and_mask
from lotor.crypto.sharing.engine import (
    RING,
    Engine,
    PreparedEngine,
    ServerEngine,
    mask,
    mask_bits,
    moved,
    moved_bits,
    reveal,
    reveal_bits,
    reveal_tally,
)
from lotor.crypto.sharing.known_vector import (
    large_from_bytes,
    large_to_bytes,
    times_known,
    times_known_large,
)
from lotor.crypto.sharing.local import LocalRun, run_locally, split
from lotor.crypto.sharing.lookup import look_up, one_hot_of_sum
from lotor.crypto.sharing.masked import MaskedBits, MaskedWords
from lotor.crypto.sharing.pads import PadCipher, PadCiphers, Pads
from lotor.crypto.sharing.polynomial import polynomial_reciprocal
from lotor.crypto.sharing.recipe import Recipe
from lotor.crypto.sharing.reciprocal import reciprocal
from lotor.crypto.sharing.shares import Shared, SharedBits, Tally
from lotor.crypto.sharing.supply import Supply, Values
from lotor.crypto.sharing.words import Bits, Shorts, Words, constant, to_floats, to_words

__all__ = [
    "MANY",
    "RING",
    "TOURNAMENT",
    "Bits",
    "Circuit",
    "Coins",
    "Engine",
    "Heats",
    "LocalRun",
    "MaskedBits",
    "MaskedWords",
    "Opening",
    "OpeningShare",
    "PadCipher",
    "PadCiphers",
    "Pads",
    "PreparedEngine",
    "Recipe",
    "ServerEngine",
    "Shared",
    "SharedBits",
    "Shorts",
    "Supply",
    "Tally",
    "Values",
    "Words",
    "argmax",
    "bit_to_word",
    "bits_to_words",
    "both",
    "conjunction",
    "constant",
    "contract",
    "cut",
    "cut_and_mask",
    "differences",
    "due",
    "group_count",
    "heats",
    "joined",
    "large_from_bytes",
    "large_to_bytes",
    "look_up",
    "losses",
    "mask",
    "mask_bits",
    "moved",
    "moved_bits",
    "multiply",
    "multiply_three",
    "negative",
    "one_hot_of_sum",
    "only",
    "placed",
    "polynomial_reciprocal",
    "reciprocal",
    "reveal",
    "reveal_bits",
    "reveal_tally",
    "run_locally",
    "settled",
    "split",
    "square",
    "times_known",
    "times_known_large",
    "to_floats",
    "to_message",
    "to_words",
    "together",
    "tournament",
    "truncate",
    "upper_outer",
    "words_to_bits",
]
