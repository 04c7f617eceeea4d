"""DP-UCBVI: near-optimal differentially private reinforcement learning (Qiao and Wang, 2023)."""

from importlib.metadata import version

__version__ = version("dpucbvi")
