"""LinUCB-DS and SpectralUCB-DS: linear bandits outsourced to two clouds."""

from lotor.protocols.linucb_ds.protocol import LinUCBDS, SpectralUCBDS

__all__ = ["LinUCBDS", "SpectralUCBDS"]
