"""The few words that everything speaks: effects, decisions, draws, fixed point, errors."""
