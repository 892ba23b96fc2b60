"""Who sees what without a dealer, who holds which key, and how each message is protected.

docs/security/private-features.md has the argument; `lotor audit ppcb` attacks recorded views.
"""

from dataclasses import replace

from lotor.core.effects import Message
from lotor.protocols.dealerless import messages as dealerless
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.leakage import Finding
from lotor.protocols.ppcb import leakage as dealt
from lotor.protocols.ppcb import messages
from lotor.protocols.ppcb.leakage import ACTOR, NETWORK, OWNER, RECEIVER, SERVER
from lotor.protocols.protections import Protection
from lotor.protocols.two_server import messages as two_server

_ATTACKS = "lotor.protocols.ppcb.attacks"
_MEMBERSHIP = "lotor.protocols.ppcb.membership_attacks"
_ARMS, _CONTEXTS, _REWARDS = (
    f"{_ATTACKS}:{what}FromShares" for what in ("Arms", "Contexts", "Rewards")
)

ATTACKS: dict[str, tuple[str, ...]] = {
    ACTOR: (_ARMS, f"{_MEMBERSHIP}:ContextsFromArms", _CONTEXTS, _REWARDS),
    RECEIVER: (f"{_ATTACKS}:RewardsPulled", _ARMS),
    SERVER: (_ARMS, _CONTEXTS, _REWARDS),
    # What p', p'' and an owner know by themselves is no finding.
    f"{SERVER}+{ACTOR}": (_CONTEXTS, _REWARDS),
    f"{SERVER}+{RECEIVER}": (_ARMS, _CONTEXTS),
    f"{SERVER}+{OWNER}": (_ARMS, _CONTEXTS, _REWARDS),
    f"{SERVER}+{SERVER}": (_ARMS, _CONTEXTS, _REWARDS),
}

MEASURED: dict[str, Finding] = {
    ACTOR: replace(
        dealt.MEASURED[ACTOR],
        sees="the pulled arm of each step: how outputs are decoded, and which labels were found",
    ),
    RECEIVER: dealt.MEASURED[RECEIVER],
    OWNER: dealt.MEASURED[OWNER],
    SERVER: Finding(
        sees=(
            "shares, columns and words of oblivious transfers, garbled circuits and labels, and "
            "values opened under masks that it does not know"
        ),
        paper="nothing",
        measured=(
            "uniformly random words; T, A, the number of features of each party, the timing; where "
            "the terms say `keep`, its share of the model stays with it: random words, too"
        ),
        evidence=(
            "All that is opened carries a fresh mask of both servers, except one bit: whether the "
            "whole context is longer than 1, which ends the run. Together with p' it learns the "
            "arms, and with p'' the rewards, and nothing else. **Both servers together know "
            "everything**, and both kept shares are the model."
        ),
    ),
    NETWORK: dealt.MEASURED[NETWORK],
}

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "own key": ("one server's masks, labels, delta, and what it chooses in transfers", (SERVER,)),
    "input keys": ("the first server's shares of features and rewards", (SERVER, OWNER, RECEIVER)),
    "draw keys": ("each server's part of coins, turns and ranks", (SERVER,)),
    "transfer seeds": ("pairs at one server, of which the other has one each, twice", (SERVER,)),
    "hash key": ("the hash of labels and masks; need not be secret", (SERVER,)),
    "blind key": ("what both servers put on shares of a kept model", (SERVER,)),
}

_P = Protection.PUBLIC

MESSAGES: dict[type[Message], dict[str, Protection]] = {
    two_server.Agreed: {"digest": _P},
    two_server.InputKey: {"digest": _P, "key": Protection.KEY},
    dealerless.CommonKeys: {"digest": _P, "hash_key": _P, "blind_key": Protection.KEY},
    garbled.BaseOffer: {"offer": _P},
    garbled.BaseAnswer: {"answer": Protection.TRANSFER},
    dealerless.Choices: {"place": _P, "columns": Protection.TRANSFER},
    dealerless.OfferedWords: {"place": _P, "words": Protection.PRODUCTS},
    dealerless.PreparedTables: {"place": _P, "tables": Protection.GARBLED},
    messages.Features: {"place": _P, "shares": Protection.SHARE},
    messages.Next: {"place": _P},
    two_server.Opened: {"place": _P, "shares": Protection.MASKED},
    dealerless.Differences: {"place": _P, "words": Protection.CHOSEN_PAD},
    dealerless.Labels: {"place": _P, "labels": Protection.GARBLED, "colours": Protection.GARBLED},
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
    messages.Acted: {"place": _P},
    messages.Due: {"place": _P},
    messages.Reward: {"place": _P, "shares": Protection.SHARE},
    messages.AllPulled: {"place": _P},
}
