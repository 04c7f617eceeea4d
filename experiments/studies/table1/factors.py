"""The factors of Table 1: what +exp=calibrate_table1 chose for every system in every environment."""

from math import log10

from dpucbvi.calibrate import Calibration, Factors
from experiments.lab.store import StoredExperiment
from experiments.studies.calibrate.rule import objectives
from experiments.studies.table1.bounds import Row
from experiments.studies.table1.measurements import place

Chosen = dict[tuple[Row, str, str], Calibration]  # by row, model and environment


def chosen(experiment: StoredExperiment) -> Chosen:
    """Of a stored +exp=calibrate_table1."""
    return {
        key: Calibration(key[0].agent, key[0].name, points)
        for key, points in objectives(experiment, place).items()
    }


def exponents(factors: Factors) -> tuple[float, ...]:
    """log₁₀ of every factor, to a tenth."""
    return tuple(round(log10(factor), 1) for factor in factors)
