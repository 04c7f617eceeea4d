"""Compiled twin of privatizers/coins.py."""

from dpucbvi.engine.compiled import inlined
from dpucbvi.privatizers import coins

unit = inlined(coins.unit)
randomised_response = inlined(coins.randomised_response)
