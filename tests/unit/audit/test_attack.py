"""The attacks: below the certificate of every honest mechanism, above that of every broken one.

False alarms: a bound is above the true ε with probability at most ALPHA = 1e-9, and this file takes fewer than
80 of them, the experiment fewer than 60 more: below 1.4e-7 in all. Seeds are fixed.
"""

import numpy as np
import pytest
from cases import CAUGHT, EXACT, HONEST, setup_of

import dpucbvi as dp
from dpucbvi.audit import actions, drive, neighbours, one_run, released
from dpucbvi.audit.bounds import ALPHA
from dpucbvi.audit.broken import BROKEN, broken
from dpucbvi.audit.run import check, run
from dpucbvi.audit.scores import rounded
from dpucbvi.engine.exact import compiled_draws
from dpucbvi.environments import random_mdp
from dpucbvi.privatizers import PRIVATIZERS, Batches, Central
from dpucbvi.simulate import set_up

QUICK = 50_000
# The least bound that an attack of QUICK trials must reach; ε is 1 (2 for the paper's noise). μ is 0.2367.
POWER = {"local, paper": 1.2, "batches": 0.8, "one_step": 0.88, "one_question": 0.9}
POWER_MU = 0.1
# Of exact noise, of ε = 2, 2, 4 and (8, 1e-6).
EXACTLY = 2_000
POWER_EXACT = {"batches": 0.8, "one_question": 1.0, "toeplitz": 1.0}


def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("name", HONEST)
def test_no_attack_is_above_the_certificate(name):
    setup = setup_of(name)
    found = released.attack(setup, None, QUICK, rng())
    assert POWER.get(name, 0.0) < found.epsilon.bound <= setup.certificate.replace_one
    if setup.certificate.mu_replace_one is not None:
        assert POWER_MU < found.mu.bound <= setup.certificate.mu_replace_one


@pytest.mark.parametrize("name", EXACT)
def test_no_attack_on_an_exact_release_is_above_its_certificate(name):
    setup = setup_of(name, exact=True)
    assert setup.certificate.noise == "release"
    found = released.attack(setup, None, EXACTLY, rng())
    assert POWER_EXACT[name] < found.epsilon.bound <= setup.certificate.replace_one


def half(words, scale, sizes, gaussian):
    """Discrete Laplace noise n/d of half the scale that was asked for."""
    return compiled_draws(words, scale * np.array([1, 2, 1], np.uint64), sizes, gaussian)


def test_half_the_noise_of_an_exact_release_is_caught(monkeypatch):
    """The same trials as above, and the same release; only who draws is another."""
    monkeypatch.setattr(drive, "compiled_draws", half)
    setup = setup_of("batches", exact=True)
    found = released.attack(setup, None, EXACTLY, rng())
    assert found.epsilon.bound > 1.05 * setup.certificate.replace_one


def test_the_factor_of_two_is_that_of_the_relation():
    """The paper's noise, attacked by the same rule: at most ε if a user is added, more if she is replaced."""
    setup = setup_of("central, paper")
    added, replaced = (
        released.attack(setup, None, 300_000, rng(), relation).epsilon.bound
        for relation in ("add_remove", "replace_one")
    )
    assert 0.6 < added <= setup.certificate.add_remove == pytest.approx(1.0)
    assert 1.1 < replaced <= setup.certificate.replace_one == pytest.approx(2.0)


def test_a_user_who_is_not_there_adds_nothing():
    """The second world's sums are those of the others alone, in the engine too."""
    setup = setup_of("central, paper")
    case = released.prepare(setup, None, "add_remove")
    change = case.sigma[0] - case.sigma[1]
    assert case.faults[1].absent == case.place and case.faults[0].absent == -1
    assert (change[case.place] > 0).sum() == 3 and not np.delete(change, case.place, axis=0).any()
    difference = [released.draw(case, which, 200_000, rng()).mean(axis=0) for which in (0, 1)]
    np.testing.assert_allclose(
        difference[0] - difference[1], np.cumsum(change, axis=0), atol=1e-5
    )  # same noise


def test_half_the_noise_of_the_square_root_is_caught():
    """Its noise is made before the trials: the audit makes it of the state's own scale."""
    assert run(setup_of("square root"), 3, "released", "half_scale", 60_000).checks["caught"]


