"""A privatizer that lacks something, or has no budget, is refused in one line and never gets a certificate."""

import math
from dataclasses import dataclass, fields

import pytest

import dpucbvi as dp
from dpucbvi.privacy.draws import answer_odds
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.privatizers.one_question import MOST_SIMULATED
from dpucbvi.simulate import set_up
from experiments.lab.assemble import assemble
from experiments.lab.settings import EngineSettings, RunSettings

RIVER = dp.riverswim(3, 4)
ENGINES = [None, "reference", "fast"]
WITH_BUDGET = [name for name in PRIVATIZERS if name != "non_private"]
ODD = [1e-300, 0.0, -1.0, True, False, math.nan, math.inf, "1"]
SMALL = dp.Problem(4, 3, 2, 100, 0.05)


@pytest.mark.parametrize("name", WITH_BUDGET)
@pytest.mark.parametrize("budget", ODD, ids=repr)
def test_an_odd_budget_is_refused_in_one_line_before_anything_runs(name, budget):
    kind = PRIVATIZERS[name]
    keys = {"epsilon", "delta"} & {field.name for field in fields(kind)}
    pure = name in ("batches", "windows") and budget == 0.0 and budget is not False
    for key in keys - ({"delta"} if pure else set()):
        with pytest.raises(dp.InputError, match=rf"^{key}: .* is not accepted; it must be [^\n]*$"):
            kind(**{"epsilon": 1.0, key: budget})


@pytest.mark.parametrize("name", WITH_BUDGET)
@pytest.mark.parametrize("noise", ["simulation", "exact"])
def test_the_least_budgets_have_a_certificate_or_are_refused_in_one_line(name, noise):
    """ε and δ of 1e-100, and the largest ε that there is: numbers or InputError, never another error."""
    kind = PRIVATIZERS[name]
    keys = {field.name for field in fields(kind)}
    more = {"noise": noise} if "noise" in keys else {}
    for budget in ({"epsilon": 1e-100}, {"epsilon": 1.0, "delta": 1e-100}, {"epsilon": 1e-100, "delta": 1e-100},
                   {"epsilon": 1e300}):  # fmt: skip
        if set(budget) <= keys:
            try:
                setup = set_up(RIVER, dp.DPUCBVI(), kind(**budget, **more), SMALL.K)
                assert 0.0 <= setup.certificate.add_remove <= setup.certificate.replace_one
            except dp.InputError as error:
                assert "\n" not in str(error)


def test_simulated_answers_whose_coins_are_certain_are_refused():
    """The probability of the truth is a float below 1 as far as they are accepted, and is 1 above."""
    with pytest.raises(dp.InputError, match=r"^epsilon: 40 is not accepted; simulated answers take .* to 36,"):
        dp.OneQuestion(40.0)
    assert dp.OneQuestion(40.0, noise="exact").certificate(SMALL, 4).replace_one == 40.0
    assert answer_odds(MOST_SIMULATED, 3)[0] < 1.0 == answer_odds(40.0, 3)[0]


class Nothing:
    """A class without any of the methods."""


@dataclass(frozen=True)
class Uncertified:
    """It says JDP, has a noise and a release, but no certificate."""

    epsilon: float = 1.0

    model = "JDP"
    families = "paper"

    def noise_of(self, problem, G):
        return dp.Noise(scale=1.0, E=1.0)

    def release(self, problem, G, seed):
        return dp.NonPrivate().release(problem, G, seed)


class SaysNothing(Uncertified):
    def certificate(self, problem, G):
        return None


class SaysAnotherModel(Uncertified):
    def certificate(self, problem, G):
        return dp.Certificate("LDP", 0.1, 0.2)


class Invented(Uncertified):
    model = "perfect"

    def certificate(self, problem, G):
        return dp.Certificate("perfect", 0.0, 0.0)


NEEDS = "is not accepted; it must be an object with model, families, noise_of, certificate, release"
NONSENSE = {
    "nothing": (Nothing(), f"Nothing {NEEDS}"),
    "a name": ("central", f"str {NEEDS}"),
    "a class": (dp.Central, f"Central {NEEDS}"),
    "no certificate": (Uncertified(), f"Uncertified {NEEDS}"),
    "certificate None": (SaysNothing(), "SaysNothing has no certificate of JDP"),
    "another model": (SaysAnotherModel(), "SaysAnotherModel has no certificate of JDP"),
    "no such model": (Invented(), "its model: 'perfect' is not one of JDP, LDP, none"),
}


def refusal(run):
    """The one line in which it is refused."""
    with pytest.raises(dp.InputError) as error:
        run()
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(("privatizer", "message"), NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_refused_by_the_door_and_by_set_up(privatizer, message):
    assert refusal(lambda: set_up(RIVER, dp.DPUCBVI(), privatizer, 5)) == f"privatizer: {message}"
    for engine in ENGINES:
        told = refusal(lambda: dp.run(RIVER, dp.DPUCBVI(), privatizer, K=5, engine=engine))  # noqa: B023
        assert told == f"privatizer: {message}"


class Complete(Uncertified):
    """All that is asked for; what it certifies is its author's affair."""

    def certificate(self, problem, G):
        return dp.Certificate("JDP", 7.0, 14.0)


def test_what_has_everything_runs_with_its_own_certificate(monkeypatch):
    """Control: the refusals above are about what is missing."""
    run = dp.run(RIVER, dp.DPUCBVI(), Complete(), K=5)
    assert run.certificate == dp.Certificate("JDP", 7.0, 14.0)
    monkeypatch.setitem(PRIVATIZERS, "complete", Complete)
    settings = RunSettings(privatizer={"name": "complete"}, engine=EngineSettings("reference"), K=5)
    assert assemble(settings).certificate == dp.Certificate("JDP", 7.0, 14.0)
    quick = dp.run(RIVER, dp.DPUCBVI(), Complete(), K=5, engine="fast")
    assert quick.certificate == run.certificate and (quick.N_sa == run.N_sa).all()
