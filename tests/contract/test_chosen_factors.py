"""What was calibrated is what is run, and nothing that is shown was used for it."""

import csv
import math
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

ROOT = Path(__file__).resolve().parents[2]
CONF, RESULTS = ROOT / "conf", ROOT / "paper" / "results"
POOLED = "DP-UCBVI, pooled"
FIRST_SEED, LAST_SEED = 1000, 2000  # of the calibrations and the fit
ROWS = list(csv.DictReader((RESULTS / "calibrate.csv").open()))
CHOSEN = {row["algorithm"]: row for row in ROWS if row["chosen"] == "1"}
ARMS = {str(arm.label): arm for arm in map(OmegaConf.load, (CONF / "arm").glob("*.yaml"))}


@cache
def exp(name: str):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", [f"+exp={name}"])


def factors_of(row) -> tuple[float, ...]:
    return tuple(float(row[key]) for key in ("bonus_factor", "confidence_factor") if row[key])


def remoteness(at, others) -> float:
    return sum(abs(math.log10(x / y)) for other in others for x, y in zip(at, other, strict=True))


def calibrated(file: str) -> dict[str, dict[tuple[float, ...], tuple[float, str]]]:
    """For every algorithm of a calibration its points, each with the objective and whether it was chosen."""
    rows = list(csv.DictReader((ROOT / "paper" / f"{file}.csv").open()))
    found: dict = {row["algorithm"]: {} for row in rows}
    for row in rows:
        assert factors_of(row) not in found[row["algorithm"]]
        found[row["algorithm"]][factors_of(row)] = float(row["objective"]), row["chosen"]
    return found


@pytest.mark.parametrize(
    "file",
    [
        "results/calibrate",
        "results/calibrate_mechanisms",
        "results/calibrate_table1",
        "results/calibrate_windows",
    ],
)
def test_every_algorithm_has_one_choice_and_it_is_in_the_middle_of_its_valley(file):
    """The points within 10% of the least objective; 0.1 for the rounding of the file."""
    for points in calibrated(file).values():
        (at,) = [factors for factors, (_, chosen) in points.items() if chosen == "1"]
        least = min(value for value, _ in points.values())
        valley = [factors for factors, (value, _) in points.items() if value <= 1.1 * least + 0.1]
        assert at in valley
        assert remoteness(at, valley) <= min(remoteness(other, valley) for other in valley) + 1e-9


def test_all_mechanisms_have_the_same_points():
    (grid,) = {frozenset(points) for points in calibrated("results/calibrate_mechanisms").values()}
    assert len(grid) == 16


def test_all_systems_of_table_1_have_the_same_points_in_every_environment():
    grids = {}
    for points in calibrated("results/calibrate_table1").values():
        grids.setdefault(len(next(iter(points))), set()).add(frozenset(points))
    assert {factors: [len(grid) for grid in same] for factors, same in grids.items()} == {2: [20], 1: [7]}


def test_table_1_is_run_with_the_factors_chosen_in_each_environment():
    """The arms of conf/arm have those of RiverSwim, under JDP where there are both models."""
    rows = list(csv.DictReader((RESULTS / "calibrate_table1.csv").open()))
    picked = {row["algorithm"]: row for row in rows if row["chosen"] == "1"}
    arms = exp("table1").arms
    assert len(arms) == len(picked) == 4 * 11
    for key, arm in arms.items():
        row = picked[table1_name(key, arm)]
        assert arm.bonus.scale == float(row["bonus_factor"]), key
        if row["confidence_factor"]:
            assert arm.confidence.scale == float(row["confidence_factor"]), key
    for file in ("pucb", "ldp_obi", "private_ucb_po", "ucbvi_refined"):
        arm = OmegaConf.load(CONF / "arm" / f"{file}.yaml")
        first = next(other for key, other in arms.items() if other.agent.name == arm.agent.name)
        assert (arm.bonus, arm.get("confidence"), arm.label) == (
            first.bonus,
            first.get("confidence"),
            first.label,
        )


