"""Oblivious transfer: one party chooses, the other does not see what, nor the first what is left.

128 base transfers with public-key operations, once a run, are extended to any number with AES.
"""

from lotor.crypto.ot.base import (
    ANSWER_BYTES,
    OFFER_BYTES,
    SEED_BYTES,
    TRANSFERS,
    BaseReceiver,
    BaseSender,
)
from lotor.crypto.ot.delta import LABEL_BITS, LABEL_BYTES, Delta, Labels
from lotor.crypto.ot.extension import CorrelatedReceiver, CorrelatedSender, column_bytes
from lotor.crypto.ot.products import (
    ChosenRows,
    OfferedRows,
    ProductChooser,
    ProductSender,
    product_rows,
    product_words,
)
from lotor.crypto.ot.vectors import (
    ChosenBits,
    OfferedLabels,
    VectorChooser,
    VectorSender,
    VectorTransfer,
    word_bits,
)

__all__ = [
    "ANSWER_BYTES",
    "LABEL_BITS",
    "LABEL_BYTES",
    "OFFER_BYTES",
    "SEED_BYTES",
    "TRANSFERS",
    "BaseReceiver",
    "BaseSender",
    "ChosenBits",
    "ChosenRows",
    "CorrelatedReceiver",
    "CorrelatedSender",
    "Delta",
    "Labels",
    "OfferedLabels",
    "OfferedRows",
    "ProductChooser",
    "ProductSender",
    "VectorChooser",
    "VectorSender",
    "VectorTransfer",
    "column_bytes",
    "product_rows",
    "product_words",
    "word_bits",
]
