"""dp.fit and dp.Ledger: one release of logged data, and what was spent on which."""

import json
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from clinic import AGENT, MDP, MESSAGES, PRIVATIZERS, A, H, S, ended
from hypothesis import given, settings, strategies as st

import dpucbvi as dp
from dpucbvi.counts import FAMILIES, statistics
from dpucbvi.mdp import Trajectory, rollout, uniforms_per_episode
from dpucbvi.privacy.accounting import gaussian_epsilon
from dpucbvi.privacy.law import reach
from dpucbvi.privacy.sensitivity import l1, l2_squared
from dpucbvi.session.fit import Once
from dpucbvi.session.ledger import Entry, composed

SIZES = {"H": H, "S": S, "A": A, "K": 50}
# No noise to speak of: e^-10000 is the chance of any.
QUIET = dp.Batches(1e6, drop_empty=False, noise="exact")
LOUD = dp.Batches(0.1, drop_empty=False, noise="exact")
ONCE = dp.Batches(1.0, noise="exact")


def followed(k, policy=None):
    pi = np.ones((H, S), dtype=np.int64) if policy is None else policy
    return tuple(rollout(MDP, pi, np.random.default_rng(k).random(uniforms_per_episode(H))))


def visits(trajectories, **more):
    return dp.fit(trajectories, QUIET, AGENT, **SIZES, **more).published.counts.N_sa


