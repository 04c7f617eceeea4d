"""Compiled twins of the releases (privatizers/): one user in, N̂ out now and then.

Each kind of release is a NamedTuple of its state; `release` picks the code by that type when it is compiled.
"""

from dpucbvi.registry import import_all

import_all(__name__, __path__)
