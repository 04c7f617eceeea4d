"""The compiled engine: the reference's plans, bit for bit; loops of its own, formulas that are compiled."""
