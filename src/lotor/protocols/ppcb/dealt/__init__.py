"""PPCB with a dealer, who makes all correlated randomness: least work for the servers."""
