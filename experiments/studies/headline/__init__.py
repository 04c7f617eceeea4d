"""The comparisons that the README quotes, with enough runs for their tails.

Every run is a dot; beside the mean stand the median and the interquartile mean, intervals are bootstrapped, and
every private arm is compared with UCBVI and with itself without privacy.
"""

from experiments.studies import Study
from experiments.studies.headline.figure import draw
from experiments.studies.headline.report import table, write

STUDY = Study(draw, table=table, report=write, points=400)  # all: it interpolates
