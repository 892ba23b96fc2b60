"""Who may see what, who holds which key, and what was measured: SAMBA's leakage as data.

`FIGURE_7` is the paper's claim. `MEASURED` is what each role's exact view really gave away when it
was attacked; where the two differ, believe the measurement. `MESSAGES` says how each field of each
message is protected; the tests hold recorded views against all of it.
"""

from enum import StrEnum

from lotor.core.effects import Message
from lotor.protocols.leakage import Finding
from lotor.protocols.protections import Protection
from lotor.protocols.samba import messages as set_up
from lotor.protocols.samba.attack_lists import ON_OWNERS, ON_SERVERS
from lotor.protocols.samba.paper import messages

OWNER, CUSTOMER, COMP, CONTROLLER, NETWORK = "owner", "customer", "comp", "controller", "network"
ROLES = (OWNER, CUSTOMER, COMP, CONTROLLER, NETWORK)


class Sight(StrEnum):
    """In what form a role meets a piece of data."""

    CLEAR = "in clear"
    WHEN_PULLED = "in clear, when its own arm is pulled"
    MASKED = "masked"
    PERMUTED = "permuted"
    AES_GCM = "under AES-GCM"
    PAILLIER = "under Paillier"
    NOTHING = "not at all"


_C, _W, _M, _P, _A, _E, _N = Sight

FIGURE_7: dict[str, dict[str, Sight]] = {
    datum: dict(zip(ROLES, sights, strict=True))
    for datum, sights in {
        "cumulative reward": (_N, _C, _N, _E, _E),
        "sum and pulls of an owner's arm": (_C, _N, _M, _E, _E),
        "sum and pulls of another owner's arm": (_N, _N, _M, _E, _E),
        "arm pulled in a round": (_W, _N, _P, _A, _A),
        "reward of a round": (_W, _N, _N, _N, _N),
    }.items()
}


_ON_PAPER = "lotor.protocols.samba.paper.attacks:"
ATTACKS: dict[str, tuple[str, ...]] = {
    COMP: tuple(
        _ON_PAPER + name
        for name in (
            "PaperTrackRewards",
            "PaperTrackCounts",
            "PaperNameArms",
            "PaperExploringRounds",
            "PaperListGcd",
            "PaperListProfile",
        )
    ),
    CONTROLLER: ON_SERVERS,
    OWNER: ON_OWNERS,
    "controller+comp": (_ON_PAPER + "Unpermuted",),
    "controller+customer": (_ON_PAPER + "OpenedSums",),
    "controller+owner": (_ON_PAPER + "OpenedScores",),
}

COALITIONS = (
    (CONTROLLER, COMP),
    (CONTROLLER, CUSTOMER),
    (CONTROLLER, OWNER),
    (COMP, OWNER),
)

TRACKED = {
    "UCB": "100 % of rewards and 100 % of counts",
    "Pursuit": "99 % of rewards and 99 % of counts",
    "epsilon-greedy": "98 % of rewards and 95 % of counts",
    "decreasing epsilon-greedy": "96 % of rewards and 93 % of counts",
}
TRACKED_RUNS = "five runs of 300 rounds with the ten best movielens-like arms, seeds 7 to 11"
"""What the tracker found; tests/audit/test_samba_figures.py finds it again."""

EXACT_ONLY = frozenset({"rewards", "counts", "names", "exploring rounds"})
"""What Comp finds out from scores without noise."""

