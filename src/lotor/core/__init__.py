"""What all other packages share: effects, decisions, draws, fixed point, errors."""
