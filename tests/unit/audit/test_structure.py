"""The compiled releases are A x + B z to the last noise, and broken ones are not. Exact: no false alarms."""

import numpy as np
import pytest
from cases import CAUGHT, HONEST, OTHERS, setup_of
from dpucbvi.audit.structure import largest_gap

from dpucbvi.audit import laws
from dpucbvi.audit.broken import BROKEN
from dpucbvi.mechanisms.binary import levels

SUMS = [name for name in HONEST if name not in ("batches, dropped", "one_step", "one_question", "square root")]


@pytest.mark.parametrize("name", [*SUMS, *OTHERS])
@pytest.mark.parametrize("K", [None, 40])
def test_every_noise_is_where_the_proof_has_it(name, K):
    assert largest_gap(setup_of(name, K), None, np.random.default_rng(1)) < 1e-9


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_release_is_seen_in_one_run(name):
    of, _ = CAUGHT[name]
    assert largest_gap(setup_of(of), BROKEN[name], np.random.default_rng(1)) > 0.01


@pytest.mark.parametrize("name", SUMS)
def test_rows_are_independent_and_lose_nothing(name):
    """M is invertible, and every noise is in one row of M B, with the stated weights."""
    setup = setup_of(name)
    T = len(laws.noises(setup.privatizer, 3)) if name != "kary_tree" else 4
    law, B = laws.law(setup.privatizer, T), laws.noises(setup.privatizer, T)
    rows = law.undo @ B
    assert abs(np.linalg.det(law.undo)) > 1e-9
    assert ((np.abs(rows) > 1e-9).sum(axis=0) == 1).all()
    for row, weights in zip(rows, law.weights, strict=True):
        assert sorted(np.abs(row[np.abs(row) > 1e-9])) == pytest.approx(sorted(weights))


@pytest.mark.parametrize("K", [4, 8])
def test_the_first_user_of_a_binary_tree_is_in_every_level(K):
    law = laws.law(setup_of("central, tuned").privatizer, K - 1)
    assert law.worst_item() == 0 and np.abs(law.shift(0)).sum() == pytest.approx(levels(K))
