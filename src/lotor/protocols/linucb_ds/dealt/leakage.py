"""Who learns what in the dealt form, who holds which key, and how each message is protected."""

from lotor.core.effects import Message
from lotor.protocols.leakage import Finding
from lotor.protocols.linucb_ds import messages as set_up
from lotor.protocols.linucb_ds.dealt import messages
from lotor.protocols.linucb_ds.form import P_KNOWS_THE_ARMS
from lotor.protocols.linucb_ds.theta import messages as theta
from lotor.protocols.protections import Protection
from lotor.protocols.two_server import messages as sharing

CUSTOMER, OWNER, PRINCIPAL, COMP = "customer", "owner", "principal", "comp"
DEALER, NETWORK = "dealer", "network"
ROLES = (CUSTOMER, OWNER, PRINCIPAL, COMP, DEALER, NETWORK)

_THETA = "lotor.protocols.linucb_ds.theta.attacks:ThetaFromShares"
_SCORES = "lotor.protocols.linucb_ds.dealt.attacks:ScoresFromDealtShares"
_ARMS = "lotor.protocols.linucb_ds.dealt.attacks:ArmsFromDealtRows"

ATTACKS: dict[str, tuple[str, ...]] = {
    COMP: (_SCORES, _ARMS, _THETA),
    PRINCIPAL: (P_KNOWS_THE_ARMS, _THETA),
    DEALER: (_THETA,),
    "principal+comp": (_THETA,),
    "principal+dealer": (_THETA,),
    "comp+dealer": (_ARMS,),
}

MEASURED: dict[str, Finding] = {
    COMP: Finding(
        sees="one share of theta, P's rows under pads, values opened under masks, K and d",
        paper="nothing: the scores are permuted, and theta is unknown",
        measured=(
            "nothing of theta, any score, arm, reward or the total, also when it knows the arms: "
            "uniformly random words; N, K, d, the policy, the timing"
        ),
        evidence=(
            "What the paper's Comp decrypts stays shared here. P's rows carry pads that P and the "
            "dealer know, its share of the scores one of the dealer's, and all that is opened a "
            "mask of both servers' (a test looks at its bytes). It sends its share of the result "
            "to P and never learns which position won."
        ),
    ),
    PRINCIPAL: Finding(
        sees="the arms, which one is pulled in each round, the noise; one share of theta, uniform",
        paper="the pulled arms, and nothing of theta or the rewards",
        measured=(
            "the pulled arms, hence inequalities on theta, which give its direction to a cosine "
            "above 0.9 in most runs: inherent in knowing what is pulled, as in the paper's form; "
            "where the terms say `keep`, it keeps this in sums after the run"
        ),
        evidence=(
            "Comp's shares and all that is opened are uniform to it, one winning position a round "
            "apart. The paper's form has the measurement: 37 of 45 runs."
        ),
        tells=frozenset({"arms", "direction of theta"}),
    ),
    DEALER: Finding(
        sees="the terms, K and d, one share of theta, requests for the next rounds' randomness",
        paper="not considered: it has no dealer",
        measured=(
            "when every few rounds begin, and nothing else; **together with P or Comp it knows "
            "everything**"
        ),
        evidence=(
            "It is sent numbers of rounds. Its share of theta is uniform by itself. The shares of "
            "the total carry a mask of P's and Comp's, so that the dealer and the customer "
            "together learn no more than the customer."
        ),
    ),
    OWNER: Finding(
        sees="the customer's terms",
        paper="not considered",
        measured="N and the policy; it knows theta already",
        evidence="It takes part in the set-up only. With Comp or the dealer, it learns no arm.",
        tells=frozenset({"theta", "direction of theta"}),
    ),
    CUSTOMER: Finding(
        sees="two shares of the sum of rewards, K, d and the length of the longest arm",
        paper="the sum",
        measured="the sum, K, d and the length of the longest arm",
        evidence=(
            "The last three give the sum its unit. Nothing shows the customer that P or Comp "
            "changed its share a little: both are trusted to compute as they should."
        ),
    ),
    NETWORK: Finding(
        sees="messages of constant sizes; under TLS nothing else",
        paper="N and the arms, and nothing of theta, the rewards or which arm is pulled",
        measured="N, K, d, the timing",
        evidence=(
            "Every message has a width that is fixed for the run. The arms, pad and blind keys and "
            "all shares are protected by TLS alone; the key of theta's share is sealed besides."
        ),
    ),
}

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "share key of theta": ("one share of theta; made by the owner", (OWNER, COMP, DEALER)),
    "pad keys": (
        "masks and pads, and one server's shares of what is dealt",
        (PRINCIPAL, COMP, DEALER),
    ),
    "blind key": ("what both servers put on the shares of the total", (PRINCIPAL, COMP)),
    "draw keys": ("first arm, ties and permutation, noise", (PRINCIPAL,)),
}

_P = Protection
_KEY = {"digest": _P.PUBLIC, "key": _P.KEY}
_SHARES = {"place": _P.PUBLIC, "shares": _P.SHARE}

MESSAGES: dict[type[Message], dict[str, Protection]] = {
    set_up.LinUCBOrder: {"terms": _P.SIGNED, "signatures": _P.PUBLIC},
    set_up.LinUCBSetup: {"terms": _P.SIGNED, "signature": _P.PUBLIC},
    theta.HolderKey: {"holder": _P.PUBLIC, "public": _P.SIGNED, "signature": _P.PUBLIC},
    theta.ModelShare: {
        "k": _P.PUBLIC,
        "d": _P.PUBLIC,
        "vectors": _P.P_ONLY,
        "eigenvalues": _P.P_ONLY,
        "noise_sd": _P.P_ONLY,
        "theta": _P.SHARE,
        "total": _P.SHARE,
        "keys": _P.SEALED,
    },
    theta.ShareKey: {
        "holder": _P.PUBLIC,
        "k": _P.PUBLIC,
        "d": _P.PUBLIC,
        "sealed": _P.SEALED,
        "signature": _P.PUBLIC,
    },
    sharing.Agreed: {"digest": _P.PUBLIC},
    sharing.PadKey: _KEY,
    sharing.BlindKey: _KEY,
    sharing.More: {"place": _P.PUBLIC},
    sharing.Corrections: _SHARES,
    sharing.Opened: _SHARES,
    messages.DealtChoice: _SHARES,
    messages.DealtUnit: {"longest": _P.PUBLIC, "k": _P.PUBLIC, "d": _P.PUBLIC},
    messages.DealtRewards: _SHARES,
}