MEASURED: dict[str, Finding] = {
    COMP: Finding(
        sees="the terms, and in each iteration the permuted list of masked scores",
        paper="nothing: masks and permutations change in each iteration",
        measured=(
            "everything but the owners' names: counts, sums and rewards of all arms, since "
            "ratios of scores survive the mask"
        ),
        evidence=(
            "The audit's tracker of the possible states recovered "
            + "; ".join(f"with {policy} {found}" for policy, found in TRACKED.items())
            + f" ({TRACKED_RUNS}). Where owners add noise of their own to all scores (Softmax, "
            "Thompson) it is at chance, and Comp learns only how far the means lie apart. "
            "Exploring rounds of epsilon-greedy can all be told apart. With public guesses of the "
            "means, names follow."
        ),
        tells=EXACT_ONLY | {"means"},
    ),
    CONTROLLER: Finding(
        sees="one ciphertext for each arm and direction, the permutations, Paillier ciphertexts",
        paper="nothing",
        measured=(
            "no value: all messages of a kind have one length, exploring rounds included; but "
            "where pulls take time, or the run waits for a late outcome, the owner that is late is "
            "the one that was pulled"
        ),
        evidence=(
            "A test records its view: no clear value, one length a kind. `lotor audit --daemons` "
            "times the answers of owners."
        ),
        tells=frozenset({"timing"}),
    ),
    OWNER: Finding(
        sees="its own data, the masks and the coin, its own bits, the AES key shared with Comp",
        paper="nothing of other owners",
        measured=(
            "in each round whether some other arm scored higher; with two arms that gives away "
            "the other one's pulls and sums"
        ),
        evidence=(
            "A test recovers the other of two arms from one owner's own data and bits. Besides, "
            "the AES key opens all owners' ciphertexts, and the mask is known to all owners: an "
            "owner that can tap the links between others and Controller, or Controller and Comp, "
            "reads their scores and bits. The links need a protection of their own (TLS)."
        ),
        tells=frozenset({"own pulls", "other arm"}),
    ),
    CUSTOMER: Finding(
        sees="the total R",
        paper="R",
        measured="R, of how many outcomes, and from R/N about the best mean",
        evidence=(
            "Inherent in the result. Partial sums travel under the customer's own key: with a "
            "tap on the owners' links, or together with Controller, it reads each arm's sum and "
            "pulls."
        ),
    ),
    NETWORK: Finding(
        sees="what Controller sees, less the permutations (selection by position shows them, too)",
        paper="nothing",
        measured=(
            "N, K, the policy and the timing: where pulls take time and owners set no `tick`, or "
            "where the run waits for a late outcome, who was pulled"
        ),
        evidence="A test records all messages: no clear value, one length a kind.",
        tells=frozenset({"timing"}),
    ),
}

POSITION_SELECTION = (
    "By position: each owner learns the position of the selected arm under the permutation of the "
    "round, and the network reads the permutation off the owners' positions. A position alone "
    "names nobody: it is drawn afresh in each iteration, and the winning one is under AES-GCM. "
    "Whoever has the AES key (an owner, Comp) and taps the network learns the selected arm, as it "
    "would with bits."
)

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "AES key": ("scores and bits; made by Comp, sealed to each owner", (OWNER, COMP)),
    "mask key": ("alpha of each iteration; made by the first owner", (OWNER,)),
    "coin key": ("exploration; made by the first owner", (OWNER,)),
    "own key": ("ties, Thompson and Gumbel samples; each owner's alone", (OWNER,)),
    "permutation key": ("sigma of each iteration", (CONTROLLER,)),
    "Paillier private key": ("the total", (CUSTOMER,)),
}


_SEALED_CORE = {"place": Protection.PUBLIC, "sealed": Protection.AES_GCM}

MESSAGES: dict[type[Message], dict[str, Protection]] = {
    set_up.SambaOrder: {"terms": Protection.SIGNED, "signatures": Protection.PUBLIC},
    set_up.SambaSetup: {"terms": Protection.SIGNED, "signature": Protection.PUBLIC},
    set_up.SambaOffer: {"public": Protection.SIGNED, "signatures": Protection.PUBLIC},
    set_up.Offers: {"offers": Protection.SIGNED},
    set_up.SealedKeys: {"keys": Protection.SEALED},
    set_up.SambaSealedKey: {
        "owner": Protection.PUBLIC,
        "sealed": Protection.SEALED,
        "signature": Protection.PUBLIC,
    },
    messages.MaskedScores: _SEALED_CORE,
    messages.PermutedScores: _SEALED_CORE,
    messages.PermutedBits: _SEALED_CORE,
    messages.PullingBits: _SEALED_CORE,
    messages.WinningPosition: _SEALED_CORE,
    # POSITION_SELECTION says what follows.
    messages.Positions: {**_SEALED_CORE, "positions": Protection.PUBLIC},
    messages.PartialSums: {"sums": Protection.PAILLIER},
    messages.SambaTotal: {"total": Protection.PAILLIER},
}
