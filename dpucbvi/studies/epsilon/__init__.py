"""Regret against ε in both models, and the ε at which each algorithm has the regret printed in Figure 1."""

from dpucbvi.studies import Study
from dpucbvi.studies.epsilon.figure import draw
from dpucbvi.studies.epsilon.report import matches, write

STUDY = Study(draw, matches, write)
