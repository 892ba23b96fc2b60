"""Who sees what in the shared form, and who holds which key.

docs/security/private-linear.md has the argument; `lotor audit linucb-ds` attacks recorded views.
"""

from lotor.protocols.leakage import Finding

OWNER, CUSTOMER, PRINCIPAL, COMP, NETWORK = "owner", "customer", "principal", "comp", "network"

MEASURED: dict[str, Finding] = {
    COMP: Finding(
        sees=(
            "a share of theta that is uniform; rows under one-time pads, in an order that P draws "
            "anew each round; the bits of P's shares under cover"
        ),
        paper="nothing",
        measured=(
            "nothing of theta, any score, arm, reward or the sum, also if it knows the arms: N, K, "
            "d, the policy, the timing"
        ),
        evidence=(
            "All that it receives is uniform, or as good: BFV messages are fresh encryptions "
            "flooded with noise, whose distance from uniform the plan prints (below 2^-35 for a "
            "whole run, or the run is refused). It garbles and never evaluates. **Together with P "
            "it knows theta and everything else.**"
        ),
    ),
    PRINCIPAL: Finding(
        sees=(
            "the arms, which one is pulled in each round, the noise; a share of theta that is "
            "uniform, BFV ciphertexts, garbled circuits and labels"
        ),
        paper="the pulled arms, and nothing of theta or the rewards",
        measured=(
            "the pulled arms, hence inequalities on theta, which give its direction to a cosine "
            "above 0.9 in most runs: inherent in knowing what is pulled; where the terms say "
            "`keep`, it keeps this in sums after the run"
        ),
        evidence=(
            "It decodes one place of each circuit, that of the largest score, and nothing else. "
            "Each argmax says that one score was not below the others, and P knows everything in "
            "them except theta. All that repeats in what it is sent are the headers of Comp's "
            "encrypted share, which name their key. **Together with Comp it knows theta.**"
        ),
        tells=frozenset({"arms", "direction of theta", "repeats"}),
    ),
    OWNER: Finding(
        sees="the customer's terms, Comp's key",
        paper="not considered",
        measured="N and the policy; it knows theta already",
        evidence="It takes part in the set-up only.",
        tells=frozenset({"theta", "direction of theta"}),
    ),
    CUSTOMER: Finding(
        sees="the sum of rewards as two shares, K, d and the length of the longest arm",
        paper="the sum",
        measured="the sum, K, d and the length of the longest arm",
        evidence="Given the sum, one share is uniform. The last three give the sum its unit.",
    ),
    NETWORK: Finding(
        sees="messages of constant sizes; under TLS nothing else",
        paper="N and the arms, and nothing of theta, the rewards or which arm is pulled",
        measured="N, K, d and the timing",
        evidence="Every message has a width that is fixed for the run, up to BFV's compression of "
        "Comp's encrypted share, which is sent once.",
    ),
}

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "share key": ("Comp's shares of theta, for scores and for the total", (OWNER, COMP)),
    "product key": ("BFV: decrypts U·b + V, and encrypts Comp's share of theta", (COMP,)),
    "pad key": ("U and V of every batch of products", (PRINCIPAL,)),
    "garbling key": ("delta, and all labels", (COMP,)),
    "transfer seeds": ("pairs at P, of which Comp has one each", (PRINCIPAL, COMP)),
    "hash key": ("the labels' hash; need not be secret", (PRINCIPAL, COMP)),
    "draw keys": ("first arm, ties and order, noise", (PRINCIPAL,)),
    "customer's sealing key": ("opens Comp's share of the sum", (CUSTOMER,)),
}
