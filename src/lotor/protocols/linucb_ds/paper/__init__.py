"""LinUCB-DS and SpectralUCB-DS as published: scores under Paillier, which Comp decrypts."""
