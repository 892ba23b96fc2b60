"""PPCB with Algorithm 1's update of every arm, for comparison and in one process only."""
