"""Who learns what in LinUCB-DS: what the paper says, and what was measured."""

from lotor.protocols.leakage import Finding

OWNER, CUSTOMER, PRINCIPAL, COMP, NETWORK = "owner", "customer", "principal", "comp", "network"


MEASURED: dict[str, Finding] = {
    COMP: Finding(
        sees="all scores B_i of every round, permuted; s + rand",
        paper="nothing: the scores are permuted, and theta is unknown",
        measured=(
            "all scores; **everything, when it knows the arms**: every pulled arm, every reward "
            "but the last, and so the sum up to one reward"
        ),
        evidence=(
            "With the catalogue of arms, Comp solves for the first reward, checks the sorted list, "
            "reads off the arm of the maximum and goes on: it found all arms, and rewards to 1e-7 "
            "(1e-10 with 96-bit slots), in every configuration tried. Subtracting a common number "
            "from a round's scores does not stop it, and neither does an affine mask. s + rand "
            "tells 2^-128 about s."
        ),
        tells=frozenset({"scores", "arms", "rewards"}),
    ),
    PRINCIPAL: Finding(
        sees="the arms, which one is pulled in each round, the noise; theta and scores encrypted",
        paper="the pulled arms, and nothing of theta or the rewards",
        measured=(
            "the pulled arms, hence inequalities on theta, which give its direction to a cosine "
            "above 0.9 in most runs: inherent in knowing what is pulled; where the terms say "
            "`keep`, it keeps this in sums after the run"
        ),
        evidence=(
            "Each argmax says that one score was not below the others, and P knows everything in "
            "them except theta. The middle of the thetas that remain possible had a cosine with "
            "theta above 0.9 in 37 of 45 runs, and of 0.99 at the median. Of random directions 5 % "
            "come as near in three dimensions, and 0.7 % in five."
        ),
        tells=frozenset({"arms", "direction of theta"}),
    ),
    OWNER: Finding(
        sees="the customer's terms",
        paper="not considered",
        measured="N and the policy; it knows theta already",
        evidence="It takes part in the set-up only.",
        tells=frozenset({"theta", "direction of theta"}),
    ),
    CUSTOMER: Finding(
        sees="the sum of rewards, K, d and the length of the longest arm",
        paper="the sum",
        measured="the sum, K, d and the length of the longest arm",
        evidence="The last three give the sum its unit.",
    ),
    NETWORK: Finding(
        sees="messages of constant sizes; under TLS nothing else",
        paper="N and the arms, and nothing of theta, the rewards or which arm is pulled",
        measured="N, K, d, the key sizes, the timing",
        evidence=(
            "All ciphertexts are re-randomised before they leave and carry no exponents. The "
            "published program does neither: an observer found the arm of 8 to 36 % of the rounds "
            "by the exponents, and all arms of a run by repeated ciphertexts."
        ),
    ),
}

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Comp's Paillier private key": ("theta*, the scores, s + rand", (COMP,)),
    "customer's Paillier private key": ("the sum", (CUSTOMER,)),
    "draw keys": ("first arm, ties and permutation, noise, rand", (PRINCIPAL,)),
}
