"""Studies: many runs, in any order and on any machine, and what they show together."""
