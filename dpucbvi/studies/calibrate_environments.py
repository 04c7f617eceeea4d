"""Table 1's systems at five factors on the bonus, in the environments on which the factors were not chosen.

The study `table1` adds to its table what the best of them would bring (table1/factors.py).
"""

from matplotlib.figure import Figure

from dpucbvi.lab.store import StoredExperiment
from dpucbvi.studies import Study
from dpucbvi.studies.table1.figure import draw_dots


def draw(experiment: StoredExperiment) -> Figure:
    """The dots of Table 1, one for every factor."""
    return draw_dots(experiment, "A dot for every factor on the bonus.")


STUDY = Study(draw, keeps_figure=False, points=2)
