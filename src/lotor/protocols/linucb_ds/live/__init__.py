"""LinUCB-DS and SpectralUCB-DS with live rewards: they come from the world, and enter encrypted."""
