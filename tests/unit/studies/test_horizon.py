"""Regret against the horizon: every exponent, count and regret of the table is that of the stored runs."""

import pytest
from made_up import RIVER, grid, stored_arm, stored_experiment, with_regrets
from mutants import test_no_falsified_file_passes  # noqa: F401  (it runs here)

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.horizon import STUDY, worst

HORIZONS = (20, 5, 10)  # the table puts them in order
# Arm, agent, model, regret at H = 1 and the exponent of H; its name in the table.
ARMS = {
    "UCBVI, Bernstein": ("ucbvi", "ucbvi_bf", "non_private", 7.0, 1.5),
    "UCBVI, Hoeffding": ("ucbvi_ch", "ucbvi_ch", "non_private", 9.0, 2.0),
    "DP-UCBVI, Bernstein": ("dp_ucbvi", "dp_ucbvi", "central", 31.0, 2.5),
    "P.-UCB-VI, Hoeffding": ("private_ucb_vi", "private_ucb_vi", "central", 55.0, 2.25),
}
PANELS = {"RiverSwim": list(ARMS)[:2], "hard instance": list(ARMS)}


def level(panel: str, name: str, H: int) -> float:
    *_, first, power = ARMS[name]
    return first * (1.0 if panel == "RiverSwim" else 3.3) * H**power


def made(panel: str, name: str, H: int) -> StoredArm:
    of, agent, model, *_ = ARMS[name]
    settings = {"agent": agent, "model": model, "epsilon": 2000.0, "env": {**RIVER, "H": H}}
    return stored_arm(
        f"{panel}_{of}", level(panel, name, H), point={"env.H": H}, panel=panel, label=name, **settings
    )


def experiment() -> StoredExperiment:
    arms = [made(panel, name, H) for panel, names in PANELS.items() for name in names for H in HORIZONS]
    return stored_experiment("horizon", arms)


def as_table(path) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in path.read_text().splitlines() if line.startswith("| ")]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return STUDY.report(experiment(), tmp_path_factory.mktemp("report"), {}.get)


def test_the_report_has_every_algorithm_with_its_exponents(report):
    """Runs are 7% below, 1% and 9% above the level, and end where they began."""
    header, _, *rows = as_table(report[0])
    assert header[0] == "environment" and header[-1] == "worst gaps"
    regrets = {
        key: [1.01 * level(*key, H) for H in sorted(HORIZONS)]
        for key in ((panel, name) for panel, names in PANELS.items() for name in names)
    }
    assert rows == [
        [
            *(panel, name, f"{ARMS[name][-1]:.2f} ± 0.00", "0.00", "0, 0, 0 of 3"),
            ", ".join(f"{x:,.0f}" if x >= 100 else f"{x:.3g}" for x in of),
            "-",
        ]
        for (panel, name), of in regrets.items()
    ]
    words = report[0].read_text()
    assert "of 3 runs after" in words and "ε = 2000 for a user added or removed" in words


def test_exponents_are_fitted_to_every_run_and_have_an_interval():
    """Runs with exponents 1 and 2: mean 1.5, half width t₀.₉₇₅,₁ · 0.5; a single run has none."""
    arms = []
    for H in HORIZONS:
        arm = stored_arm("x", 1.0, runs=2, point={"env.H": H}, panel="p", env={**RIVER, "H": H})
        arms.append(with_regrets(arm, (float(H), float(H) ** 2)))
    assert STUDY.table(stored_experiment("horizon", arms))[1][2] == "1.50 ± 6.35"
    single = [arm._replace(runs=arm.runs[1:]) for arm in arms]
    assert STUDY.table(stored_experiment("horizon", single))[1][2] == "2.00"


def at_gap(H: int, gap: float, regret: float, power: float) -> StoredArm:
    """Regret (k/K)^power, which ends at the given one."""
    curve = regret * (grid(50_000) / 50_000) ** power
    point = {"env.H": H, "env.gap": gap}
    return stored_arm("x", curve, point=point, env={**RIVER, "H": H}, agent="ucbvi_bf", bonus=0.01)


def test_every_horizon_has_its_worst_gap_and_says_how_the_regret_still_grows():
    ends = [(5, 0.1, 10.0, 0.0), (5, 0.3, 20.0, 0.5), (10, 0.1, 80.0, 0.5), (10, 0.3, 9.0, 0.0)]
    arms = [at_gap(*end) for end in ends]
    (line,) = worst(stored_experiment("horizon", arms)).values()
    assert [arm.mean for arm in line] == pytest.approx([20.2, 80.8], rel=1e-3)
    row = STUDY.table(stored_experiment("horizon", arms))[1]
    assert row[2:4] == ("2.00 ± 0.00", "0.50") and row[-1] == "0.3, 0.1"


def test_runs_that_are_stuck_are_counted_at_every_horizon():
    """One of three runs is a straight line at H = 5, all of them at H = 10; ½ and 0.85 are not stuck."""
    settled, stuck = at_gap(5, 0.1, 40.0, 0.5), at_gap(10, 0.1, 80.0, 1.0)
    mixed = settled._replace(runs=[*settled.runs[:2], at_gap(5, 0.1, 99.0, 1.0).runs[2]])
    row = STUDY.table(stored_experiment("horizon", [mixed, stuck, at_gap(20, 0.1, 90.0, 0.85)]))[1]
    assert row[4] == "1, 3, 0 of 3"
