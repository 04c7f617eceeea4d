"""dp.certify: the privatizers' numbers in all measures, for one place or several of a person; ε rounded up."""

import json
import math
import re
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, strategies as st

import dpucbvi as dp
from dpucbvi.privacy.accounting import gaussian_delta
from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.privatizers import PRIVATIZERS

SIZES = {"H": 4, "S": 3, "A": 2, "K": 500}
EXACT = {"batches": dp.Batches(1.0, noise="exact"), "gaussian": dp.Batches(1.0, delta=1e-6, noise="exact")}


def every_privatizer():
    for name in PRIVATIZERS:
        if hasattr(dp, PRIVATIZERS[name].__name__):
            yield PRIVATIZERS[name]() if name == "non_private" else PRIVATIZERS[name](epsilon=1.0)


@pytest.mark.parametrize("privatizer", [*every_privatizer(), *EXACT.values()], ids=repr)
@pytest.mark.parametrize("pooled", [False, True])
def test_the_numbers_are_the_privatizers_own(privatizer, pooled):
    if pooled and isinstance(privatizer, dp.Windows | dp.LocalWindows):
        with pytest.raises(dp.InputError, match="pooled"):
            dp.certify(privatizer, **SIZES, pooled=True)
        return
    found = dp.certify(privatizer, **SIZES, pooled=pooled)
    own = privatizer.certificate(dp.Problem(**SIZES, beta=0.05), 1 if pooled else SIZES["H"])
    assert (found.model, found.delta, found.noise, found.basis) == (own.model, own.delta, own.noise, "proven")
    for relation in ("add_remove", "replace_one"):
        measures = getattr(found, relation)
        assert measures == (own.epsilon(relation), own.mu(relation), own.rho(relation))
        if found.delta == 0.0 and math.isfinite(measures.epsilon):
            assert measures.rho == pytest.approx(measures.epsilon * math.tanh(measures.epsilon / 2))
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain == found.to_dict() and plain["replace_one"]["epsilon"] in (own.replace_one, None)
    if found.model != "none":
        lead = re.search(r"ε = ([\d.]+) if her trajectory is replaced, ([\d.]+) if a user", str(found))
        assert float(lead[1]) >= own.replace_one * (1 - 1e-12) and float(lead[2]) >= own.add_remove * (
            1 - 1e-12
        )


@dataclass(frozen=True)
class Mine(dp.Batches):
    """Anybody's: it says that it is what it was made of."""


def test_a_strangers_privatizer_is_declared():
    found = dp.certify(Mine(1.0), **SIZES)
    assert found.basis == "declared" and str(found).splitlines()[0].endswith(
        "simulated with seeded noise; declared"
    )
    assert replace(found, basis="audited").to_dict()["basis"] == "audited"


def test_a_person_with_two_places():
    """Pure: 2ε. Gaussian noise: 2μ, whose ε at δ is more than 2ε. Declared (ε, δ): δ grows as well."""
    once, twice = (dp.certify(EXACT["batches"], **SIZES, per_person=m) for m in (1, 2))
    assert twice.replace_one.epsilon == pytest.approx(2 * once.replace_one.epsilon, rel=1e-15)
    assert "2 trajectories of one person" in str(twice)
    once, twice = (dp.certify(dp.Toeplitz(1.0), **SIZES, per_person=m) for m in (1, 2))
    assert twice.replace_one.mu == pytest.approx(2 * once.replace_one.mu)
    assert gaussian_delta(twice.replace_one.epsilon, 2 * once.replace_one.mu) == pytest.approx(1e-6)
    assert twice.replace_one.epsilon > 2.05 and twice.delta == 1e-6
    once, twice = (dp.certify(EXACT["gaussian"], **SIZES, per_person=m) for m in (1, 2))
    assert twice.replace_one.rho == pytest.approx(4 * once.replace_one.rho) and twice.replace_one.epsilon > 2.05
    declared = dp.Certificate("JDP", 0.5, 1.0, 1e-6).group(3)
    assert declared[1:3] == pytest.approx((1.5, 3.0))
    assert declared.delta == pytest.approx(1e-6 * (1 + math.e + math.e**2))


@given(st.floats(1e-300, 1e300), st.integers(1, 8))
def test_a_printed_epsilon_is_never_less_than_it_is(epsilon, digits):
    """Larger by one in the last digit at most; but for what 1e-12 of it hides."""
    found = rounded_up(epsilon, digits)
    assert epsilon * (1 - 2e-12) <= found <= epsilon * (1 + 10.0 ** (1 - digits)) * (1 + 1e-12)
    assert float(f"{found:.{digits}g}") == found


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"H": 0}, "H: 0 is not accepted"), ({"K": 1.5}, "K: 1.5"), ({"per_person": 0}, "per_person: 0")],
)
def test_one_line_for_what_is_not_accepted(settings, said):
    for part in (dp.Batches, "batches", None):
        with pytest.raises(dp.InputError, match="it must be an object with model"):
            dp.certify(part, **SIZES)
    with pytest.raises(dp.InputError, match=said):
        dp.certify(EXACT["batches"], **{**SIZES, **settings})
