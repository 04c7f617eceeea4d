"""What is certified: scales are rounded up, so that the certified ε is at most what was asked for, and no less
than it but for rounding; Gaussian certificates against dp-accounting."""

import math
from fractions import Fraction

import pytest

import dpucbvi as dp
from dpucbvi.counts import FAMILIES
from dpucbvi.privacy.accounting import gaussian_epsilon, gaussian_mu
from dpucbvi.privacy.certificate import Scales, gaussian_certificate, laplace_certificate
from dpucbvi.privacy.sensitivity import l2_squared, largest_square
from dpucbvi.privatizers import PRIVATIZERS

PROBLEM = dp.Problem(7, 4, 3, 1001, 0.1)
EPSILONS = (0.1, 1 / 3, 1.0, 7.3, 60.0)
LAPLACE = ["central", "kary_tree", "batches", "local"]
GAUSSIAN = ["toeplitz", "batches"]
CHOICES = [(families, sensitivity) for families in FAMILIES for sensitivity in ("paper", "replace_one")]


def certificate(name, G=7, problem=PROBLEM, **given):
    return PRIVATIZERS[name](**given).certificate(problem, G)


def asked(certificate, sensitivity):
    return certificate.add_remove if sensitivity == "paper" else certificate.replace_one


@pytest.mark.parametrize(("families", "sensitivity"), CHOICES)
@pytest.mark.parametrize("name", LAPLACE)
def test_pure_epsilon_is_what_was_asked_for_rounded_in_favour_of_the_user(name, families, sensitivity):
    """The sum of the losses in exact arithmetic is at most ε; as a float it may be the next one above."""
    for epsilon in EPSILONS:
        check_pure(name, families, sensitivity, epsilon)


def check_pure(name, families, sensitivity, epsilon):
    made = certificate(name, epsilon=epsilon, families=families, sensitivity=sensitivity)
    assert made.delta == 0.0 and made.mu_replace_one is made.mu_add_remove is None
    found = asked(made, sensitivity)
    assert epsilon * (1 - 1e-9) < found <= epsilon
    other = made.replace_one if sensitivity == "paper" else made.add_remove
    assert other == pytest.approx(epsilon * (2 if sensitivity == "paper" else 0.5), rel=1e-12)


@pytest.mark.parametrize("G", [1, 7])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7.3])
@pytest.mark.parametrize(("families", "sensitivity"), CHOICES)
@pytest.mark.parametrize("name", GAUSSIAN)
def test_gaussian_epsilon_is_what_was_asked_for_rounded_in_favour_of_the_user(
    name, families, sensitivity, epsilon, G
):
    made = certificate(name, G, epsilon=epsilon, delta=1e-6, families=families, sensitivity=sensitivity)
    assert made.delta == 1e-6
    assert epsilon * (1 - 1e-9) < asked(made, sensitivity) <= epsilon
    mu = made.mu_add_remove if sensitivity == "paper" else made.mu_replace_one
    assert mu == pytest.approx(gaussian_mu(epsilon, 1e-6), rel=1e-11) and mu <= gaussian_mu(epsilon, 1e-6)


@pytest.mark.parametrize("families", FAMILIES)
def test_the_relation_that_was_not_asked_for_follows_its_own_sensitivities(families):
    """μ² by relation: twice as large replaced, for N and M; four times for centred R, if a user reaches both.

    Of the tuned families one who is replaced reaches 7/8 + 4/(8·7) = 53/56 per step, H = 7.
    """
    made = certificate("toeplitz", epsilon=1.0, families=families)
    shares = FAMILIES[families]
    apart = sum(
        float(share) * float(a / r)
        for share, a, r in zip(
            (shares.N, shares.M, shares.R),
            l2_squared(shares, 7, False),
            l2_squared(shares, 7, True),
            strict=True,
        )
        if share
    )
    assert apart == (0.75 / 2 + 0.25 / 4 if families == "tuned" else 0.5)
    reached = 53 / 56 if families == "tuned" else 1.0
    assert reached * made.mu_add_remove**2 == pytest.approx(apart * made.mu_replace_one**2, rel=1e-9)
    assert made.add_remove == pytest.approx(gaussian_epsilon(made.mu_add_remove, 1e-6), rel=1e-12)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_pooled_counts_need_the_root_of_h_more_gaussian_noise_than_counts_per_step(name):
    """But for what two families reach together: 53/56 of σ² per step, 49/56 pooled, all of it if clipped."""
    given = {"delta": 1e-6} if name == "batches" else {}
    privatizer = PRIVATIZERS[name](epsilon=1.0, **given)
    per_step, pooled = privatizer.scales(PROBLEM, 7), privatizer.scales(PROBLEM, 1)
    more = math.sqrt(7 * 49 / 53)
    assert pooled.M == pytest.approx(more * per_step.M, rel=1e-12)
    assert pooled.R == pytest.approx(more * per_step.R, rel=1e-12)
    clipped = PRIVATIZERS[name](epsilon=1.0, clip=2, **given).scales(PROBLEM, 1)  # 7 = 2+2+2+1: V = 13
    assert clipped.M == pytest.approx(math.sqrt(13 / 7 * 56 / 53) * per_step.M, rel=1e-12)
    # Control: noise per step on pooled counts would certify far more.
    wrong = gaussian_certificate("JDP", "tuned", largest_square(7, 1), 1.0, per_step, 1e-6)
    right = gaussian_certificate("JDP", "tuned", largest_square(7, 1), 1.0, pooled, 1e-6)
    assert wrong.mu_replace_one == pytest.approx(more * right.mu_replace_one, rel=1e-12)


