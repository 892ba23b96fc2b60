"""Who sees what in the shared form, who holds which key, and how each message is protected.

docs/security/shared-argmax.md has the argument; `lotor audit samba` attacks recorded views, and
the tests hold them against all of this.
"""

from lotor.core.effects import Message
from lotor.protocols.garbled import messages as garbled
from lotor.protocols.leakage import Finding
from lotor.protocols.protections import Protection
from lotor.protocols.samba import messages as set_up
from lotor.protocols.samba.attack_lists import ON_CUSTOMERS, ON_OWNERS, ON_SERVERS
from lotor.protocols.samba.shared import messages

OWNER, CUSTOMER, COMP, CONTROLLER, NETWORK = "owner", "customer", "comp", "controller", "network"

ATTACKS: dict[str, tuple[str, ...]] = {
    CUSTOMER: ON_CUSTOMERS,
    CONTROLLER: (*ON_SERVERS, *ON_CUSTOMERS),
    COMP: (*ON_SERVERS, *ON_CUSTOMERS),
    OWNER: ON_OWNERS,
    "controller+comp": ("lotor.protocols.samba.shared.attacks:UncoveredScores",),
}

MEASURED: dict[str, Finding] = {
    COMP: Finding(
        sees="shares that are functions of its own keys, garbled circuits and labels",
        paper="nothing",
        measured=(
            "nothing of any score, arm, reward or total: N, K, the policy, how many arms each "
            "owner holds, the order of ties, the timing"
        ),
        evidence=(
            "Each label and table is uniform to who does not know delta. It evaluates without "
            "decoding, so that it does not even learn which position won. **Together with "
            "Controller it knows everything.**"
        ),
    ),
    CONTROLLER: Finding(
        sees="scores under one-time pads that Comp and each owner share; results under pads",
        paper="nothing",
        measured=(
            "nothing of any score, arm, reward or total: N, K, the policy, how many arms each "
            "owner holds, the order of ties; where pulls take time and owners set no `tick`, or "
            "where the run waits for a late outcome, who was late and so was pulled"
        ),
        evidence=(
            "What owners send is uniform to who has not their key with Comp, and so are Comp's "
            "answers. **Together with Comp it knows everything.**"
        ),
        tells=frozenset({"timing"}),
    ),
    OWNER: Finding(
        sees="its own data, the owners' coin, and of each of its arms whether it is selected",
        paper="nothing of other owners",
        measured=(
            "in each round whether some other arm scored higher; with two arms that gives away "
            "the other one's pulls and sums: inherent in knowing one's own pulls"
        ),
        evidence=(
            "A tap on others' links gives an owner nothing: it shares no key with other owners "
            "but the coin's. If one is lost between a round's iterations, the others see the "
            "result of the first ones with its arms and without. Any owners and the customer, with "
            "one server, learn those owners' "
            "own data and the total."
        ),
        tells=frozenset({"own pulls", "other arm"}),
    ),
    CUSTOMER: Finding(
        sees="the total R, as two shares with a tag",
        paper="R",
        measured=(
            "R, of how many outcomes, and from R/N about the best mean: inherent in the result; of "
            "an owner that was excluded, whether it was pulled just before it was lost, or how "
            "many outcomes it still owed"
        ),
        evidence=(
            "Shares of single owners never reach it: with one server it still sees only R. It "
            "notices a total that a server has changed."
        ),
    ),
    NETWORK: Finding(
        sees="messages of constant sizes; under TLS nothing else",
        paper="nothing",
        measured=(
            "N, K, the policy and the timing: where pulls take time and owners set no `tick`, or "
            "where the run waits for a late outcome, who was pulled"
        ),
        evidence="Every message has a width that is fixed for the run.",
        tells=frozenset({"timing"}),
    ),
}

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "share keys": (
        (
            "Comp's shares of scores, totals and escrowed sums, pads on results; Comp makes one "
            "for each owner, and others are derived from it when owners have left"
        ),
        (OWNER, COMP),
    ),
    "coin key": ("exploration; made by the first owner", (OWNER,)),
    "own key": ("Thompson and Gumbel samples; each owner's alone", (OWNER,)),
    "tag key": ("tags of totals; made by the customer", (OWNER, CUSTOMER)),
    "tie key": ("the order of equal scores; made by Controller", (CONTROLLER, COMP)),
    "hash key": (
        "the labels' hash; made by Controller, and need not be secret",
        (CONTROLLER, COMP),
    ),
    "garbling key": ("delta and all labels of Controller's shares", (CONTROLLER,)),
    "transfer seeds": ("pairs at Comp, of which Controller has one each", (CONTROLLER, COMP)),
    "customer's sealing key": (
        "opens the sum of Comp's shares, and what the customer is told besides",
        (CUSTOMER,),
    ),
}


_P, _S = Protection.PUBLIC, Protection.SEALED

MESSAGES: dict[type[Message], dict[str, Protection]] = {
    set_up.SambaOrder: {"terms": Protection.SIGNED, "signatures": _P},
    set_up.SambaSetup: {"terms": Protection.SIGNED, "signature": _P},
    set_up.SambaOffer: {"public": Protection.SIGNED, "signatures": _P},
    set_up.Offers: {"offers": Protection.SIGNED},
    set_up.SealedKeys: {"keys": _S},
    set_up.SambaSealedKey: {"owner": _P, "sealed": _S, "signature": _P},
    messages.SharedTieKey: {"key": Protection.BETWEEN_SERVERS},
    garbled.LabelHashKey: {"key": Protection.BETWEEN_SERVERS},
    garbled.BaseOffer: {"offer": _P},
    garbled.BaseAnswer: {"answer": Protection.TRANSFER},
    garbled.Columns: {"place": _P, "columns": Protection.TRANSFER},
    garbled.GarbledTables: {"place": _P, "tables": Protection.GARBLED},
    messages.CoveredScores: {"place": _P, "scores": Protection.PAD},
    garbled.InputLabels: {"place": _P, "labels": Protection.GARBLED},
    messages.ResultBits: {"place": _P, "bits": Protection.PAD},
    messages.ResultShares: {"place": _P, "controller": Protection.SHARE, "comp": Protection.PAD},
    messages.Escrow: {"place": _P, "share": Protection.SHARE},
    messages.OwnersLeft: {"t": _P, "exclusion": Protection.SIGNED, "escrows": _P},
    messages.FinalBits: {"sealed": _S},
    messages.FinalCodes: {"place": _P, "codes": Protection.SHARE},
    messages.SealedCounts: {"sealed": _S},
    messages.SumShare: {"share": Protection.SHARE},
    messages.SumsWanted: {},
    messages.CompSum: {"sealed": _S},
    messages.SharedTotal: {"controller": Protection.SHARE, "comp": _S},
}
