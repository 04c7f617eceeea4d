"""What paper/results/ holds, written from stored results; experiments/tables.py is the script."""
