"""Faults in the local interface: who may ask, and what everybody may know."""

from mutants.fault import Fault

AREA = "the local interface"

FAULTS = [
    Fault(
        "any token will do",
        AREA,
        'if not (fits and scheme.lower() == b"bearer"):',
        'if not (token and scheme.lower() == b"bearer"):',
        ("test_hostile_requests.py",),
        "token",
    ),
    Fault(
        "a site that bends its name to this machine may ask",
        AREA,
        'if not _all_among(request.header("host"), names, least=1):',
        'if not _all_among(request.header("host")[1:], names):',
        ("test_hostile_requests.py",),
        "names",
    ),
    Fault(
        "any page of a browser may ask",
        AREA,
        'if not _all_among(request.header("origin"), [f"http://{name}" for name in names]):',
        'if not _all_among(request.header("host"), names):',
        ("test_hostile_requests.py",),
        "names",
    ),
    Fault(
        "whoever asks nothing stays for ever",
        AREA,
        "if len(self._links) > MOST_LINKS:",
        "if not self._links:",
        ("local/test_server.py",),
        "makes_room",
    ),
    Fault(
        "the metrics tell how far an owner has secretly computed",
        AREA,
        "{live.run: live.round for live in open_here}",
        "{live.run: live.host.round if live.host else 0 for live in open_here}",
        ("local/test_metrics.py",),
        "worlds",
    ),
    Fault(
        "the metrics show how an owner's journal grows",
        AREA,
        "if self._context.config.owner is None:\n            path",
        "if True:\n            path",
        ("local/test_metrics.py",),
        "worlds",
    ),
    Fault(
        "messages are counted as if they had left before they do",
        AREA,
        '{"": connections.messages_sent}',
        '{"": sum(one.host.messages_sent for one in self._runs.values() if one.host)}',
        ("local/test_metrics.py",),
        "worlds",
    ),
    Fault(
        "a decision whose id only begins like the one in doubt can be resolved",
        AREA,
        r'rf"(?<![\w/-]){re.escape(decision)}(?![\w/-])"',
        "re.escape(decision)",
        ("local/test_server.py",),
        "body",
    ),
]
