"""What each table and key of party.toml means, for the comments in a new one.

docs/party.md begins with the same words, and goes on where there is more to say; a test holds one
against the other.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from lotor.runtime.daemon.config import Value
from lotor.runtime.daemon.initial.place import ACT, FEATURES, MODEL, PULL


class KeyMeaning(NamedTuple):
    """What a key is for, and what it may look like where it has no default."""

    text: str
    example: Value | None = None


TABLE_MEANINGS: Final[Mapping[str, str]] = {
    "peers": (
        "Each key is the name in the other party's certificate, each value its "
        '"host:port". Of two parties that talk to each other, one dials and the other listens.'
    ),
    "limits": "the table of times and sizes, all with defaults",
    "owner": "What this party brings to its runs.",
    "consent": (
        "A run that breaks none of these rules starts by itself. Any other waits until somebody at "
        "this party says lotor runs approve."
    ),
    "members": "Each key is a role, each value the list of the names that have it.",
    "code": "the table of policies and protocols of your own",
    "local": (
        "Where the programs of this machine reach the party while it is served: its runs and the "
        "operator's decisions for whoever has the token, /healthz and /metrics for all"
    ),
    "trial": "the table for trials",
}


def sentence(text: str) -> str:
    """A meaning, as it stands alone."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


KEY_MEANINGS: Final[Mapping[str, Mapping[str, KeyMeaning]]] = {
    "": {
        "state": KeyMeaning(
            "the folder of the party's journal and of what it keeps beside it, seen from the kit"
        ),
        "listen": KeyMeaning(
            'where others dial in: "host:port", "[IPv6 address]:port"; a port alone ("7400") '
            "listens on 127.0.0.1 only",
            "0.0.0.0:7400",
        ),
    },
    "limits": {
        "wait": KeyMeaning(
            "how long lotor start looks for the members of a run, and when a warning is logged "
            "that a party is missing in a run"
        ),
        "keep_alive": KeyMeaning(
            "how often a silent connection is tested, and how long the answer may take"
        ),
        "handshake": KeyMeaning("how long a new connection may take to say who it is"),
        "max_frame": KeyMeaning("the longest message in bytes, at least 131072"),
        "workers": KeyMeaning(
            "how many processes this party computes with, where its part of a protocol can use "
            "several"
        ),
    },
    "owner": {
        PULL: KeyMeaning(
            '"package.module:function", called with a lotor.Decision, returns the reward; the '
            "kit's own folder is searched first",
            "hospital:pull",
        ),
        "inbox": KeyMeaning(
            "in the place of pull and act: decisions appear in this party's inbox, people or "
            "programs carry them out, and tell their outcomes when they are known"
        ),
        ACT: KeyMeaning(
            '"package.module:function", found and called like pull: it carries out decision.arm '
            "for decision.id",
            "treatments:act",
        ),
        FEATURES: KeyMeaning(
            '"package.module:function", found and called like pull, with a hidden arm: it returns '
            "this party's features of the context of decision.round or decision.id, a list of "
            "finite numbers that is no longer than 1 as a vector",
            "clinic:features",
        ),
        "dimensions": KeyMeaning(
            "how many numbers features returns: public; both are there or none", 12
        ),
        MODEL: KeyMeaning(
            '"package.module:name", a lotor.LinearArms or lotor.GraphArms, or a function without '
            "arguments that returns one",
            "survey:model",
        ),
        "arms": KeyMeaning("how many arms this party has", 2),
        "reward_range": KeyMeaning(
            "the lowest and the highest reward: public, and the same for all owners"
        ),
        "repeatable": KeyMeaning(
            "whether the functions may be asked again with the same decision.id and then give the "
            "same answer (an act is then done once only)"
        ),
        "check": KeyMeaning(
            '"package.module:function", found like pull and called without arguments by lotor '
            "doctor, never by a run: it returns nothing if the data behind the functions is there "
            "and can be read, and else raises an error",
            "hospital:check",
        ),
        "tick": KeyMeaning(
            "above 0: all that follows from a question leaves together, so many seconds after the "
            "message that led to it came, whether there was anything to do or not, so that "
            "whoever watches the network cannot tell"
        ),
    },
    "consent": {
        "customers": KeyMeaning(
            "names in the certificates of those who start runs, customers or receivers; "
            '["*"] for any'
        ),
        "policies": KeyMeaning(
            '"ucb" allows the policy with all parameters, "softmax:tau=0.02" only with these; '
            '["*"] for any'
        ),
        "least_owners": KeyMeaning(
            "the owners that a run must at least have, where the protocol has several"
        ),
        "least_budget": KeyMeaning("the pulls that a run must at least have"),
        "total_budget": KeyMeaning("the pulls of all runs together, of all customers"),
        "privacy_budget": KeyMeaning(
            "how much the arms of all runs together may tell at most, from 0, where the protocol "
            "accounts it",
            1.0,
        ),
        "largest_delta": KeyMeaning(
            "the probability, at most 0.01, with which the arms of a run may tell more than its "
            "account says"
        ),
        "forms": KeyMeaning(
            'the forms in which runs may start unasked, such as ["shared"]; ["*"] for any. Left '
            "out: the forms of the run's protocol on which no attack was measured to succeed, or "
            "all of them if it has no such form",
            ("shared",),
        ),
        "reveal": KeyMeaning(
            "what runs may tell whoever orders them beyond the result and still start unasked, "
            'such as ["best"]; ["*"] for anything. Left out: such runs wait'
        ),
        "keep": KeyMeaning(
            "whether runs may start unasked after which this party keeps something, for a run that "
            "continues them"
        ),
        "code": KeyMeaning(
            "distributions other than Lotor whose protocols and policies may run unasked"
        ),
    },
    "local": {
        "port": KeyMeaning("the port at 127.0.0.1; 0 takes a free one, which the log names", 7411),
        "ipv6": KeyMeaning("whether it listens at ::1, too, at the same port"),
    },
    "code": {
        "policies": KeyMeaning('policies of your own, each as "package.module:Class"'),
        "protocols": KeyMeaning("protocols of your own, the same way"),
    },
    "trial": {
        "seed": KeyMeaning(
            "what decides arms is drawn from this number instead of the operating system"
        ),
    },
}