def test_the_papers_local_noise_does_not_hide_a_replaced_user():
    """Lemma 5.6 claims ε = 1 under Definition 2.3; the attack shows more than 1.5."""
    found = released.attack(setup_of("local, paper"), None, 300_000, rng())
    assert 1.5 < found.epsilon.bound < 2.0


@pytest.mark.parametrize("name", BROKEN)
def test_every_broken_release_is_caught(name):
    of, trials = CAUGHT[name]
    setup = setup_of(of)
    checks = run(setup, 3, "released", name, trials).checks
    assert checks["caught"], (checks["audited"], checks["audited_mu"])
    honest = run(setup, 3, "released", None, min(trials, 100_000)).checks
    assert not honest["caught"]


def test_the_broken_ones_are_no_privatizers_and_certify_nothing():
    assert set(CAUGHT) == set(BROKEN) and not set(BROKEN) & set(PRIVATIZERS)
    trace = run(setup_of("central, tuned"), 0, "released", "half_scale", 1000)
    assert str(trace.certificate) == "no privacy is certified" and trace.checks["pretended"] == pytest.approx(
        1.0
    )
    assert np.isnan(trace.regret).all() and trace.episodes.tolist() == [4]


@pytest.mark.parametrize("name", ["local, paper", "local", "one_step", "one_question"])
def test_one_run_of_many_users(name):
    setup = setup_of(name, 60_001)
    found = one_run.attack(setup, rng())
    least = {"local, paper": 1.2, "local": 0.4}.get(name, 0.85)
    assert least < found.bound < setup.certificate.replace_one
    assert found.hits + found.false <= found.trials == 60_000


def bandit(privatizer, K=10, **agent):
    return set_up(random_mdp(S=1, A=2, H=1), dp.DPUCBVI(bonus_scale=1e-3, **agent), privatizer, K)


def test_the_actions_of_the_others_give_a_part_of_epsilon_away():
    settings = {"first": 1, "growth": 1.0, "drop_empty": False, "confidence_scale": 1e-3}
    setup = bandit(Batches(10.0, **settings))
    found = actions.attack(setup, 30_000, rng()).epsilon
    assert 1.5 < found.bound < setup.certificate.replace_one


def test_the_attacked_user_is_not_shown_and_those_before_her_know_nothing():
    setup = bandit(Batches(10.0, first=3, growth=1.0, drop_empty=False, confidence_scale=1e-3))
    from dpucbvi.audit.drive import on_tape
    from dpucbvi.engine.fast import start

    made = start(setup, 0)
    arrays = actions.Arrays(on_tape(made.state), on_tape(made.memory))
    assert actions.place(setup) == 2
    one, other = (actions.policies(made, arrays, 2, reward, 200, rng()) for reward in (1.0, 0.0))
    np.testing.assert_array_equal(one[:, :3], other[:, :3])
    assert (one[:, 2] == 0).all() and (one[:, 3:] != other[:, 3:]).any()


@pytest.mark.parametrize("minimum", [True, False])
def test_without_post_processing_by_hand_the_actions_are_those_of_a_run(minimum):
    """The loop of the attack is the engine's: with the user's own rewards, the same policies."""
    private = Central(10.0, confidence_scale=1e-3, sensitivity="replace_one", families="tuned")
    setup = bandit(private, K=30, minimum=minimum)
    from dpucbvi.audit.drive import on_tape
    from dpucbvi.engine.fast import start
    from dpucbvi.mdp import uniforms_per_episode
    from dpucbvi.privacy.laplace import LaplaceStream, seed_stream

    seen = []
    dp.run(
        setup.mdp,
        setup.agent,
        setup.privatizer,
        K=30,
        seed=5,
        watch=lambda k, plan, _: seen.append(plan.pi.ravel()),
    )

    class Fixed:
        """A generator that hands out the streams of the run."""

        def integers(self, *_args, **_settings):
            return LaplaceStream(seed_stream(5, "privacy")).state()[None]

        def random(self, size, **_settings):
            environment = np.random.Generator(np.random.PCG64(seed_stream(5, "environment")))
            return environment.random((30, uniforms_per_episode(1)))[None]

    made = start(setup, 0)
    arrays = actions.Arrays(on_tape(made.state), on_tape(made.memory))
    fixed = Fixed()
    original = actions.generators
    actions.generators = lambda rng, trials: rng.integers()
    try:
        played = actions.policies(made, arrays, 29, 1.0, 1, fixed)[0]
    finally:
        actions.generators = original
    np.testing.assert_array_equal(played[:29], np.array(seen)[:29])
    assert len({tuple(pi) for pi in seen}) > 1