@pytest.mark.parametrize("name", [name for name in PRIVATIZERS if name != "non_private"])
def test_one_episode_releases_nothing(name):
    made = certificate(name, problem=PROBLEM._replace(K=1), epsilon=1.0)
    assert (made.add_remove, made.replace_one, made.delta) == (0.0, 0.0, 0.0)
    assert made.model == PRIVATIZERS[name].model


@pytest.mark.parametrize("every", [5, 7])
@pytest.mark.parametrize("name", ["central", "kary_tree", "toeplitz"])
def test_fewer_users_than_a_release_needs_release_nothing(name, every):
    few = PROBLEM._replace(K=every)  # every - 1 users
    assert certificate(name, problem=few, epsilon=1.0, every=every).replace_one == 0.0
    enough = certificate(name, problem=PROBLEM._replace(K=every + 1), epsilon=1.0, every=every)
    assert max(enough.add_remove, enough.replace_one) > 0.4


def test_a_family_without_noise_certifies_nothing():
    """Control of the rounding: a scale of 0 is no privacy, never an error or a number."""
    for scales in (Scales(1.0, 0.0, 1.0), Scales(0.0, 1.0, 1.0)):
        assert laplace_certificate("JDP", "paper", 5, 1, scales).replace_one == math.inf
    assert laplace_certificate("JDP", "tuned", 5, 1, Scales(0.0, 1.0, 1.0)).replace_one == 15.0
    nothing = gaussian_certificate("JDP", "paper", 5, 1.0, Scales(1.0, 0.0, 1.0), 1e-6)
    assert nothing.add_remove == nothing.replace_one == nothing.mu_replace_one == math.inf


def test_the_laplace_certificate_is_exact_arithmetic():
    """Σ L Δ_f/b_f as a fraction, rounded up: not below it, and at most one unit in the last place above."""
    scales = Scales(0.1, 0.7, 1.3)
    exact = sum(Fraction(3 * 10) / Fraction(b) for b in scales)
    found = laplace_certificate("JDP", "paper", 5, 3, scales).replace_one
    assert exact <= Fraction(found) and math.nextafter(found, 0.0) < exact


# --- the oracle -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def google():
    return pytest.importorskip("dp_accounting")


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("name", "G"), [("toeplitz", 7), ("toeplitz", 1), ("batches", 7)])
def test_the_gaussian_certificate_is_dp_accountings(name, G, relation, google):
    """The noise multiplier of the whole vector is 1/μ; its δ at the certified ε, and ε at δ, by
    dp-accounting."""
    made = certificate(name, G, epsilon=1.3, delta=1e-6)
    sigma = 1.0 / made.mu(relation)
    assert google.get_epsilon_gaussian(sigma, 1e-6) == pytest.approx(made.epsilon(relation), rel=1e-6)
    privacy = google.pld.PLDAccountant()  # ADD_OR_REMOVE_ONE: the sensitivity is in the multiplier
    privacy.compose(google.GaussianDpEvent(sigma))
    assert privacy.get_epsilon(1e-6) == pytest.approx(made.epsilon(relation), rel=1e-2)
    assert privacy.get_epsilon(1e-6) >= made.epsilon(relation) * (1 - 1e-6)
