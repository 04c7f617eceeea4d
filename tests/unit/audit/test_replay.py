"""The replay: the loss that it finds is the certified one, to the last digit, and no mistake passes."""

import dataclasses
import math
from functools import cache

import numpy as np
import pytest
import theory
from own_privatizers import Fresh, MoreNoiseIfPaid, TenthOfTheNoise, WhenPaid

import dpucbvi as dp
from dpucbvi.audit import replay, worlds
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.protocol import Problem
from dpucbvi.simulate import fitted
from experiments.lab.audit import BROKEN, Broken, Mistake, broken
from experiments.lab.compose import privatizers

SETTINGS = {"sensitivity": "replace_one", "families": "tuned", "first": 1, "growth": 1.5}


def made(name, **settings):
    taken = {field.name for field in dataclasses.fields(PRIVATIZERS[name])}
    return PRIVATIZERS[name](1.0, **{key: value for key, value in settings.items() if key in taken})


def found(privatizer, **sizes):
    """What the replay alone finds, by relation."""
    audit = dp.audit(privatizer, **{"A": 1, "K": 6, "trials": 0, **sizes})
    return {one.relation: one for one in audit.findings if one.attack == "replay"}, audit


@pytest.mark.parametrize("name", privatizers())
def test_the_loss_is_the_certified_one_for_every_privatizer_of_the_registry(name):
    """For a user added and for one replaced: ε is attained, and so is μ of Gaussian noise."""
    losses, audit = found(made(name, **SETTINGS))
    if not losses:
        assert PRIVATIZERS[name].model == "LDP" and audit.notes[0].startswith("not replayed: it draws noise")
        return
    assert audit.verdict == "below its certificate"
    added, replaced = losses["add_remove"], losses["replace_one"]
    assert added.found == pytest.approx(added.declared, rel=1e-9)
    assert replaced.found == pytest.approx(replaced.declared, rel=1e-9)


@pytest.mark.parametrize("name", privatizers("exact"))
def test_exact_noise_is_replayed_too(name):
    losses, audit = found(made(name, **SETTINGS, noise="exact"))
    assert audit.certificate.noise == "release" and not audit.caught
    for one in losses.values():
        assert 0.9 * one.declared < one.found <= one.declared * (1 + 1e-9)


TWO = {"first": 2, "growth": 1.0}
SPLIT = {**TWO, "power": 0.0, "z": 0.0, "tolerance": 0.0, "theta": 0.0}  # all windows, once two kinds are known
WHOLE = {**TWO, "z": 1e9}  # none: of noise per step, what is seen is the sum over all steps
SHAPES = {
    "pooled": (dp.Batches(1.0, first=2, growth=1.5), {"pooled": True, "H": 3}),
    "symbols": (dp.Batches(1.0, families="symbols", first=2, growth=1.5), {}),
    "Gaussian symbols": (dp.Batches(1.0, delta=1e-6, families="symbols", first=2, growth=1.5), {}),
    "clipped": (dp.Toeplitz(1.0, clip=1), {"pooled": True}),
    "policies of probabilities": (dp.Batches(1.0, first=2, growth=1.5), {"stochastic": True, "A": 2}),
    "cells of the policy": (dp.Batches(1.0, first=2, growth=1.5), {"A": 2}),
    "a release every 2": (dp.Central(1.0, every=2), {"K": 8}),
    "a tree that is not full": (dp.KaryTree(1.0, k=5), {"K": 4}),
    "the paper's families": (dp.Central(1.0), {}),
    "windows, pooled": (dp.Windows(1.0, pooled=8, **SPLIT), {"H": 3}),
    "windows, per step": (dp.Windows(1.0, pooled=0, **WHOLE), {"A": 2}),
    "windows, per step, Gaussian": (dp.Windows(1.0, delta=1e-6, pooled=0, **WHOLE), {}),
    "windows, at three levels": (dp.Windows(1.0, pooled=2, **SPLIT), {"H": 3, "K": 7}),
    "windows, exact": (dp.Windows(1.0, pooled=8, noise="exact", **SPLIT), {"A": 2}),
    "windows, exact, both kinds": (dp.Windows(1.0, delta=1e-6, pooled=2, noise="exact", **SPLIT), {}),
}


@pytest.mark.parametrize("name", SHAPES)
def test_other_shapes(name):
    privatizer, sizes = SHAPES[name]
    losses, audit = found(privatizer, **sizes)
    assert not audit.caught and all(one.found > 0.9 * one.declared for one in losses.values())


@pytest.mark.slow
def test_more_users_than_can_be_tried_are_searched():
    """H = S = 3, A = 2: 5,184 users; those who stay and random ones find the certified loss."""
    losses, audit = found(dp.Batches(1.0, first=2, growth=1.5), H=3, S=3, A=2)
    assert not audit.caught and losses["replace_one"].found == pytest.approx(1.0)


