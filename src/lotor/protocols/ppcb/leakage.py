"""Who learns what in PPCB: what the paper says, and what was measured."""

from lotor.protocols.leakage import Finding

OWNER, ACTOR, RECEIVER = "owner", "actor", "receiver"
SERVER, DEALER, NETWORK = "server", "dealer", "network"


MEASURED: dict[str, Finding] = {
    ACTOR: Finding(
        sees="the pulled arm of each step, as two shares of a one-hot vector",
        paper="the arms, which are log(A/epsilon)-differentially private",
        measured=(
            "the arms: log(A/epsilon - A + 1) for one step, and **far more over a run**, since "
            "every later arm depends on all earlier contexts, also those of the runs that it "
            "continues; the account is in each result"
        ),
        evidence=(
            "A = 10, epsilon = 0.1: 4.51 for a step and 245,484 over 60,000 steps (delta 1e-6). "
            "On made-up data (A = 10, 20 features, 1,200 steps) the likelihood of all arms told "
            "which of two contexts one of the first 16 steps had in 37 of 48 cases, told nothing "
            "in 10 and misled in one; its logarithm differed by up to 129. On data whose arms are "
            "classes the arm is a good guess of the class."
        ),
        tells=frozenset({"arms", "membership"}),
    ),
    RECEIVER: Finding(
        sees="the reward of each step",
        paper="the rewards, with the guarantee of the arms",
        measured="the rewards: no guarantee covers them, whatever epsilon is",
        evidence=(
            "A reward is a function of context and arm that nobody adds noise to. Where a right "
            "guess pays, it tells whether the learner was right."
        ),
        tells=frozenset({"rewards"}),
    ),
    OWNER: Finding(
        sees="that a step has begun",
        paper="nothing of the others' features, the arm or the reward",
        measured=(
            "when steps begin; without a `tick` at p' and p'' their timing, which may tell the arm"
        ),
        evidence="It is sent nothing but leave to share the next context.",
    ),
    SERVER: Finding(
        sees="shares, and values opened under masks that it does not know",
        paper="nothing",
        measured=(
            "uniformly random words; T, A, the number of features of each party, the timing; where "
            "the terms say `keep`, its share of the model stays with it: random words, too"
        ),
        evidence=(
            "All that is opened carries a fresh mask, except one bit a step: whether the whole "
            "context is longer than 1, which ends the run. Its view has the same distribution for "
            "any two inputs (a test compares them). **Both servers together know everything**, and "
            "both kept shares are the model. A run that goes on from it begins with fresh shares, "
            "so that shares of two runs do not fit each other."
        ),
    ),
    DEALER: Finding(
        sees="requests for the next steps' randomness",
        paper="not considered: samples for exploration are in a store that somebody made",
        measured=(
            "when every few steps begin, and nothing else; **together with either server it "
            "knows everything**"
        ),
        evidence=(
            "Exploration is not its draw: each server contributes a coin and a turn, and only "
            "both together count. It is sent step numbers, and no party tells it anything more. "
            "What p' is sent carries a mask of both servers', so that p' and the dealer together "
            "learn no more than p'."
        ),
    ),
    NETWORK: Finding(
        sees="messages of constant sizes; under TLS nothing else",
        paper="not considered",
        measured="T, A, the number of features, the timing",
        evidence="Every message has a width that is fixed for the run.",
    ),
}

KEPT = (
    "with keep each server keeps its share of the model after the run; whoever gets at both, at "
    "any later time, reads the model"
)
PREDICTED = (
    "with predict nobody is asked for rewards; the arms still tell the actor about the contexts "
    "that the model was learnt from, and with epsilon 0 nothing bounds how much"
)

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "pad keys": ("masks, and one server's shares of what is dealt", (SERVER, DEALER)),
    "input keys": ("the first server's shares of features and rewards", (SERVER, OWNER, RECEIVER)),
    "draw keys": ("each server's part of coins, turns and ranks", (SERVER,)),
    "blind key": (
        "what both servers put on the shares that p' is sent, and on shares of a kept model",
        (SERVER,),
    ),
}
