"""Which attacks every form of SAMBA lists, as module:Class; a form adds those of its own."""

_ATTACKS = "lotor.protocols.samba.attacks:"

ON_SERVERS = tuple(
    _ATTACKS + name
    for name in (
        "TrackRewards",
        "TrackCounts",
        "NameArms",
        "ExploringRounds",
        "ListGcd",
        "ListProfile",
    )
)
ON_CUSTOMERS = tuple(
    f"lotor.protocols.samba.told_attacks:{name}" for name in ("NameBestArm", "CountArms")
)
"""These are tried on the servers, too, where the customer's finding must stay hidden."""
ON_OWNERS = (_ATTACKS + "OwnPulls", _ATTACKS + "OtherArm")