def table1_name(key: str, arm) -> str:
    env = {"riverswim": "RiverSwim", "chain": "chain", "random": "random MDP", "hard_tree": "hard instance"}
    model = {"central": ", JDP", "local": ", LDP", "non_private": ""}[arm.privatizer.name]
    return f"{env[arm.env.name]}: {arm.label}{model}"


def test_every_system_of_table_1_is_calibrated_as_it_is_run():
    tuned, run = exp("calibrate_table1"), exp("table1")
    assert len(tuned.arms) == 11
    for (key, arm), env in product(tuned.arms.items(), tuned.grid["env.name"]):
        other = run.arms[f"{env}_{key}"]
        assert other.env.name == env
        for name in ("label", "agent", "privatizer", "postprocess"):
            assert arm.get(name) == other.get(name), (key, name)


@pytest.mark.parametrize("algorithm", [name for name in CHOSEN if name != POOLED])
def test_the_arms_have_the_chosen_factors(algorithm):
    chosen, arm = CHOSEN[algorithm], ARMS[algorithm]
    assert arm.bonus.scale == float(chosen["bonus_factor"])
    if chosen["confidence_factor"]:
        assert arm.confidence.scale == float(chosen["confidence_factor"])
    else:
        assert "confidence" not in arm


@pytest.mark.parametrize("name", ["epsilon", "privacy_for_free"])
def test_pooled_counts_have_the_factors_chosen_for_counts_per_step(name):
    arms, chosen = exp(name).arms.values(), CHOSEN["DP-UCBVI"]
    private = [arm for arm in arms if arm.agent.name == "dp_ucbvi" and arm.agent.get("pooled")]
    assert private
    assert {arm.bonus.scale for arm in private} == {float(chosen["bonus_factor"])}
    assert {arm.confidence.scale for arm in private} == {float(chosen["confidence_factor"])}


def test_both_private_algorithms_have_the_same_budget():
    budgets = [
        [(row["bonus_factor"], row["confidence_factor"]) for row in ROWS if row["algorithm"] == algorithm]
        for algorithm in ("DP-UCBVI", "Private-UCB-VI", POOLED)
    ]
    assert budgets[0] == budgets[1] == budgets[2] and len(budgets[0]) == 16


# --- the mechanisms ---------------------------------------------------------------------------------------

ARMS_OF_MECHANISMS = exp("calibrate_mechanisms").arms
BY_NAME = calibrated("results/calibrate_mechanisms")
MECHANISMS = {key: BY_NAME[f"{arm.label}, {arm.panel}"] for key, arm in ARMS_OF_MECHANISMS.items()}
LEVERS = ["none", "cap", "zero", "families", "policy_cells", "drop_empty", "growth"]
FILES = {"batches": "pooled_batches", "toeplitz": "pooled_toeplitz", "one_question": "pooled_one_question"}


def factors(arm) -> tuple[float, float]:
    return float(arm.bonus.scale), float(arm.confidence.scale)


def chosen(key: str) -> tuple[float, float]:
    (found,) = [at for at, (_, is_chosen) in MECHANISMS[key].items() if is_chosen == "1"]
    return found


def test_the_mechanisms_that_are_run_are_those_calibrated():
    calibrated, run = exp("calibrate_mechanisms").arms, exp("mechanisms").arms
    assert list(BY_NAME) == [f"{arm.label}, {arm.panel}" for arm in calibrated.values()]
    levers = [f"lever_{name}" for name in LEVERS]
    elsewhere = [f"{env}_{name}" for env in ("strehl", "garnet1", "garnet2") for name in FILES]
    assert set(run) == {*calibrated, *levers, *elsewhere}
    assert {arm.panel for key, arm in run.items() if key in calibrated} == {"pooled", "step"}
    assert [key for key, arm in run.items() if arm.panel == "levers"] == levers
    assert [key for key, arm in run.items() if arm.panel == "elsewhere"] == elsewhere


