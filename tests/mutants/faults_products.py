"""Faults in products by oblivious transfer, and in numbers modulo a product of primes."""

from mutants.fault import Fault

AREA = "products"
PRODUCTS = ("ot/test_products.py",)
FOLDING = ("residues/test_folding.py",)
MATRICES = ("residues/test_matrices.py",)

FAULTS = [
    Fault(
        "a batch of products serves two vectors",
        "one-use rules",
        '{length} ".encode() + added.tobytes())',
        '{length} ".encode())',
        PRODUCTS,
    ),
    Fault(
        "a batch of products serves two moduli",
        "one-use rules",
        'f"{rows.labels.shape} {length} ".encode() + added',
        "added",
        PRODUCTS,
    ),
    Fault(
        "another epoch has the same rows of products",
        "one-use rules",
        "return epoch << BATCH_BITS | batch",
        "return batch",
        PRODUCTS,
    ),
    Fault(
        "all entries of a vector have the same masks",
        AREA,
        "return entries[:, np.newaxis] * np.uint64(primes) + within",
        "return entries[:, np.newaxis] * np.uint64(0) + within",
        PRODUCTS,
    ),
    Fault(
        "words that are no residues are taken",
        AREA,
        "over = words >= primes",
        "over = words > primes",
        PRODUCTS,
    ),
    Fault(
        "a product's key hashes more than is safe",
        AREA,
        "check_security(product_words(rows.modulus, (groups, numbers), length),",
        "check_security(product_words(rows.modulus, (groups, 0), length),",
        PRODUCTS,
    ),
    Fault(
        "products are hashed under a key of garbling",
        AREA,
        "key = self._keys.of(self.epoch, rows.batch, Purpose.PRODUCTS)",
        "key = self._keys.of(self._epoch, rows.batch, Purpose.GARBLING)",
        PRODUCTS,
    ),
    Fault(
        "bits above 2^61 are forgotten when a word is folded",
        AREA,
        "folded += above",
        "above += above",
        FOLDING,
    ),
    Fault(
        "a settled word may be its prime",
        AREA,
        "less: Words = np.minimum(words, words - primes)",
        "less: Words = np.where(words > primes, words - primes, words)",
        FOLDING,
    ),
    Fault(
        "a matrix without a pivot in its row is called singular",
        AREA,
        "if work[r, i] % prime), None)",
        "if work[r, i] % prime and r < i), None)",
        MATRICES,
    ),
    Fault(
        "rows are added modulo all primes for the sake of one",
        AREA,
        "(work[i] + only_this * work[row])",
        "(work[i] + work[row])",
        MATRICES,
    ),
    Fault(
        "matrices with a zero in the corner are not drawn",
        AREA,
        "if found is not None:  # nothing else",
        "if found is not None and matrix[0, 0]:  # nothing else",
        ("residues/test_source.py",),
    ),
    Fault(
        "all rounds have the same numbers",
        AREA,
        "_NONCE.pack(round_, label, 0)",
        "_NONCE.pack(0, label, 0)",
        ("residues/test_source.py",),
    ),
]
