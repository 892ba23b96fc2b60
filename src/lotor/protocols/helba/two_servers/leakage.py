"""Who sees what with two servers, who holds which key, and how each message is protected.

docs/security/two-servers.md has the argument; `lotor audit helba --servers 2` attacks recorded
views.
"""

from lotor.core.effects import Message
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.helba.two_servers import messages
from lotor.protocols.helba.two_servers.setting import PAD_SERVER, SERVER
from lotor.protocols.leakage import Finding
from lotor.protocols.protections import Protection

CUSTOMER, USER, NETWORK = "customer", "user", "network"

_MODULE = "lotor.protocols.helba.two_servers.attacks"
_OTHERS = f"{_MODULE}:OthersUncovered"
_SHARES = f"{_MODULE}:GapsFromServerShares"
_ESTIMATES = f"{_MODULE}:GapsFromPaddedEstimates"

ATTACKS: dict[str, tuple[str, ...]] = {
    CUSTOMER: (_OTHERS,),
    SERVER: (_OTHERS, _SHARES),
    # It is sent no update: there is nothing to uncover.
    PAD_SERVER: (_ESTIMATES,),
    USER: (_OTHERS,),
    f"{SERVER}+{USER}": (_OTHERS, _SHARES),
    f"{PAD_SERVER}+{USER}": (_OTHERS, _ESTIMATES),
    f"{SERVER}+{PAD_SERVER}": (_OTHERS,),
}

MEASURED: dict[str, Finding] = {
    CUSTOMER: Finding(
        sees="the total of all users' rewards, as two shares",
        paper="not considered",
        measured="the total, and how many rounds it counts",
        evidence="Shares of single users never reach it: with one server it still sees the total.",
    ),
    SERVER: Finding(
        sees=(
            "contexts, sums and totals under pads of each user, its share of the model, columns "
            "and words of oblivious transfers, labels"
        ),
        paper="nothing",
        measured=(
            "T, K, d, whose round it is, the policy, the grid and the timing; no other clear value"
        ),
        evidence=(
            "It evaluates the choice and has no table to read it. With a user it also has that "
            "user's pads, and learns nothing of others. **With the pad server it reads "
            "everything.**"
        ),
    ),
    PAD_SERVER: Finding(
        sees=(
            "the pads of all users; V R and g + V s, which are uniform; its share of the model, "
            "columns and words of oblivious transfers"
        ),
        paper="not considered",
        measured=(
            "T, K, d, the users, the policy, the grid and the timing of rounds; no other clear "
            "value"
        ),
        evidence=(
            "It garbles the choice and never sees a label that was chosen. What users send under "
            "its pads goes to the server alone. If a prime divided det V, the run would stop; the "
            "plan has the chance of that, below 2^-35 for every run."
        ),
    ),
    USER: Finding(
        sees="its own contexts, arms and rewards; a table and tags of outputs of its own rounds",
        paper="the arm",
        measured=(
            "the arms of its own rounds, and nothing else of other users, even together with one "
            "server"
        ),
        evidence=(
            "Its pads are its own, and the circuit shows one bit for each arm. It takes no part in "
            "estimates or products."
        ),
        tells=frozenset({"arms"}),
    ),
    NETWORK: Finding(
        sees="messages of constant sizes; under TLS nothing else",
        paper="not considered",
        measured="T, K, d, whose round it is, the policy's schedule and the timing",
        evidence="Every message has a width that is fixed for the run.",
    ),
}

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "own pad key": (
        "covers all that one user sends to the server; **another one for each user**",
        (USER, PAD_SERVER),
    ),
    "own tie key": ("the order of equal scores in a user's rounds", (USER,)),
    "garbling key": (
        "delta and all labels of garbled circuits, and of new estimates",
        (PAD_SERVER,),
    ),
    "hiding key": ("R and s of each new estimate", (SERVER,)),
    "transfer key": ("the server's shares, chosen ahead, and its base transfers", (SERVER,)),
    "product key": ("delta of the products of scores; the server's alone", (SERVER,)),
    "transfer seeds": (
        "pairs at one server, of which the other has one each, twice",
        (SERVER, PAD_SERVER),
    ),
    "hash key": ("the labels' hash; need not be secret", (SERVER, PAD_SERVER)),
}

_P, _PAD = Protection.PUBLIC, Protection.OWN_PAD

MESSAGES: dict[type[Message], dict[str, Protection]] = {
    messages.UserPadKey: {"digest": _P, "key": Protection.KEY},
    messages.PadServerTerms: {"digest": _P},
    garbled.LabelHashKey: {"key": _P},
    garbled.BaseOffer: {"offer": _P},
    garbled.BaseAnswer: {"answer": Protection.TRANSFER},
    garbled.Columns: {"place": _P, "columns": Protection.TRANSFER},
    garbled.GarbledTables: {"place": _P, "tables": Protection.GARBLED},
    messages.RenewalColumns: {"place": _P, "columns": Protection.TRANSFER},
    messages.PadWords: {"place": _P, "words": Protection.PRODUCTS},
    messages.PaddedEstimate: {"place": _P, "words": Protection.HIDDEN},
    messages.ModelWords: {"place": _P, "words": Protection.PRODUCTS},
    messages.ScoreColumns: {"place": _P, "columns": Protection.TRANSFER},
    messages.PaddedContexts: {"place": _P, "words": _PAD},
    messages.ScoreWords: {"place": _P, "words": Protection.PRODUCTS},
    messages.ScoreDifferences: {"place": _P, "words": Protection.CHOSEN_PAD},
    garbled.InputLabels: {"place": _P, "labels": Protection.GARBLED},
    garbled.DecodingTable: {
        "place": _P,
        "colours": Protection.GARBLED,
        "tags": Protection.GARBLED,
    },
    garbled.ShownOutputs: {
        "place": _P,
        "colours": Protection.GARBLED,
        "tags": Protection.GARBLED,
    },
    messages.PaddedUpdate: {"place": _P, "words": _PAD},
    messages.PaddedTotal: {"place": _P, "words": _PAD},
    messages.TotalShare: {"place": _P, "words": Protection.SHARE},
}