# --- what one user can do -------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("G", [1, 2])
@pytest.mark.parametrize("families", FAMILIES)
def test_m_trajectories_of_a_user_reach_as_far_as_the_noise_is_for(m, G, families):
    """Every m trajectories of 2 steps in 2 states, rewards 0 or 1: V = m²H per step, m²H² pooled; attained.

    That less is reached of two families together is proved for one trajectory, and used for no more.
    """
    problem, chosen = dp.Problem(2, 2, 1, 9, 0.05), FAMILIES[families]
    one = [
        statistics(Trajectory(np.array(s), np.array([0, 0]), np.array(r)), G, 2, 1, chosen)
        for s in product(range(2), repeat=3)
        for r in ((0.0, 0.0), (1.0, 1.0))
    ]
    users = np.array([np.sum(few, axis=0) for few in combinations_with_replacement(one, m)])
    users = np.unique(users, axis=0)
    user = Once(1.0, families=families, m=m).reach(problem, G)
    assert (user.H, user.V) == (m * 2, m * m * (2 if G == 2 else 4))
    single = reach(families, "replace_one", problem, G)
    assert user._replace(H=2, V=user.V // m**2) == (single if m == 1 else single._replace(together=1))
    n = G * 2
    parts = (slice(0, n), slice(n, -n), slice(-n, None))
    for part, most, squared in zip(
        parts, l1(chosen, user.H, True), l2_squared(chosen, user.V, True), strict=True
    ):
        x = users[:, part]
        apart = np.square(x).sum(1)[:, None] + np.square(x).sum(1) - 2 * x @ x.T
        assert apart.max() == pytest.approx(float(squared))
        assert max(np.abs(x - other).sum(1).max() for other in x) == pytest.approx(float(most))


def test_her_first_trajectories_count_whatever_others_send():
    mine, others = [followed(k) for k in range(4)], {f"other {k}": [followed(10 + k)] for k in range(3)}
    alone = visits({"me": mine[:2]}, per_person=2)
    assert alone.sum() == 2 * H
    np.testing.assert_array_equal(visits({"me": mine}, per_person=2), alone)
    np.testing.assert_array_equal(visits({**others, "me": mine}, per_person=2) - visits(others), alone)
    np.testing.assert_array_equal(
        visits({"me": ["nothing to read", *mine]}, per_person=2), visits({"me": mine[:1]})
    )


@settings(max_examples=100, deadline=None)
@given(hers=st.one_of(st.lists(st.one_of(MESSAGES, st.none()), max_size=4), st.none(), st.integers()))
def test_whatever_stands_there_moves_the_counts_by_what_is_certified(hers):
    N = visits({"her": hers}, per_person=2)
    assert N.sum() <= 2 * H and N.max(initial=0) <= 2


def test_every_row_has_noise_whatever_actions_were_logged():
    """Nobody took action 0. With noise of scale 107 the three cells of a row are all 0 once in 9 million."""
    counts = dp.fit({k: [followed(k)] for k in range(20)}, LOUD, AGENT, **SIZES).published.counts
    assert (np.abs(counts.N_sas).sum(axis=-1) > 0).all()


# --- what is declared -----------------------------------------------------------------------------------------


def test_rewards_are_in_units_of_their_range():
    s, a = [0] * (H + 1), [1] * H
    odd = [np.nan, "many", 10**400, -1e300]
    for rewards, sent, earned in (
        ((0, 1), [0, 1, 0.5, 1], 2.5),
        ((-2, 6), [-2, 6, 2, 6], 2.5),
        ((-2, 6), odd, 1.0),
    ):
        found = dp.fit({"her": [(s, a, sent)]}, QUIET, AGENT, **SIZES, rewards=rewards).published.counts
        assert found.R.sum() + H / 2 == pytest.approx(earned)


CSV = """user,step,state,action,reward
ann,0,0,1,0
ann,1,1,1,0.5
bob,0,0,0,1
ann,2,2,1,1
bob,1,1,,
ann,3,2,0,1
bob,0,2,1,0
ann,4,0,,
bob,1,0,,
"""
READ = {
    "ann": [([0, 1, 2, 2, 0], [1, 1, 1, 0], [0.0, 0.5, 1.0, 1.0])],
    "bob": [([0, 1], [0], [1.0]), ([2, 0], [1], [0.0])],
}


def test_a_file_of_rows(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(CSV)
    np.testing.assert_array_equal(visits(path, per_person=2), visits(READ, per_person=2))
    for line in (
        'ann,2,"2',
        "ann,two,2,1,1",
        "ann,2",
        "ann,2,2,1,1,1",
        "ann,2,1e9,1,1",
        "ann,3,2,1,1",
        "ann,2,-1,1,1",
    ):
        path.write_text(CSV.replace("ann,2,2,1,1", line))
        np.testing.assert_array_equal(visits(path, per_person=2), visits({"bob": READ["bob"]}, per_person=2))
    with pytest.raises(dp.InputError, match="there is no file"):
        visits(tmp_path / "nowhere.csv")
    path.write_text(CSV[5:])
    with pytest.raises(dp.InputError, match="must be user,step,state,action,reward"):
        visits(path)


def test_what_comes_out():
    people = {k: [followed(k, np.random.default_rng(k).integers(0, A, (H, S)))] for k in range(50)}
    found = dp.fit(people, ONCE, AGENT, **SIZES, per_person=3)
    assert found.policy.shape == (H, S) and found.published.number == 1
    assert found.certificate.model == "DP" and 0.99 < found.certificate.replace_one.epsilon <= 1.0
    assert "had learnt from hers without noise, is not hidden" in str(found.certificate)
    assert (found.certificate.noise, found.certificate.basis) == ("release", "proven")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"privatizer": dp.Batches(1.0)}, "noise: simulated noise protects nobody"),
        (
            {"privatizer": PRIVATIZERS["central"]},
            "privatizer: Central is not accepted; one release takes Batches",
        ),
        ({"agent": dp.PrivateUCBPO()}, "agent: PrivateUCBPO plans for every user"),
        ({"rewards": (1, 0)}, r"rewards: \(1, 0\) is not accepted"),
        ({"rewards": 1}, "rewards: 1 is not accepted"),
        ({"per_person": 0}, "per_person: 0 is not accepted"),
        ({"data": "x"}, "ledger, data: a dp.Ledger is charged for data that have a name"),
    ],
)
def test_what_a_fit_does_not_take(settings, said):
    given = {"privatizer": ONCE, "agent": AGENT, **SIZES, **settings}
    with pytest.raises(dp.InputError, match=said):
        dp.fit(READ, **given)


# --- the ledger -----------------------------------------------------------------------------------------------


def test_pure_epsilons_add_up_and_mu_adds_up_in_squares():
    pure = Entry("x", "", 0.5, 0.0, 0.6, 0.12)
    assert composed([pure] * 3, 0.0) == pytest.approx(1.5)
    gaussian = Entry("x", "", 9.0, 1e-6, 0.3, 0.045)
    assert composed([gaussian] * 16, 1e-6) == pytest.approx(gaussian_epsilon(1.2, 1e-6))
    assert composed([gaussian], 0.0) == np.inf
    declared = Entry("x", "", 0.7, 1e-7, np.inf, np.inf)
    assert composed([declared, pure], 1e-6) == pytest.approx(1.2)
    assert composed([declared] * 11, 1e-6) == np.inf  # its δ is spent


