"""Drawing functions, one file per kind of figure; figures.py is their index."""
