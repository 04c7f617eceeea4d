"""Compiled twins of the planning of every algorithm: Algorithm 1's lines 4-15 and the other agents' own.

An algorithm is known by the type of its constants; `plan` picks the code by that type when it is compiled. Each
pair (s,a) sees the same operations in the same order as in the reference, and its formulas are the reference's
functions, compiled. Where Ñ = 0 its numbers are not finite and unused.
"""

from dpucbvi.registry import import_all

import_all(__name__, __path__)
