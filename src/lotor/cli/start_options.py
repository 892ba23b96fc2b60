"""What `lotor start` orders, for each protocol that daemons can run."""

from collections.abc import Mapping

from lotor.cli.contextual_options import ppcb_from
from lotor.cli.helba_options import helba_from
from lotor.cli.linear_options import LINEAR, linear_from
from lotor.cli.options import refuse_given, samba_from
from lotor.cli.run_options import HELBA
from lotor.core.errors import InputError
from lotor.policies.contextual import contextual_to_text
from lotor.protocols.catalogue import DEPLOYMENTS

PROTOCOLS = tuple(DEPLOYMENTS)
# What each protocol takes, and how it is named where somebody gives that to another.
TAKES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "samba": (("selection",), "`lotor start samba`"),
    "linear": (("slot_bits",), " and ".join(LINEAR)),
    "ppcb": (("epsilon", "bits", "delay", "privacy_budget", "delta"), "`lotor start ppcb`"),
    # A ring that can be broken is for one process.
    "helba": (tuple(name for name in HELBA if name != "insecure_degree"), "`lotor start helba`"),
}


def order_options(
    protocol: str,
    *,
    policy: str | None = None,
    key_bits: int | None = None,
    **options: str | float | None,
) -> dict[str, str | int]:
    """The options of an order; refuses what cannot be run before anybody is asked."""
    if protocol not in DEPLOYMENTS:
        raise InputError(
            f"no protocol is called {protocol!r}: choose one of {', '.join(PROTOCOLS)}"
        )
    kind = "linear" if protocol in LINEAR else protocol
    for other, (names, home) in TAKES.items():
        if other != kind:
            refuse_given({name: options.get(name) for name in names}, f"to {home}")
    own = {name: options.get(name) for name in TAKES[kind][0]}
    if protocol in ("ppcb", "helba"):
        refuse_given({"key_bits": key_bits}, "to samba and the linear protocols")
        return _ppcb(policy, own) if protocol == "ppcb" else _helba(policy, own)
    if protocol == "samba":
        samba_from(policy or "ucb", key_bits=key_bits, **own)
    else:
        linear_from(protocol, policy, key_bits=key_bits, **own)
    given = {"policy": policy, "key_bits": key_bits, **own}
    return {name: value for name, value in given.items() if isinstance(value, str | int)}


def _ppcb(policy: str | None, own: Mapping[str, str | float | None]) -> dict[str, str | int]:
    """Numbers with a point go as text, which says exactly the same everywhere."""
    ppcb = ppcb_from(policy, **own)  # type: ignore[arg-type]
    rest = {name: value for name, value in own.items() if value is not None and name != "epsilon"}
    return {
        "policy": contextual_to_text(ppcb.policy),
        **{name: value if isinstance(value, int) else str(value) for name, value in rest.items()},
    }


def _helba(policy: str | None, own: Mapping[str, str | float | None]) -> dict[str, str | int]:
    """All options, as the protocol says them itself."""
    return dict(helba_from(policy, **own).options())  # type: ignore[arg-type]
