"""What was calibrated is what is run, and nothing that is shown was used for it."""

import csv
import math
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from experiments.lab.compose import composed

ROOT = Path(__file__).resolve().parents[2]
CONF, RESULTS = ROOT / "conf", ROOT / "paper" / "results"
FIRST_SEED, LAST_SEED = 1000, 2000  # of the calibrations and the fit
Factors = tuple[float, ...]  # on the bonus and, where there is noise, on E


def arm_of(file: str):
    return OmegaConf.load(CONF / "arm" / f"{file}.yaml")


def factors_of(row) -> Factors:
    return tuple(float(row[key]) for key in ("bonus_factor", "confidence_factor") if row[key])


@cache
def calibrated(name: str) -> dict[str, dict[Factors, tuple[float, str]]]:
    """For every algorithm of a calibration its points, each with the objective and whether it was chosen."""
    rows = list(csv.DictReader((RESULTS / f"{name}.csv").open()))
    found: dict = {row["algorithm"]: {} for row in rows}
    for row in rows:
        assert factors_of(row) not in found[row["algorithm"]]
        found[row["algorithm"]][factors_of(row)] = float(row["objective"]), row["chosen"]
    return found


def chosen(name: str, algorithm: str) -> Factors:
    (found,) = [at for at, (_, is_chosen) in calibrated(name)[algorithm].items() if is_chosen == "1"]
    return found


def has(arm, factors: Factors) -> bool:
    return arm.bonus.scale == factors[0] and (len(factors) == 1 or arm.confidence.scale == factors[1])


def alike(one, other, *settings: str) -> bool:
    return all(one.get(name) == other.get(name) for name in settings)


def remoteness(at: Factors, others: list[Factors]) -> float:
    return sum(abs(math.log10(x / y)) for other in others for x, y in zip(at, other, strict=True))


@pytest.mark.parametrize("name", ["calibrate", "calibrate_mechanisms", "calibrate_table1", "calibrate_windows"])
def test_every_algorithm_has_one_choice_and_it_is_in_the_middle_of_its_valley(name):
    """The points within 10% of the least objective; 0.1 for the rounding of the file."""
    for algorithm, points in calibrated(name).items():
        at, least = chosen(name, algorithm), min(value for value, _ in points.values())
        valley = [factors for factors, (value, _) in points.items() if value <= 1.1 * least + 0.1]
        assert at in valley
        assert remoteness(at, valley) <= min(remoteness(other, valley) for other in valley) + 1e-9


@pytest.mark.parametrize(
    ("name", "points"),
    [("calibrate", {2: 16, 1: 9}), ("calibrate_mechanisms", {2: 16}), ("calibrate_table1", {2: 20, 1: 7})],
)
def test_what_is_compared_was_calibrated_at_the_same_points(name, points):
    """Of algorithms with so many factors; in every environment."""
    grids: dict[int, set] = {}
    for grid in calibrated(name).values():
        grids.setdefault(len(next(iter(grid))), set()).add(frozenset(grid))
    assert {factors: [len(grid) for grid in same] for factors, same in grids.items()} == {
        factors: [n] for factors, n in points.items()
    }


@pytest.mark.parametrize("name", sorted(path.stem for path in (CONF / "exp").glob("*.yaml")))
def test_the_seeds_of_the_calibration_are_used_nowhere_else(name):
    config = composed(name)
    last = config.seed + config.runs
    if name.startswith("calibrate") or name == "explain_fit":
        assert FIRST_SEED <= config.seed and last <= LAST_SEED
    else:
        assert last <= FIRST_SEED or config.seed >= LAST_SEED


# --- the algorithms of Figure 1 and Table 1 -----------------------------------------------------------------


def test_the_arms_have_the_chosen_factors():
    arms = {str(arm.label): arm for arm in map(OmegaConf.load, (CONF / "arm").glob("*.yaml"))}
    for algorithm in set(calibrated("calibrate")) - {"DP-UCBVI, pooled"}:
        assert has(arms[algorithm], chosen("calibrate", algorithm)), algorithm


@pytest.mark.parametrize("name", ["epsilon", "privacy_for_free"])
def test_pooled_counts_have_the_factors_chosen_for_counts_per_step(name):
    arms = composed(name).arms.values()
    private = [arm for arm in arms if arm.agent.name == "dp_ucbvi" and arm.agent.get("pooled")]
    assert private and all(has(arm, chosen("calibrate", "DP-UCBVI")) for arm in private)


ENVIRONMENTS = {
    "riverswim": "RiverSwim",
    "chain": "chain",
    "random": "random MDP",
    "hard_tree": "hard instance",
}
MODELS = {"central": ", JDP", "local": ", LDP", "non_private": ""}


