"""Regret against ε in both models, and the ε at which each algorithm has the regret printed in Figure 1."""

from experiments.studies import Study
from experiments.studies.epsilon.figure import draw
from experiments.studies.epsilon.report import matches, write

STUDY = Study(draw, matches, write)
