"""Who learns what in HELBA: what the paper says, and what was measured."""

from lotor.protocols.finding import Finding
from lotor.protocols.helba.setting import Setting

USER, SERVER, AUTHORITY, NETWORK = "user", "server", "key-authority", "network"


MEASURED: dict[str, Finding] = {
    SERVER: Finding(
        sees="ciphertexts of contexts, of x x^T and of r x; the keys that compute on them",
        paper="nothing",
        measured="T, K, d, the policy's constants and the timing of rounds; no clear value",
        evidence=(
            "It is sent no secret key that it can open, and nothing that was decrypted ever comes "
            "back to it: estimates are renewed by a public schedule, so there are no switch bits. "
            "It follows the protocol: one that computes something else can make a user decrypt "
            "what it likes. **A server and any user together read everything.**"
        ),
    ),
    USER: Finding(
        sees="its own contexts, arms and rewards; in each round b, with noise, for all pairs",
        paper="the arm",
        measured=(
            "the arm, and **often how far apart the indices are**: the comparison is flat only for "
            "large gaps. With five stages far fewer gaps can be read than with four"
        ),
        evidence=(
            "Toy problem, T = 130, noise 2^-5, the composition inverted numerically: a gap is read "
            "within a fifth in 57 % of rounds with 3 stages, 26 % with 4, 4 % with 5; from 100 "
            "answers to one context in 77 %, 30 % and 5 %. From enough gaps follow V and theta, "
            "and with them other users' data."
        ),
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
            "depend on what is in them."
        ),
    ),
}

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "secret key": ("decrypts everything; **all users share one**", (USER, AUTHORITY)),
    "public key": ("encrypts", (USER, SERVER, AUTHORITY)),
    "evaluation keys": ("multiply and rotate ciphertexts", (SERVER, AUTHORITY)),
    "sealing key": ("opens the secret key on its way through the server", (USER,)),
}


def switch_bits(setting: Setting) -> int:
    """How many bits users tell the server at most, so that it knows when to renew its estimate.

    With index="sqrt" and a C there is one in each round after the first, but for those that start a
    batch by eta anyway.
    """
    if setting.bounds.policy.C is None:
        return 0
    return setting.terms.budget - 1