def test_a_user_who_repeats_one_action_is_tried_among_many():
    """Pooled counts with Gaussian noise move most if all visits are in one cell, whatever the policy says."""
    problem, rng = Problem(3, 3, 2, 3, 0.05), np.random.default_rng(1)
    setup = fitted(dp.DPUCBVI(pooled=True), dp.Toeplitz(1.0), problem)
    changing = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])  # no state has one action at all steps
    searched = replay.replay(setup, worlds.world(setup, rng, False)._replace(policies=(changing,) * 2), rng)
    for relation, pair in searched.worst.items():
        assert pair.found == pytest.approx(replay.declared(setup.certificate, relation), rel=1e-9)


@pytest.mark.parametrize(("name", "matrix"), [("central", theory.binary_tree), ("toeplitz", theory.toeplitz)])
def test_the_matrix_that_is_read_off_is_that_of_the_theory(name, matrix):
    """Every counter has the B of the mechanism's definition, and no other's noise."""
    setup = fitted(dp.DPUCBVI(), made(name, **SETTINGS), Problem(1, 2, 1, 6, 0.05))
    world = worlds.world(setup, np.random.default_rng(0), False)
    base = replay.play(setup, world, replay.FAR)
    B, T = replay.responses(setup, world, base, replay.FAR * base.scale).B, len(base.when)
    counters, released = base.values.size // T, base.sizes[0]
    shaped = B.reshape(T, counters, T, released)[:, counters - released :]
    for c in range(released):
        np.testing.assert_allclose(shaped[:, c, :, c], matrix(T), atol=1e-9)
        assert not np.delete(shaped[:, c], c, axis=2).any()


# --- mistakes -------------------------------------------------------------------------------------------------

BASES = {
    dp.Central: dp.Central(1.0, sensitivity="replace_one", families="tuned"),
    dp.Local: dp.Local(1.0, sensitivity="replace_one", families="tuned"),
    dp.Batches: dp.Batches(1.0, first=2, growth=1.0, drop_empty=False),
    dp.Toeplitz: dp.Toeplitz(1.0),
    dp.Windows: dp.Windows(1.0, pooled=2, **SPLIT),
}


def mistaken(name, **sizes):
    pooled = BROKEN[name].of is dp.Toeplitz
    problem = Problem(2, 2, sizes.get("A", 2), sizes.get("K", 6), 0.05)
    return broken(name, fitted(dp.DPUCBVI(pooled=pooled), BASES[BROKEN[name].of], problem))


LOSSES = {  # what each mistake costs, in units of what is declared; at K = 6 a tree has 3 levels and 5 releases
    "ten_percent": 1 / 0.9,
    "three_percent": 1 / 0.97,
    "fresh_noise": 5 / 3,
    "two_batches": 2.0,
    "released_again": 2.0,
    "two_windows": 2.0,
    "pooled_as_per_step": math.sqrt(2.0),
}
NOT_HIDDEN = ("one_noise", "claimed_policy", "chosen_by_its_data", "noise_of_a_pair")


@pytest.mark.parametrize("name", [*LOSSES, *NOT_HIDDEN])
def test_every_mistake_is_caught_without_a_trial(name):
    pooled, A = BROKEN[name].of is dp.Toeplitz, 1 if name in LOSSES else 2
    audit = dp.audit(mistaken(name).privatizer, A=A, K=6, trials=0, pooled=pooled)
    added = {one.relation: one for one in audit.findings}["add_remove"]
    assert audit.caught and audit.verdict.startswith("caught: replay")
    assert added.found / added.declared == pytest.approx(LOSSES.get(name, math.inf), rel=1e-9)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("pooled", [0, 8])
def test_a_user_in_two_batches_of_windows_is_caught_in_both_phases(pooled, delta):
    """Twice the ε of a Laplace batch; √2 of the μ of a Gaussian one: the first two batches."""
    inner = dp.Windows(1.0, delta=delta, pooled=pooled, **(SPLIT if pooled else WHOLE))
    audit = dp.audit(Broken(inner, BROKEN["two_windows"]), A=1, K=5, trials=0)
    added = {one.relation: one for one in audit.findings}["add_remove"]
    assert not dp.audit(inner, A=1, K=5, trials=0).caught and audit.caught
    expected = math.sqrt(2.0) if delta and not pooled else 2.0
    assert added.found / added.declared == pytest.approx(expected, rel=1e-9)


def split(delta, noise="simulation"):
    """Windows whose tests all fail: what is handed on jumps with every noise."""
    return dp.Windows(1.0, delta=delta, pooled=0, noise=noise, **SPLIT)