def test_the_worst_pair_has_the_certified_loss():
    """Laplace: the pair's loss times the levels is the certificate, so that the attack aims at the worst."""
    for name, factor in (("central", 2), ("central, tuned", 2), ("local, paper", 1), ("batches", 1)):
        setup = setup_of(name)
        case = released.prepare(setup, None)
        change = np.abs(case.sigma[0] - case.sigma[1]).sum(axis=0)
        assert factor * (change / case.scale).sum() == pytest.approx(setup.certificate.replace_one)
        assert (case.sigma[0] != case.sigma[1]).any(axis=1).sum() == 1  # one user, and no other


def test_low_order_bits_are_not_read():
    seen = np.array([[[0.1234567891]]])
    assert rounded(seen) == 0.123457


def test_users_who_follow_the_policy():
    users = neighbours.all_users(2, 2, np.array([[0, 1], [1, 0]]))
    assert len(users.s) == neighbours.how_many(2, 2) == 32
    first, second = np.array([0, 1])[users.s[:, 0]], np.array([1, 0])[users.s[:, 1]]
    np.testing.assert_array_equal(users.a, np.stack([first, second], axis=1))


WRONG = {
    "attack": (("local", None), ("guess", None, 1000), "attack: 'guess' is not accepted"),
    "trials": (("local", None), ("released", None, 3), "trials: 3 is not accepted"),
    "a broken one that is none": (
        ("local", None),
        ("released", "quarter", 1000),
        "broken: 'quarter' is not accepted",
    ),
    "broken, of another": (
        ("local", None),
        ("released", "batch_twice", 1000),
        "broken: batch_twice is made of",
    ),
    "broken, another attack": (("local", None), ("one_run", "half_scale", 1000), "broken: the attack one_run"),
    "too many users": (("local", 100), ("released", None, 1000), "K: 100 is not accepted"),
    "one run, central": (("central", None), ("one_run", None, 1000), "attack: one_run is for local"),
    "one run, delta": (("local_gaussian", None), ("one_run", None, 1000), "attack: one_run is for local"),
    "actions, local": (("local", None), ("actions", None, 1000), "attack: actions is for JDP"),
    "k-ary, not full": (("kary_tree", 3), ("released", None, 1000), "K: the noises of 2 releases"),
    "relation": (("local", None), ("released", None, 1000, "neighbours"), "relation: 'neighbours' is not"),
    "relation, one run": (
        ("local", None),
        ("one_run", None, 1000, "add_remove"),
        "relation: the attack one_run",
    ),
    "relation, answers": (
        ("one_step", None),
        ("released", None, 1000, "add_remove"),
        "relation: add_remove takes",
    ),
    "actions, beforehand": (("square root", None), ("actions", None, 1000), "attack: actions takes simulated"),
    "nothing clipped": (("gaussian_tree", None), ("released", "unclipped", 1000), "broken: unclipped needs"),
    "not pooled": (
        ("gaussian_tree", None),
        ("released", "pooled_as_per_step", 1000),
        "broken: pooled_as_per_step",
    ),
}


@pytest.mark.parametrize(("setup", "settings", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_audit_is_told_in_one_line(setup, settings, message):
    with pytest.raises(dp.InputError) as error:
        check(setup_of(*setup), *settings)
    assert str(error.value).startswith(message) and "\n" not in str(error.value)


@pytest.mark.parametrize("privatizer", [dp.OneStep(1.0), dp.OneQuestion(1.0)])
def test_users_give_epsilon_away_before_anything_is_released(privatizer):
    """Two users answer, and the first release would be after a hundred: their answers are there to attack."""
    setup = set_up(random_mdp(S=2, A=1, H=1), dp.DPUCBVI(), privatizer, 3)
    assert 0.6 < released.attack(setup, None, 20_000, rng()).epsilon.bound <= setup.certificate.replace_one


@pytest.mark.parametrize("attack", ["released", "one_run"])
@pytest.mark.parametrize("privatizer", [dp.NonPrivate()])
def test_what_is_not_private_cannot_be_audited(privatizer, attack):
    setup = set_up(random_mdp(S=2, A=1, H=1), dp.DPUCBVI(), privatizer, 4)
    with pytest.raises(dp.InputError, match="certifies something"):
        check(setup, attack, None, 1000)
    assert broken(None, setup) is None and ALPHA * 140 < 1e-6
