"""Comp with live rewards: the same, in wider slots."""

from lotor.protocols.linucb_ds.live.terms import LiveTerms
from lotor.protocols.linucb_ds.paper.comp import LinUCBComp, LinUCBCompMemory


class LiveCompMemory(LinUCBCompMemory, tag="linucb-ds-live/1/comp"):
    """The private key is Comp's own; nobody else ever has it."""

    terms: LiveTerms | None = None


class LiveComp(LinUCBComp):
    """Figure 4 (b)."""

    memory_kind = LiveCompMemory
    terms_kind = LiveTerms
