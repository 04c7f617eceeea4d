"""What paper/results/ and paper/tables/ hold, made from stored results by experiments/tables.py."""
