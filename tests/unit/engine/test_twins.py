"""What the fast engine runs: every agent and privatizer of the package, and nothing with a part left out."""

import dpucbvi as dp
from dpucbvi.agents import AGENTS
from dpucbvi.agents.own import has_plan
from dpucbvi.engine.compiled import cacheable, is_the_packages
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.privatizers.arrays import has_take


def made(name):
    return dp.NonPrivate() if name == "non_private" else PRIVATIZERS[name](epsilon=1.0)


def test_all_of_the_package_is_compiled_and_cached():
    assert all(has_plan(AGENTS[name]()) and cacheable(AGENTS[name]().plan) for name in AGENTS)
    assert all(has_take(made(name)) for name in PRIVATIZERS)
    assert all(is_the_packages(made(name).take) for name in PRIVATIZERS)


def test_an_agent_that_changes_more_than_its_plan_is_not_run_by_its_plan():
    class Mine(dp.UCBVI):
        def algorithm(self, problem, private, constants):
            return super().algorithm(problem, private, constants)

    class MyPlan(dp.UCBVI):
        @staticmethod
        def plan(c, counts, values, k):
            values.pi[:] = 0

    assert not has_plan(Mine())
    assert has_plan(MyPlan()) and not cacheable(MyPlan().plan)
    assert not has_plan(dp.simulate.OwnAgent(lambda problem, private: None))


def test_a_privatizer_that_changes_more_than_its_take_is_not_run_by_it():
    class Same(dp.Local):
        pass

    class MyTake(dp.Local):
        @staticmethod
        def take(state, t, user, noisy):
            return False

    class MyRelease(dp.Local):
        def release(self, problem, G, seed, *draws):
            return super().release(problem, G, seed, *draws)

    assert has_take(Same(1.0)) and is_the_packages(Same(1.0).take)
    assert has_take(MyTake(1.0)) and not is_the_packages(MyTake(1.0).take)
    assert not has_take(MyRelease(1.0))
