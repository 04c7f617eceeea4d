"""The Privatizers, one class each in a file of its own: noise scale, E, certificate and release in one place.

    NonPrivate  the counts as they are
    Central     the Binary Mechanism on every counter, node noise Lap(3ΔL/ε)      [Sec.5.1, Lem.5.1]
    Local       every user adds Lap(3Δ/ε) to her own statistics, the server sums  [Sec.5.2, Lem.5.6]

Δ is the ℓ1 sensitivity of one family: H in the paper, where a user is added or removed; 2H where her
trajectory is replaced by another, as Definitions 2.2 and 2.3 have it (`sensitivity`, see certificate.py). The 3
splits ε evenly over the families, L = ⌈log2 K⌉ over the levels of the tree (tree.py).

Pooling counts over h moves no mass: one family still changes by at most Δ.
"""

from dpucbvi.privatizers.central import Central
from dpucbvi.privatizers.certificate import Certificate
from dpucbvi.privatizers.local import Local
from dpucbvi.privatizers.non_private import NonPrivate
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.registry import import_all

import_all(__name__, __path__)

__all__ = ["PRIVATIZERS", "Central", "Certificate", "Local", "NonPrivate"]
