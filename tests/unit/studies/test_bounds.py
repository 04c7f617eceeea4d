"""The bounds of Table 1: their printed cells, their numbers by hand, their exponents."""

from fractions import Fraction
from math import inf, sqrt

import pytest

from dpucbvi.agents import AGENTS
from experiments.studies.table1.bounds import BY_AGENT, LOWER_BOUND, PRIVATE_LOWER_BOUND, ROWS, Sizes

HALF = Fraction(1, 2)

# (name, JDP, LDP, bonus) as in the paper.
PRINTED = [
    ("PUCB", "Õ(√(S²AH³T) + S²AH³/ε)*", None, "Hoeffding"),
    ("LDP-OBI", None, "Õ(√(S²AH³T) + S²A√(H⁵T)/ε)†", "Hoeffding"),
    (
        "Private-UCB-PO",
        "Õ(√(S²AH³T) + S²AH³/ε)",
        "Õ(√(S²AH³T) + S²A√(H⁵T)/ε)",
        "Hoeffding",
    ),
    (
        "Private-UCB-VI",
        "Õ(√(SAH³T) + S²AH³/ε)",
        "Õ(√(SAH³T) + S²A√(H⁵T)/ε)",
        "Hoeffding",
    ),
    (
        "DP-UCBVI",
        "Õ(√(SAH²T) + S²AH³/ε)",
        "Õ(√(SAH²T) + S²A√(H⁵T)/ε)",
        "Bernstein",
    ),
    ("Lower bound without DP", "Ω(√(SAH²T))", "Ω(√(SAH²T))", "NA"),
]


def test_the_papers_cells():
    rows = [*(row for row in ROWS if row.printed), LOWER_BOUND]
    cells = [(row.name, *(b and b.text() for b in (row.jdp, row.ldp)), row.bonus) for row in rows]
    assert cells == PRINTED


def test_numbers_by_hand():
    """S=2, A=3, H=4, T=100, ε=2: √(SAH²T) = √9600, √(SAH³T) = √38400, S²AH³/ε = 384, S²A√(H⁵T)/ε = 6·320."""
    at = Sizes(2, 3, 4, 100, 2.0)
    assert BY_AGENT["dp_ucbvi"].jdp.value(at) == pytest.approx(sqrt(9600) + 384)
    assert BY_AGENT["dp_ucbvi"].ldp.value(at) == pytest.approx(sqrt(9600) + 1920)
    assert BY_AGENT["private_ucb_vi"].jdp.value(at) == pytest.approx(sqrt(38400) + 384)
    assert BY_AGENT["pucb"].jdp.value(at) == pytest.approx(sqrt(76800) + 384)
    assert LOWER_BOUND.jdp.value(at) == pytest.approx(sqrt(9600))
    assert PRIVATE_LOWER_BOUND.ldp.value(at) == pytest.approx(sqrt(9600) + sqrt(2400) / 2)
    assert BY_AGENT["ucbvi_bf"].none.value(at._replace(epsilon=inf)) == pytest.approx(sqrt(9600))


def test_the_cost_of_privacy_is_the_same_for_all():
    """Exponents that a fit is compared with: JDP S²AH³/ε, LDP S²A√(H⁵T)/ε."""
    jdp = {row.jdp.terms[1] for row in ROWS if row.jdp}
    ldp = {row.ldp.terms[1] for row in ROWS if row.ldp}
    assert [term.exponents for term in jdp] == [{"S": 2, "A": 1, "H": 3, "T": 0, "1/ε": 1}]
    assert [term.exponents for term in ldp] == [{"S": 2, "A": 1, "H": 5 * HALF, "T": HALF, "1/ε": 1}]


def test_every_row_is_a_system_that_takes_the_models_it_has_bounds_for():
    assert set(BY_AGENT) <= set(AGENTS)
    for row in ROWS:
        models = AGENTS[row.agent].models
        assert (row.jdp is not None, row.ldp is not None) == ("JDP" in models, "LDP" in models)
