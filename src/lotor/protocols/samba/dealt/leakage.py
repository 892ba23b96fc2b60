"""Who learns what in the dealt form, who holds which key, and how each message is protected."""

from lotor.core.effects import Message
from lotor.protocols.leakage import Finding
from lotor.protocols.protections import Protection
from lotor.protocols.samba import messages as set_up
from lotor.protocols.samba.attack_lists import ON_CUSTOMERS, ON_OWNERS, ON_SERVERS
from lotor.protocols.samba.dealt import messages
from lotor.protocols.two_server import messages as sharing

CUSTOMER, CONTROLLER, COMP = "customer", "controller", "comp"
DEALER, OWNER, NETWORK = "dealer", "owner", "network"
ROLES = (CUSTOMER, CONTROLLER, COMP, DEALER, OWNER, NETWORK)

_SERVER_EVIDENCE = (
    "All that is opened carries a fresh mask of both servers' pads: its view is uniform, whatever "
    "the scores are (a test looks at its bytes). The owner that pulled is late, where "
    "pulls take time and owners set no `tick`, or where the run waits for a late outcome. **Any "
    "two of controller, comp and the dealer together know everything.**"
)

ATTACKS: dict[str, tuple[str, ...]] = {
    CUSTOMER: ON_CUSTOMERS,
    CONTROLLER: (*ON_SERVERS, *ON_CUSTOMERS),
    COMP: (*ON_SERVERS, *ON_CUSTOMERS),
    OWNER: ON_OWNERS,
    "controller+comp": ("lotor.protocols.samba.dealt.attacks:JoinedShares",),
    # Nobody has written down yet how the dealer's pads open what the servers exchange.
    "controller+dealer": (),
    "comp+dealer": (),
}

MEASURED: dict[str, Finding] = {
    CUSTOMER: Finding(
        sees="the total R, as two sums of shares",
        paper="R",
        measured=(
            "R, of how many outcomes, and from R/N about the best mean; no arm's sum, also "
            "together with one server"
        ),
        evidence=(
            "Inherent in the result. Each server sends one sum over all owners, and its shares of "
            "single owners are uniform. A sum that a server changed is refused (a test changes it)."
        ),
    ),
    CONTROLLER: Finding(
        sees="shares, values opened under masks that it does not know, the order of ties",
        paper="nothing",
        measured="uniformly random words; N, K, the policy, the arms of each owner, the timing",
        evidence=_SERVER_EVIDENCE,
        tells=frozenset({"timing"}),
    ),
    COMP: Finding(
        sees="shares, values opened under masks that it does not know, the order of ties",
        paper="nothing: masks and permutations change in each iteration",
        measured="uniformly random words; N, K, the policy, the arms of each owner, the timing",
        evidence=_SERVER_EVIDENCE,
        tells=frozenset({"timing"}),
    ),
    DEALER: Finding(
        sees="the terms, and requests for the next iterations' randomness",
        paper="not considered: it has no dealer",
        measured=(
            "when every few iterations begin, and nothing else; **together with either server it "
            "knows everything**"
        ),
        evidence=(
            "It is sent turn numbers. The bits that owners are sent carry a mask of both servers', "
            "so that the dealer and an owner together learn no more than the owner."
        ),
    ),
    OWNER: Finding(
        sees="its own data, the coin, its own bits as two shares, the key of the total's tag",
        paper="nothing of other owners",
        measured=(
            "in each round whether some other arm scored higher; with two arms that gives away the "
            "other one's pulls and sums"
        ),
        evidence=(
            "Inherent in knowing one's own bits. It has no key of another owner's scores. It knows "
            "the tag key: **together with a server it can forge the total.**"
        ),
        tells=frozenset({"own pulls", "other arm", "bytes"}),
    ),
    NETWORK: Finding(
        sees="messages of constant sizes; under TLS nothing else",
        paper="nothing",
        measured=(
            "N, K, the policy and the timing: where pulls take time and owners set no `tick`, or "
            "where the run waits for a late outcome, who was pulled"
        ),
        evidence=(
            "Every message has a width that is fixed for the run. Input, pad, blind and tie keys "
            "and all shares are protected by TLS alone: who reads the links of both servers knows "
            "everything."
        ),
        tells=frozenset({"timing"}),
    ),
}

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "pad keys": ("masks, and one server's shares of what is dealt", (CONTROLLER, COMP, DEALER)),
    "input keys": ("Controller's shares of scores and totals, one an owner", (CONTROLLER, OWNER)),
    "blind key": ("what both servers put on the bits that owners are sent", (CONTROLLER, COMP)),
    "tie key": ("ties; made by Controller", (CONTROLLER, COMP)),
    "coin key": ("exploration; made by the first owner", (OWNER,)),
    "own key": ("Thompson and Gumbel samples; each owner's alone", (OWNER,)),
    "tag key": ("the tag of the total; made by the customer", (CUSTOMER, OWNER)),
}


_P = Protection
_KEY = {"digest": _P.PUBLIC, "key": _P.KEY}
_SHARES = {"place": _P.PUBLIC, "shares": _P.SHARE}

MESSAGES: dict[type[Message], dict[str, Protection]] = {
    set_up.SambaOrder: {"terms": _P.SIGNED, "signatures": _P.PUBLIC},
    set_up.SambaSetup: {"terms": _P.SIGNED, "signature": _P.PUBLIC},
    set_up.SambaOffer: {"public": _P.SIGNED, "signatures": _P.PUBLIC},
    set_up.Offers: {"offers": _P.SIGNED},
    set_up.SealedKeys: {"keys": _P.SEALED},
    set_up.SambaSealedKey: {"owner": _P.PUBLIC, "sealed": _P.SEALED, "signature": _P.PUBLIC},
    sharing.Agreed: {"digest": _P.PUBLIC},
    sharing.PadKey: _KEY,
    sharing.BlindKey: _KEY,
    sharing.InputKey: _KEY,
    messages.DealtTieKey: _KEY,
    sharing.More: {"place": _P.PUBLIC},
    sharing.Corrections: _SHARES,
    sharing.Opened: _SHARES,
    messages.DealtScores: _SHARES,
    messages.DealtBits: _SHARES,
    messages.DealtCounts: _SHARES,
    messages.DealtPartialTotal: _SHARES,
    messages.DealtTotal: _SHARES,
}
