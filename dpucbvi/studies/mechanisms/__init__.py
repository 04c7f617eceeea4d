from dpucbvi.studies import Study
from dpucbvi.studies.regret import STUDY
