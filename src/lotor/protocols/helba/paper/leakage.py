"""Who learns what in HELBA: what the paper says, and what was measured."""

from typing import TYPE_CHECKING

from lotor.protocols.leakage import Finding

if TYPE_CHECKING:  # it loads CKKS
    from lotor.protocols.helba.paper.setting import HelbaSetting

USER, SERVER, AUTHORITY, NETWORK = "user", "server", "key-authority", "network"


MEASURED: dict[str, Finding] = {
    SERVER: Finding(
        sees=(
            "ciphertexts of contexts, of x x^T and of r x; the keys that compute on them; with "
            "condition (8) one bit in a round"
        ),
        paper="nothing",
        measured=(
            "T, K, d, the policy's constants and the timing of rounds; with condition (8) also "
            "when it ends a batch; no other clear value"
        ),
        evidence=(
            "It is sent no secret key that it can open. With the index without a root estimates "
            "are renewed by a public schedule, and nothing that was decrypted ever comes back to "
            "it. With the paper's index and a C, a user tells it at most one bit in each round "
            "after the first (`switch_bits`), and encrypts again what the server has masked. A "
            "server that computes something else can make a user decrypt what it likes. **A server "
            "and any user together read everything.** All that repeats in what it is sent are the "
            "headers of ciphertexts, which name their key."
        ),
        tells=frozenset({"repeats"}),
    ),
    USER: Finding(
        sees=(
            "its own contexts, arms and rewards; in each round b, with noise, for all pairs; with "
            "the paper's index masked estimates and, with condition (8), its sign times a coin"
        ),
        paper="the arm",
        measured=(
            "the arm, and **often how far apart the indices are**: the comparison is flat only for "
            "large gaps. With five stages far fewer gaps can be read than with four. With the "
            "paper's index also when a batch begins, and how near condition (8) was where it was "
            "near"
        ),
        evidence=(
            "Toy problem, T = 130, noise 2^-5, the composition inverted numerically: a gap is read "
            "within a fifth in 58 % of rounds with 3 stages, 28 % with 4, 4 % with 5; from 100 "
            "answers to one context in 80 %, 33 % and 5 %. These are means of ten problems, which "
            "differ: of 130 gaps of one problem, 36 to 106 are read with 3 stages, 5 to 93 with 4, "
            "0 to 30 with 5. With the paper's index in 40 % with 3 "
            "and 14 % with 4, from 100 answers in 51 % and 17 %; the distance to C, with C = 1 and "
            "4 stages, from no doubt with eta = 0.1 and from 6 % with eta = 1. An answer is "
            "in several slots, with noise that leaves 2^-5 on their mean. Of two arms' answers "
            "one mirrors the other, so that 2^-5.5 is left on both together. From enough gaps "
            "follow V and theta, and with them other users' data. A masked estimate is covered by "
            "a uniform number 2^40 times as large in each complex slot."
        ),
        tells=frozenset({"arms", "gaps"}),
    ),
    AUTHORITY: Finding(
        sees="the secret key, which it makes",
        paper="trusted",
        measured="everything, if it also sees the ciphertexts: it must not be near the server",
        evidence="It is sent one message, a sealing key, and takes no part in rounds.",
    ),
    NETWORK: Finding(
        sees="messages of nearly constant sizes; under TLS nothing else",
        paper="not considered",
        measured="T, K, d and the timing",
        evidence=(
            "Compressed ciphertexts differ by less than 1 % in length, at random: they do not "
            "depend on what is in them. With the paper's index a refresh shows as traffic, and so "
            "does when a batch begins."
        ),
    ),
}

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "secret key": ("decrypts everything; **all users share one**", (USER, AUTHORITY)),
    "public key": ("encrypts", (USER, SERVER, AUTHORITY)),
    "evaluation keys": ("multiply and rotate ciphertexts", (SERVER, AUTHORITY)),
    "mask keys": ("cover an estimate while the user encrypts it again", (SERVER,)),
    "sealing key": ("opens the secret key on its way through the server", (USER,)),
}


def switch_bits(setting: "HelbaSetting") -> int:
    """How many bits users tell the server at most, so that it knows when to renew its estimate.

    With index="sqrt" and a C there is one in each round after the first, but for those that start a
    batch by eta anyway.
    """
    if setting.bounds.policy.C is None:
        return 0
    return setting.terms.budget - 1