def test_mixed_costs_are_never_below_what_dp_accounting_finds():
    """And at most 10% above, for three pure releases and one Gaussian."""
    pytest.importorskip("dp_accounting")
    from dp_accounting.pld import privacy_loss_distribution as pld

    pure, gaussian = dp.Certificate("DP", 0.5, 0.5), dp.Certificate("DP", 0, 0, 1e-6, 1.0, 1.0)
    entries = [Entry("x", "", 0.5, 0.0, pure.mu("replace_one"), pure.rho("replace_one"))] * 3
    entries.append(Entry("x", "", gaussian_epsilon(1.0, 1e-6), 1e-6, 1.0, gaussian.rho("replace_one")))
    laplace = pld.from_laplace_mechanism(2.0, value_discretization_interval=1e-3).self_compose(3)
    exact = laplace.compose(pld.from_gaussian_mechanism(1.0, value_discretization_interval=1e-3))
    assert (
        exact.get_epsilon_for_delta(1e-6) <= composed(entries, 1e-6) <= 1.1 * exact.get_epsilon_for_delta(1e-6)
    )


def test_a_ledger_refuses_what_exceeds_its_budget(tmp_path):
    book = tmp_path / "book.json"
    ledger = dp.Ledger(book, epsilon=2.0)
    dp.fit(READ, ONCE, AGENT, **SIZES, ledger=ledger, data="people")
    sizes = {"H": H, "S": S, "A": A, "K": 400, "agent": AGENT}
    dp.Session(tmp_path / "one", **sizes, privatizer=ONCE, ledger=ledger, data="people").close()
    before = book.read_bytes()
    (tmp_path / "three.releases").touch()
    with pytest.raises(dp.InputError, match="a session begins a log of its own"):  # and nothing is charged
        dp.Session(tmp_path / "three", **sizes, privatizer=ONCE, ledger=ledger, data="others")
    with pytest.raises(
        dp.InputError, match="refused: people would have spent ε = 3 at δ = 0, and the budget is 2"
    ):
        dp.fit(READ, ONCE, AGENT, **SIZES, ledger=ledger, data="people")
    with pytest.raises(dp.InputError, match="is refused"):
        dp.Session(tmp_path / "two", **sizes, privatizer=ONCE, per_person=3, ledger=ledger, data="others")
    assert book.read_bytes() == before and not (tmp_path / "two").exists()
    again = dp.Ledger(book, epsilon=2.0)
    assert again.spent("people") == pytest.approx(2.0) and again.spent("others") == 0.0
    assert book.stat().st_mode & 0o777 == 0o600
    with pytest.raises(dp.InputError, match=r"the budget of .* is ε = 2 at δ = 0"):
        dp.Ledger(book, epsilon=3.0)
    book.write_text(json.dumps({"entries": 3}))
    with pytest.raises(dp.InputError, match="is no ledger, or was changed by hand"):
        again.spent("people")


def test_two_processes_do_not_spend_the_same_budget(tmp_path):
    """Eight children charge 1 each of a budget of 3."""
    ledger, cost = dp.Ledger(tmp_path / "book.json", epsilon=3.0), dp.certify(ONCE, **{**SIZES, "K": 400})
    found = ended([lambda: ledger.charge("people", cost, "a release")] * 8)
    assert sorted(found) == [0] * 3 + [7] * 5 and len(ledger.entries) == 3


def test_calibration_is_public_on_a_simulator_and_paid_for_on_users(tmp_path):
    ledger = dp.Ledger(tmp_path / "book.json", epsilon=2.0)
    grid = {"K": 20, "seed": 1000, "bonus": [1e-3], "confidence": [0.1], "engine": "reference"}
    simulated = dp.Central(1.0)
    dp.calibrate(MDP, AGENT, simulated, **grid, ledger=ledger)
    (entry,) = ledger.entries
    assert entry.data == "public" and entry.epsilon == 0.0 and "riverswim" in entry.what.lower()
    for book in (None, ledger):
        with pytest.raises(dp.InputError, match="data: no ledger was charged for a release of patients"):
            dp.calibrate(MDP, AGENT, simulated, **grid, ledger=book, data="patients")
    dp.fit(READ, ONCE, AGENT, **SIZES, ledger=ledger, data="patients")
    dp.calibrate(MDP, AGENT, simulated, **grid, ledger=ledger, data="patients")
    assert ledger.spent("patients") <= 1.0 and len(ledger.entries) == 3
    with pytest.raises(dp.InputError, match="noise: simulated noise protects nobody"):
        ledger.charge("patients", dp.certify(simulated, **SIZES), "a simulation")
