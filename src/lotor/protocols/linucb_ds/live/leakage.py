"""Who learns what in LinUCB-DS with live rewards, and what was measured."""

from lotor.protocols.leakage import Finding
from lotor.protocols.linucb_ds.paper.leakage import COMP, CUSTOMER, NETWORK, OWNER, PRINCIPAL

_SAID = "rewards from outside are not considered"

MEASURED: dict[str, Finding] = {
    COMP: Finding(
        sees="all scores B_i of every round, permuted; s + rand; never a reward's ciphertext",
        paper=_SAID,
        measured=(
            "all scores; **everything, when it knows the arms**: every pulled arm, every reward "
            "but the last, and so the sum up to one reward"
        ),
        evidence=(
            "As with theta: from the catalogue of arms, Comp solves for the first reward, checks "
            "the sorted list, reads off the arm of the maximum and goes on. It found all arms, and "
            "rewards to 1e-6 of their range."
        ),
        tells=frozenset({"scores", "arms", "rewards"}),
    ),
    PRINCIPAL: Finding(
        sees="the arms, which one is pulled each round; rewards, their sums and scores encrypted",
        paper=_SAID,
        measured=(
            "the pulled arms, hence about where the rewards point, mostly to a cosine above 0.9 "
            "where they are linear; of a single reward nothing"
        ),
        evidence=(
            "Each argmax says that one score was not below the others. P does not know the noise "
            "any more, so that its inequalities hold nearly: a theta that breaks them least had a "
            "cosine above 0.9 with the real one in 20 of 24 runs of 60 or 100 rounds, and of 0.96 "
            "at the median. Of random directions 5 % come as near in three dimensions, and 0.7 % "
            "in five."
        ),
        tells=frozenset({"arms", "direction of theta"}),
    ),
    OWNER: Finding(
        sees="the customer's terms; the arm of each round, and what it pays",
        paper=_SAID,
        measured="the pulled arms and all rewards, and so the sum: it carries the decisions out",
        evidence="It is told each arm in clear, pulls it, and encrypts its reward.",
        tells=frozenset({"arms", "rewards", "bytes"}),
    ),
    CUSTOMER: Finding(
        sees="the sum of rewards, and the range that they lie in",
        paper=_SAID,
        measured="the sum, and the range of rewards",
        evidence="It orders N and the policy, and is told neither the arms nor how many there are.",
    ),
    NETWORK: Finding(
        sees="messages of constant sizes; under TLS nothing else; when the owner answers",
        paper=_SAID,
        measured="N, K, d, the key sizes, the timing, with how long each pull takes",
        evidence=(
            "An arm travels in four bytes, a reward as one fresh ciphertext. If a pull takes "
            "longer for some arms, the time of the owner's answer tells it: `tick` hides that."
        ),
    ),
}

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Comp's Paillier private key": ("rewards, b*, the scores, s + rand", (COMP,)),
    "customer's Paillier private key": ("the sum", (CUSTOMER,)),
    "draw keys": ("first arm, ties and permutation, rand", (PRINCIPAL,)),
}
