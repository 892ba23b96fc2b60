"""What `lotor start` orders, for each protocol that daemons can run."""

from lotor.cli.linear_options import LINEAR, linear_from
from lotor.cli.options import refuse_given, samba_from
from lotor.core.errors import InputError
from lotor.protocols.catalogue import DEPLOYMENTS

PROTOCOLS = tuple(DEPLOYMENTS)


def order_options(
    protocol: str,
    *,
    policy: str | None = None,
    selection: str | None = None,
    slot_bits: int | None = None,
    key_bits: int | None = None,
) -> dict[str, str | int]:
    """The options of an order; refuses what cannot be run before anybody is asked."""
    given: dict[str, str | int | None] = {"policy": policy, "key_bits": key_bits}
    if protocol in LINEAR:
        refuse_given({"selection": selection}, "to `lotor start samba`")
        linear_from(protocol, policy, slot_bits=slot_bits, key_bits=key_bits)
        given["slot_bits"] = slot_bits
    elif protocol == "samba":
        refuse_given({"slot_bits": slot_bits}, f"to {' and '.join(LINEAR)}")
        samba_from(policy or "ucb", selection=selection, key_bits=key_bits)
        given["selection"] = selection
    else:
        raise InputError(
            f"no protocol is called {protocol!r}: choose one of {', '.join(PROTOCOLS)}"
        )
    return {name: value for name, value in given.items() if value is not None}
