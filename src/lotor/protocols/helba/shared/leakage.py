"""Who sees what in the shared form, who holds which key, and how each message is protected.

docs/security/private-contexts.md has the argument; `lotor audit helba` attacks recorded views.
"""

from lotor.core.effects import Message
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.helba.shared import messages
from lotor.protocols.helba.terms import KEY_AUTHORITY
from lotor.protocols.leakage import Finding
from lotor.protocols.protections import Protection

USER, SERVER, NETWORK = "user", "server", "network"

_MODULE = "lotor.protocols.helba.shared.attacks"
_GAPS = (
    f"{_MODULE}:SmallGaps",
    f"{_MODULE}:SmallGapsFromRepeats",
    f"{_MODULE}:SmallGapsFromEstimates",
)
_SUMS = (f"{_MODULE}:SumsUncovered",)

ATTACKS: dict[str, tuple[str, ...]] = {
    USER: _GAPS,
    SERVER: _SUMS,
    KEY_AUTHORITY: _SUMS,
    f"{SERVER}+{USER}": _SUMS,
    # The authority forgets the users' keys once they are sealed: nothing recorded shows them.
    f"{SERVER}+{KEY_AUTHORITY}": (),
}

MEASURED: dict[str, Finding] = {
    SERVER: Finding(
        sees=(
            "sums of contexts and rewards under the users' pads, columns and words of oblivious "
            "transfers, shares less others that were chosen at random"
        ),
        paper="nothing",
        measured="T, K, d, the policy, the grid and the timing of rounds; no other clear value",
        evidence=(
            "Nothing is ever decrypted for it: it garbles the choice and never reads a result. "
            "Estimates are renewed by a public schedule. **A server and any user together read "
            "everything.**"
        ),
    ),
    USER: Finding(
        sees=(
            "its own contexts, arms and rewards; V R and g + V s, which are uniform; its shares of "
            "scores, which are uniform; labels; the arm"
        ),
        paper="the arm",
        measured=(
            "the arm, and nothing else: no gap, no noise to average. The same contexts against the "
            "same sums give the same arm again"
        ),
        evidence=(
            "R is uniform among invertible matrices and s among vectors, and both are new with "
            "each batch. The circuit is exact and shows one bit for each arm. If a prime divided "
            "det V, the run would stop; the plan has the chance of that, below 2^-35 for every run."
        ),
        tells=frozenset({"arms"}),
    ),
    KEY_AUTHORITY: Finding(
        sees="the users' keys, which it makes",
        paper="trusted",
        measured="everything, if it also sees the server's sums: it must not be near the server",
        evidence="It is sent one message, a sealing key, and takes no part in rounds.",
    ),
    NETWORK: Finding(
        sees="messages of constant sizes; under TLS nothing else",
        paper="not considered",
        measured="T, K, d, the policy's schedule and the timing",
        evidence="Every message has a width that is fixed for the run.",
    ),
}

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "pad key": ("covers all sums at the server; **all users share one**", (USER, KEY_AUTHORITY)),
    "tie key": ("the order of equal scores; made by the authority", (USER, KEY_AUTHORITY)),
    "sealing key": ("opens the users' keys on their way through the server", (USER,)),
    "garbling key": ("delta and all labels of garbled circuits", (SERVER,)),
    "hiding key": ("R and s of each batch", (SERVER,)),
    "transfer key": ("the user's shares, chosen ahead, and its base transfers", (USER,)),
    "product key": ("delta of the products; the user's alone", (USER,)),
    "transfer seeds": ("pairs at one, of which the other has one each, twice", (USER, SERVER)),
    "hash key": ("the labels' hash; need not be secret", (USER, SERVER)),
}

_P = Protection.PUBLIC

MESSAGES: dict[type[Message], dict[str, Protection]] = {
    messages.UsersKeyOffer: {"digest": _P, "public": Protection.SIGNED, "signature": _P},
    messages.SealedUsersKeys: {"digest": _P, "sealed": Protection.SEALED, "signature": _P},
    garbled.LabelHashKey: {"key": _P},
    garbled.BaseOffer: {"offer": _P},
    garbled.BaseAnswer: {"answer": Protection.TRANSFER},
    garbled.Columns: {"place": _P, "columns": Protection.TRANSFER},
    garbled.GarbledTables: {"place": _P, "tables": Protection.GARBLED},
    garbled.DecodingTable: {
        "place": _P,
        "colours": Protection.GARBLED,
        "tags": Protection.GARBLED,
    },
    garbled.InputLabels: {"place": _P, "labels": Protection.GARBLED},
    messages.ProductColumns: {"place": _P, "columns": Protection.TRANSFER},
    messages.CoveredUpdate: {"place": _P, "words": Protection.USERS_PAD},
    messages.EstimateWords: {"place": _P, "words": Protection.PRODUCTS},
    messages.CoveredEstimate: {"place": _P, "words": Protection.HIDDEN},
    messages.ContextWords: {"place": _P, "words": Protection.PRODUCTS},
    messages.CoveredShares: {"place": _P, "words": Protection.CHOSEN_PAD},
}