def test_table_1_is_run_with_the_factors_chosen_in_each_environment():
    """The arms of conf/arm have those of RiverSwim, under JDP where there are both models."""
    arms = composed("table1").arms
    assert len(arms) == len(calibrated("calibrate_table1")) == 4 * 11
    for key, arm in arms.items():
        name = f"{ENVIRONMENTS[arm.env.name]}: {arm.label}{MODELS[arm.privatizer.name]}"
        assert has(arm, chosen("calibrate_table1", name)), key
    for file in ("pucb", "ldp_obi", "private_ucb_po", "ucbvi_refined"):
        first = next(one for one in arms.values() if one.agent.name == arm_of(file).agent.name)
        assert alike(arm_of(file), first, "bonus", "confidence", "label")


def test_every_system_of_table_1_is_calibrated_as_it_is_run():
    tuned, run = composed("calibrate_table1"), composed("table1")
    assert len(tuned.arms) == 11
    for (key, arm), env in product(tuned.arms.items(), tuned.grid["env.name"]):
        other = run.arms[f"{env}_{key}"]
        assert other.env.name == env
        assert alike(arm, other, "label", "agent", "privatizer", "postprocess"), key


# --- the mechanisms ---------------------------------------------------------------------------------------

FILES = {"batches": "pooled_batches", "toeplitz": "pooled_toeplitz", "one_question": "pooled_one_question"}


def chosen_of(key: str) -> Factors:
    """Of an arm of calibrate_mechanisms."""
    arm = composed("calibrate_mechanisms").arms[key]
    return chosen("calibrate_mechanisms", f"{arm.label}, {arm.panel}")


def test_every_mechanism_has_the_factors_chosen_for_it_and_is_else_as_it_was_calibrated():
    run, tuned = composed("mechanisms").arms, composed("calibrate_mechanisms").arms
    assert len(calibrated("calibrate_mechanisms")) == len(tuned)
    for key, arm in tuned.items():
        assert has(run[key], chosen_of(key)), key
        assert alike(run[key], arm, "panel", "label", "agent", "privatizer", "postprocess"), key


@pytest.mark.parametrize("name", FILES)
def test_an_arm_for_other_experiments_is_the_mechanism_with_its_chosen_factors(name):
    assert has(arm_of(name), chosen_of(FILES[name]))
    tuned = composed("calibrate_mechanisms").arms[FILES[name]]
    assert alike(arm_of(name), tuned, "label", "agent", "privatizer", "postprocess")


@pytest.mark.parametrize("way", ["pooled", "step", "windows", "pure", "local"])
def test_every_way_to_count_has_the_factors_chosen_for_it_on_all_environments(way):
    tuned = composed("calibrate_windows").arms[f"river_{way}"]
    run = [arm for arm in composed("windows").arms.values() if arm.label == tuned.label]
    assert len(run) >= 2 and all(arm.privatizer == tuned.privatizer for arm in run)
    assert all(has(arm, chosen("calibrate_windows", tuned.label)) for arm in run)


@pytest.mark.parametrize(("name", "n"), [("mechanisms", 16), ("riverswim", 4)])
def test_levers_elsewhere_and_other_privatizers_are_run_with_the_factors_of_their_arm(name, n):
    arms = [
        arm for arm in composed(name).arms.values() if arm.get("panel") in ("levers", "elsewhere", "others")
    ]
    assert len(arms) == n
    for arm in arms:
        privatizer = arm.privatizer.name if arm.privatizer.name in FILES else "batches"  # without privacy
        assert has(arm, chosen_of(FILES[privatizer]))


# --- what would explain Figure 1 ----------------------------------------------------------------------------

FIT = {
    row["hypothesis"]: factors_of(row)
    for row in csv.DictReader((RESULTS / "explain_fit.csv").open())
    if row["chosen"] == "1"
}


@pytest.mark.parametrize("hypothesis", FIT)
def test_a_hypothesis_about_the_printed_figure_is_run_with_its_fitted_factors(hypothesis):
    arms = [arm for arm in composed("explain").arms.values() if arm.panel == hypothesis]
    assert len(arms) == (1 if hypothesis.endswith("ucbvi") else 2)
    assert all(has(arm, FIT[hypothesis]) for arm in arms)


def test_the_fitted_panel_of_figure_1_is_lap_1_over_epsilon_in_the_tree():
    arms = composed("riverswim").arms
    assert has(arms.fitted_ucbvi, FIT["step_ucbvi"])
    assert all(has(arms[f"fitted_{curve}"], FIT["step_bare"]) for curve in ("jdp_eps1", "jdp_eps2", "ldp_eps2"))
