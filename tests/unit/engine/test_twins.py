"""Every agent and privatizer of the package has a compiled twin, found by its exact class."""

import dpucbvi as dp
from dpucbvi.agents import AGENTS
from dpucbvi.engine.twins import PLANS, RELEASES, has_plan, has_release
from dpucbvi.privatizers import PRIVATIZERS


def made(name):
    return dp.NonPrivate() if name == "non_private" else PRIVATIZERS[name](epsilon=1.0)


def test_all_of_the_package_is_compiled():
    assert all(has_plan(AGENTS[name]()) for name in AGENTS)
    assert all(has_release(made(name)) for name in PRIVATIZERS)
    assert set(PLANS) == {AGENTS[name] for name in AGENTS}
    assert set(RELEASES) == {PRIVATIZERS[name] for name in PRIVATIZERS}


def test_no_two_twins_share_what_they_are_known_by_when_compiled():
    known = {twin.constants: twin.plan for twin in PLANS.values()}  # who shares its constants shares its plan
    assert all(known[twin.constants] is twin.plan for twin in PLANS.values())
    assert len({twin.state for twin in RELEASES.values()}) == len(RELEASES)


def test_a_subclass_is_another_class():
    """Whatever it changes would be left out by its parent's twin."""

    class Mine(dp.UCBVI):
        pass

    class MyLocal(dp.Local):
        pass

    assert not has_plan(Mine())
    assert not has_release(MyLocal(1.0))