@pytest.mark.parametrize("key", exp("calibrate_mechanisms").arms)
def test_a_mechanism_has_the_factors_chosen_for_it_and_is_else_as_it_was_calibrated(key):
    run, calibrated = exp("mechanisms").arms[key], exp("calibrate_mechanisms").arms[key]
    assert factors(run) == chosen(key)
    for name in ("panel", "label", "agent", "privatizer", "postprocess"):
        assert run.get(name) == calibrated.get(name)


@pytest.mark.parametrize("name", FILES)
def test_an_arm_for_other_experiments_is_the_mechanism_with_its_chosen_factors(name):
    arm, calibrated = (
        OmegaConf.load(CONF / "arm" / f"{name}.yaml"),
        exp("calibrate_mechanisms").arms[FILES[name]],
    )
    assert factors(arm) == chosen(FILES[name])
    for group in ("label", "agent", "privatizer", "postprocess"):
        assert arm[group] == calibrated[group]


WAYS = ("pooled", "step", "windows", "pure", "local")


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_count_has_the_factors_chosen_for_it_on_all_environments(way):
    calibrated_arm, points = (
        exp("calibrate_windows").arms[f"river_{way}"],
        calibrated("results/calibrate_windows"),
    )
    run = [arm for arm in exp("windows").arms.values() if arm.label == calibrated_arm.label]
    (at,) = [found for found, (_, is_chosen) in points[calibrated_arm.label].items() if is_chosen == "1"]
    assert len(run) >= 2 and {factors(arm) for arm in run} == {at}
    assert all(arm.privatizer == calibrated_arm.privatizer for arm in run)


@pytest.mark.parametrize("name", ["mechanisms", "riverswim"])
def test_levers_elsewhere_and_other_privatizers_are_run_with_the_factors_of_their_arm(name):
    arms = [arm for arm in exp(name).arms.values() if arm.get("panel") in ("levers", "elsewhere", "others")]
    assert len(arms) == {"mechanisms": 16, "riverswim": 4}[name]
    for arm in arms:
        privatizer = arm.privatizer.name if arm.privatizer.name in FILES else "batches"  # without privacy
        assert factors(arm) == chosen(FILES[privatizer])


@pytest.mark.parametrize("name", sorted(path.stem for path in (CONF / "exp").glob("*.yaml")))
def test_the_seeds_of_the_calibration_are_used_nowhere_else(name):
    config = exp(name)
    last = config.seed + config.runs
    if name.startswith("calibrate") or name == "explain_fit":
        assert FIRST_SEED <= config.seed and last <= LAST_SEED
    else:
        assert last <= FIRST_SEED or config.seed >= LAST_SEED


FIT = [row for row in csv.DictReader((RESULTS / "explain_fit.csv").open()) if row["chosen"] == "1"]


@pytest.mark.parametrize("row", FIT, ids=[row["hypothesis"] for row in FIT])
def test_a_hypothesis_about_the_printed_figure_is_run_with_its_fitted_factors(row):
    arms = [arm for arm in exp("explain").arms.values() if arm.panel == row["hypothesis"]]
    assert len(arms) == (1 if row["hypothesis"].endswith("ucbvi") else 2)
    for arm in arms:
        assert arm.bonus.scale == float(row["bonus_factor"])
        assert not row["confidence_factor"] or arm.confidence.scale == float(row["confidence_factor"])


def test_the_fitted_panel_of_figure_1_is_lap_1_over_epsilon_in_the_tree():
    rows = {row["hypothesis"]: row for row in FIT}
    arms = exp("riverswim").arms
    assert arms.fitted_ucbvi.bonus.scale == float(rows["step_ucbvi"]["bonus_factor"])
    for curve in ("jdp_eps1", "jdp_eps2", "ldp_eps2"):
        wanted = (float(rows["step_bare"]["bonus_factor"]), float(rows["step_bare"]["confidence_factor"]))
        assert factors(arms[f"fitted_{curve}"]) == wanted
