"""The Privatizers, a file for each way to release: noise scale, E, certificate and release in one place.

    NonPrivate     the counts as they are
    Central        the Binary Mechanism on every counter, node noise Lap(3ΔL/ε)      [Sec.5.1, Lem.5.1]
    Local          every user adds Lap(3Δ/ε) to her own statistics, the server sums  [Sec.5.2, Lem.5.6]

The others are not in the paper [D29]. They certify an ε for a user who is replaced, and with less noise:

    KaryTree                 another tree with Laplace noise           pure ε-JDP
    Toeplitz                 running sums with Gaussian noise          (ε, δ)-JDP
    Batches                  growing batches of users, each released once, with either noise
    Windows                  batches, pooled over the steps as far as private tests allow
    OneQuestion              a user answers one question about a pair  pure ε-LDP
    LocalWindows             or about a pair in a window of steps      pure ε-LDP

How far one user moves the counters is in sensitivity.py, what follows for ε in certificate.py and
accounting.py.
"""

from dpucbvi.errors import import_all
from dpucbvi.privacy.certificate import Certificate
from dpucbvi.privatizers.arrays import PRIVATIZERS
from dpucbvi.privatizers.batches import Batches
from dpucbvi.privatizers.central import Central
from dpucbvi.privatizers.kary_tree import KaryTree
from dpucbvi.privatizers.local import Local
from dpucbvi.privatizers.local_windows import LocalWindows
from dpucbvi.privatizers.non_private import NonPrivate
from dpucbvi.privatizers.one_question import OneQuestion
from dpucbvi.privatizers.toeplitz import Toeplitz
from dpucbvi.privatizers.windows import Windows

import_all(__name__, __path__)

__all__ = [
    "PRIVATIZERS",
    "Batches",
    "Central",
    "Certificate",
    "KaryTree",
    "Local",
    "LocalWindows",
    "NonPrivate",
    "OneQuestion",
    "Toeplitz",
    "Windows",
]