@pytest.mark.parametrize("noise", ["simulation", "exact"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_windows_that_jump_are_replayed_by_what_was_published(delta, noise):
    """Once caught with an infinite loss: the noise that hides a user from the releases was not looked for."""
    losses, audit = found(split(delta, noise))
    assert not audit.caught and [one.found for one in losses.values()] == pytest.approx(
        [one.declared for one in losses.values()], rel=1e-3
    )


@pytest.mark.slow
def test_attacks_on_windows_that_jump_look_at_what_is_handed_on():
    findings = found(split(1e-6, "exact"), trials=40)[1].findings
    assert [one.attack for one in findings].count("releases") == 4 and not any(one.caught for one in findings)


def past_the_release(take, state, t, user, noisy):
    """Her rewards are added to what was learnt from releases."""
    state.levels.Y[:, 0, 0] += user.r.sum()
    return take(state, t, user, noisy)


PAST = Mistake("", dp.Windows, take=past_the_release)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(
    "mistake", [BROKEN[name] for name in ("two_windows", "chosen_by_its_data", "noise_of_a_pair")] + [PAST]
)
def test_mistakes_of_windows_that_jump_are_caught(mistake, delta):
    assert found(Broken(split(delta), mistake))[1].verdict.startswith("caught: replay")


def test_the_mistakes_are_all_there_and_no_two_are_the_same():
    assert {*LOSSES, *NOT_HIDDEN, "retried"} == set(BROKEN)
    assert len({one.words for one in BROKEN.values()}) == len(BROKEN)
    assert sum(1.0 < loss < 1.12 for loss in LOSSES.values()) == 2  # defects of 10% and less


@pytest.mark.parametrize("name", ["central", "batches", "toeplitz"])
def test_a_millionth_of_the_noise_is_noticed(name):
    """The smallest defect of scale is what the loss leaves of the certificate: here nothing, up to rounding."""
    inner = made(name, **SETTINGS)
    losses = found(inner)[0].values()
    assert max(one.found / one.declared for one in losses) == pytest.approx(1.0, abs=1e-8)
    less = Broken(inner, Mistake("", type(inner), factor=lambda _: 1.0 - 1e-6))
    assert dp.audit(less, A=1, K=4, trials=0).caught
    assert not dp.audit(Broken(inner, Mistake("", type(inner))), A=1, K=4, trials=0).caught


# --- strangers ------------------------------------------------------------------------------------------------


@cache
def strangers(privatizer):
    return found(privatizer)


def test_the_privatizer_of_contributing_keeps_its_certificate():
    losses, audit = strangers(Fresh(1.0))
    assert audit.verdict == "below its certificate" and "Fresh" in str(audit)
    assert [losses[key].found for key in ("add_remove", "replace_one")] == pytest.approx([1.0, 2.0])


def test_with_a_tenth_of_its_noise_it_is_caught():
    losses, audit = strangers(TenthOfTheNoise(1.0))
    assert audit.verdict.startswith("caught: replay") and losses["replace_one"].found == pytest.approx(20.0)


def test_when_something_is_released_and_what_is_drawn_must_not_move():
    for privatizer, words in (
        (WhenPaid(1.0), "when something is released"),
        (MoreNoiseIfPaid(1.0), "which noise"),
    ):
        one, *_ = dp.audit(privatizer, A=1, K=4, trials=0).findings
        assert one.caught and one.how.startswith(words) and math.isinf(one.found)


def test_what_passes_an_audit_is_certified_as_audited_and_what_is_caught_is_refused():
    """A proof stays a proof, and an audit of one privatizer says nothing of another."""
    sizes = {"H": 2, "S": 2, "A": 1, "K": 6}
    audits = [strangers(one(1.0))[1] for one in (Fresh, TenthOfTheNoise)]
    assert dp.certify(Fresh(1.0), **sizes).basis == "declared"
    assert dp.certify(Fresh(1.0), **sizes, audit=audits[0]).basis == "audited"
    with pytest.raises(dp.InputError, match=r"^audit: TenthOfTheNoise is caught: replay"):
        dp.certify(TenthOfTheNoise(1.0), **sizes, audit=audits[1])
    for other in (audits[0], "passed"):
        with pytest.raises(dp.InputError, match=r"^audit: it must be the result of dp.audit for Central"):
            dp.certify(dp.Central(1.0), **sizes, audit=other)
    assert dp.certify(dp.Central(1.0), **sizes, audit=found(dp.Central(1.0))[1]).basis == "proven"


def test_an_audit_of_exact_answers_is_the_same_every_time():
    """No word is the operating system's: which numbers are looked at once depended on it."""
    exact = dp.OneQuestion(1.0, first=1, growth=1.5, noise="exact")
    one, other = (dp.audit(exact, A=1, K=4, trials=200) for _ in range(2))
    assert one.findings == other.findings
