"""This paper's experiments: scripts, the lab they run in, and the studies. Never installed."""
