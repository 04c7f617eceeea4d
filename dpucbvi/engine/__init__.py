"""The compiled engine: the reference's numbers, bit for bit; loops of its own, formulas that are compiled."""
