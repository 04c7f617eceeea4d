"""experiments/ship.py: what is stored ships if conf/exp says the same of it, and one wrong costs no other."""

import pytest
from tiny_house import House

from dpucbvi.errors import InputError
from experiments import paper
from experiments.studies.artifact.conf import check_index


@pytest.fixture
def house(tmp_path, monkeypatch):
    return House(tmp_path, monkeypatch)


@pytest.fixture
def press(house, cli):
    def call(*names: str):
        folders = ["--results", str(house.results), "--paper", str(house.folder / "paper")]
        code, *texts = cli(*names, *folders, script="ship")
        return code, *(text.splitlines() for text in texts)

    return call


def test_what_has_shipped_and_is_not_stored_is_left_as_it_is(house, press):
    house.run("one")
    code, out, err = press()
    assert code == 1 and [line.partition(":")[0] for line in out] == ["one"]
    assert len(err) == 1 and err[0].startswith("error: two: not stored in ")  # nor has it shipped
    house.run("two")
    assert press()[::2] == (0, []) and house.shipped == ["one", "two"]
    house.store.file("one").unlink()
    code, out, err = press()
    assert (code, err) == (0, []) and out[0].startswith("two: 2 runs in ")
    assert out[1:] == [f"1 not stored in {house.results}: they stay as they have shipped"]
    code, out, err = press("one")
    assert (code, out) == (1, []) and err[0].startswith("error: one: not stored in ")


@pytest.mark.parametrize(
    "damage, said",
    [
        (lambda house: house.store.file("one").write_text(""), "one: not (completely) stored in "),
        (lambda house: house.edit("one", "study:", "study: ["), "one: "),
        (lambda house: house.edit("one", "name: one", "defaults: [/env: x]"), "one: env: no option 'x'"),
        (lambda house: house.edit("one", "env: {S", "env: {Z: 1, S"), "one: "),
    ],
    ids=["empty index", "no YAML", "Hydra", "no such key"],
)  # fmt: skip
def test_one_that_is_wrong_costs_no_other(house, press, damage, said):
    for name in ("one", "two"):
        house.run(name)
    damage(house)
    code, out, err = press()
    assert code == 1 and house.shipped == ["two"] and len(out) == 1
    assert len(err) == 1 and err[0].startswith(f"error: {said}")


OTHER = {
    "a: label": ("label: A", "label: C"),
    "a: panel": ("panel: left", "panel: right"),
    "a: printed": ("printed: jdp_eps1", "printed: jdp_eps2"),
    "b@bonus.scale=0.25, b@bonus.scale=0.5": ("[0.5]", "[0.25]"),
    "a: runs, b@bonus.scale=0.5: runs": ("K: 5", "K: 6"),
    "study": ("study: regret", "study: literal"),
    "c": ("arms:", "arms:\n  c: {}"),
}


@pytest.mark.parametrize("what", OTHER)
def test_nothing_ships_or_is_drawn_under_another_label_than_conf_says(house, press, what):
    house.run("one")
    assert press("one")[0] == 0
    before = (house.folder / "paper" / "results" / "manifest.json").read_bytes()
    publisher = paper.Publisher(house.results, house.folder / "paper")
    publisher.publish("one")
    house.edit("one", *OTHER[what])
    code, out, err = press("one")
    assert (code, out, len(err)) == (1, [], 1)
    assert err[0].startswith(f"error: one: has other settings than conf/exp/one.yaml ({what}); run it again")
    assert (house.folder / "paper" / "results" / "manifest.json").read_bytes() == before
    with pytest.raises(InputError) as error:
        publisher.publish("one")
    assert f"error: {error.value}" == err[0]
    if what != "study":  # `literal` has arms of its own
        house.run("one")
        assert press("one")[0] == 0


def test_a_changed_experiment_and_another_order_of_arms_are_not_what_conf_says(house):
    house.run("one")
    found = house.store.load_experiment("one")
    check_index("one", found)
    with pytest.raises(InputError, match=r"\(changed: K=5\)"):
        check_index("one", found._replace(changed=("K=5",)))
    with pytest.raises(InputError, match=r"\(the order of its arms\)"):
        check_index("one", found._replace(arms=found.arms[::-1]))
    with pytest.raises(InputError, match=r"^mine: no such experiment; it must be one of one, two$"):
        check_index("mine", found)
