"""What was calibrated is what is run, and nothing that is shown was used for it."""

import csv
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

ROOT = Path(__file__).resolve().parents[2]
CONF, RESULTS = ROOT / "conf", ROOT / "paper" / "results"
POOLED = "DP-UCBVI, pooled"
FIRST_SEED = 1000  # of the calibration
ROWS = list(csv.DictReader((RESULTS / "calibrate.csv").open()))
CHOSEN = {row["algorithm"]: row for row in ROWS if row["chosen"] == "1"}
ARMS = {str(arm.label): arm for arm in map(OmegaConf.load, (CONF / "arm").glob("*.yaml"))}


def exp(name: str):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", [f"+exp={name}"])


def test_every_algorithm_has_one_choice_and_it_is_the_least():
    assert set(CHOSEN) == {row["algorithm"] for row in ROWS}
    assert len(CHOSEN) == sum(row["chosen"] == "1" for row in ROWS)
    for algorithm, chosen in CHOSEN.items():
        least = min(float(row["objective"]) for row in ROWS if row["algorithm"] == algorithm)
        assert float(chosen["objective"]) == least


@pytest.mark.parametrize("algorithm", [name for name in CHOSEN if name != POOLED])
def test_the_arms_have_the_chosen_factors(algorithm):
    chosen, arm = CHOSEN[algorithm], ARMS[algorithm]
    assert arm.bonus.scale == float(chosen["bonus_factor"])
    if chosen["confidence_factor"]:
        assert arm.confidence.scale == float(chosen["confidence_factor"])
    else:
        assert "confidence" not in arm


@pytest.mark.parametrize("name", ["riverswim", "epsilon", "privacy_for_free"])
def test_pooled_counts_have_the_factors_chosen_for_counts_per_step(name):
    arms, chosen = exp(name).arms.values(), CHOSEN["DP-UCBVI"]
    private = [arm for arm in arms if arm.agent.name == "dp_ucbvi" and arm.agent.get("pooled")]
    assert private
    assert {arm.bonus.scale for arm in private} == {float(chosen["bonus_factor"])}
    assert {arm.confidence.scale for arm in private} == {float(chosen["confidence_factor"])}


def test_both_private_algorithms_have_the_same_budget():
    points = [
        [(row["bonus_factor"], row["confidence_factor"]) for row in ROWS if row["algorithm"] == algorithm]
        for algorithm in ("DP-UCBVI", "Private-UCB-VI", POOLED)
    ]
    assert points[0] == points[1] == points[2] and len(points[0]) == 25


@pytest.mark.parametrize("name", sorted(path.stem for path in (CONF / "exp").glob("*.yaml")))
def test_the_seeds_of_the_calibration_are_used_nowhere_else(name):
    config = exp(name)
    if name.startswith("calibrate"):
        assert config.seed >= FIRST_SEED
    else:
        assert config.seed + config.runs <= FIRST_SEED


@pytest.mark.parametrize(
    ("arm", "algorithm"),
    [
        *((f"matched_{curve}", "DP-UCBVI") for curve in ("jdp_eps1", "jdp_eps2", "ldp_eps2")),
        *((f"matched_pooled_{curve}", "DP-UCBVI, pooled") for curve in ("jdp_eps1", "jdp_eps2", "ldp_eps2")),
        *((f"matched_puvi_{curve}", "Private-UCB-VI") for curve in ("jdp_eps1", "jdp_eps2")),
        ("matched_ucbvi", "UCBVI"),
        ("matched_pooled_ucbvi", "UCBVI, pooled"),
    ],
)
def test_panel_b_is_run_at_what_was_matched(arm, algorithm):
    """To two significant digits."""
    settings = exp("riverswim").arms[arm]
    rows = csv.DictReader((RESULTS / "epsilon.csv").open())
    (row,) = [r for r in rows if (r["curve"], r["algorithm"]) == (settings.printed, algorithm)]
    assert f"{OmegaConf.select(settings, row['setting']):.2g}" == f"{float(row['value']):.2g}"
