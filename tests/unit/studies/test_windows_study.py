"""Windows: every environment on its row, every mean at its mark, and the tables that say the same."""

import numpy as np
import pytest
from drawn import is_log, legend, lines
from made_up import RIVER, stored_arm, stored_experiment
from mutants import test_no_falsified_figure_passes  # noqa: F401  (it runs here)

from dpucbvi import flipping_river, garnet, riverswim
from dpucbvi.planning import uniform_loss
from dpucbvi.stats import bootstrap
from experiments.studies.windows import EPSILON, LOOKS, STUDY

GARNET = {"name": "garnet", "S": 6, "A": 2, "H": 20, "branching": 3, "seed": 3, "rewards": "deterministic"}
FLIP = {"name": "flipping_river", "S": 6, "H": 20, "at": 10, "rewards": "deterministic"}
MDPS = {"riverswim": riverswim(), "garnet": garnet(seed=3), "flipping_river": flipping_river()}
PANELS = {"the flipping river": FLIP, "RiverSwim": RIVER, "Garnet 3": GARNET}


LDP = ("one question, pooled, symbols", "windows, LDP")
DRAWN_AS = {"one question, pooled, symbols": "pooled", "windows, LDP": "windows, pure"}
JDP_ROWS = ["RiverSwim", "Garnet 3", "the flipping river"]
LDP_ROWS = [f"{name}, ε = {e}" for name in ("RiverSwim", "the flipping river") for e in (2, 4)]


def arms():
    regret = iter(1000.0 * 1.07 ** np.arange(100))
    made = [
        stored_arm(f"{panel}-{label}", next(regret), panel=panel, label=label, env=env, point={EPSILON: e})
        for panel, env in PANELS.items()
        for label in [*LOOKS, "pooled, tuned families"]
        for e in (1.0, 2.0)
        if label != "per step, pure" or panel == "RiverSwim"
    ]
    for env in (FLIP, RIVER):
        panel = next(name for name, of in PANELS.items() if of is env) + ", LDP"
        for label in ("one question, pooled", *LDP):
            made += [
                stored_arm(
                    f"{panel}-{label}",
                    next(regret),
                    panel=panel,
                    label=label,
                    env=env,
                    model="one_question",
                    epsilon=e,
                    point={EPSILON: e},
                )
                for e in (1.0, 2.0, 4.0)
            ]
    return made


@pytest.fixture(scope="module")
def experiment():
    return stored_experiment("windows", arms())


@pytest.fixture(scope="module")
def figure(experiment):
    return STUDY.draw(experiment)


def wanted(experiment, model: str, row: str) -> dict[str, np.ndarray]:
    """The final regrets of the arms of a row, by the entry of the legend."""
    name, _, epsilon = row.partition(", ε = ")
    panel = f"{name}, LDP" if model == "LDP" else name
    here = [arm for arm in experiment.arms if arm.panel == panel and arm.point[EPSILON] == float(epsilon or 1)]
    ends = {arm.label: np.array([run.trace.regret[-1] for run in arm.runs]) for arm in here}
    return {DRAWN_AS.get(label, label): runs for label, runs in ends.items() if label in (*LOOKS, *LDP)}


@pytest.mark.parametrize(("place", "model"), [(0, "JDP"), (1, "LDP")])
def test_every_row_has_the_means_and_intervals_of_its_arms(figure, experiment, place, model):
    axes, rows = figure.axes[place], (JDP_ROWS, LDP_ROWS)[place]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == rows
    assert is_log(axes) == (True, False) and axes.yaxis_inverted()
    entries = {(e.colour, e.marker, e.filled): label for label, e in legend(figure).items()}
    drawn = lines(axes)
    for y, row in enumerate(rows):
        here = [line for line in drawn if abs(line.y[0] - y) < 0.5]
        runs = wanted(experiment, model, row)
        marks = {entries[line.colour, line.marker, line.filled]: line for line in here if line.marker != "None"}
        assert set(marks) == {*runs, "random actions"} and len(here) == 2 * len(runs) + 1
        env = next(arm.config["env"] for arm in experiment.arms if row.startswith(arm.panel.split(",")[0]))
        assert marks["random actions"].x[0] == pytest.approx(50_000 * uniform_loss(MDPS[env["name"]]))
        assert marks["random actions"].y[0] == y
        heights = [marks[label].y[0] for label in LOOKS if label in runs]
        assert heights == sorted(heights)  # in the order of the legend
        for label, ends in runs.items():
            mean, low, high = (float(part[0]) for part in bootstrap(ends[:, None]))
            (bar,) = [one for one in here if one.marker == "None" and one.y[0] == marks[label].y[0]]
            assert bar.colour == marks[label].colour and list(bar.y) == [marks[label].y[0]] * 2
            assert marks[label].x[0] == pytest.approx(mean) and list(bar.x) == pytest.approx([low, high])


def test_rows_that_depend_on_the_step_are_shaded_and_both_groups_are_named(figure):
    for axes, first, rows in zip(figure.axes, (2, 2), (JDP_ROWS, LDP_ROWS), strict=True):
        (shade,) = axes.patches
        assert (shade.get_x(), shade.get_y()) == (0, first - 0.5) and shade.get_height() == len(rows) - first
    words = {text.get_text(): text.get_position()[1] for text in figure.axes[0].texts}
    assert words == {"same at every step": 0.5, "depends on the step": 2.0} and not figure.axes[1].texts


def test_the_words(figure, experiment):
    assert [axes.get_title("left") for axes in figure.axes] == [
        "JDP ε = 1, a user replaced",
        "LDP, a user replaced",
    ]
    assert list(legend(figure)) == [*LOOKS, "random actions"]
    hollow = [label for label, entry in legend(figure).items() if not entry.filled and entry.marker != "|"]
    assert hollow == ["windows, pure", "per step, pure"]
    assert figure.axes[-1].get_xlabel() == "regret after 50,000 episodes"
    assert "{" not in STUDY.caption(experiment)


def test_the_report_has_every_arm(experiment, tmp_path):
    (text,) = STUDY.report(experiment, tmp_path, lambda _: None)
    for arm, line in zip(experiment.arms, STUDY.table(experiment)[1:], strict=True):
        assert line[:3] == (arm.panel, arm.label, f"{arm.point[EPSILON]:g}")
        _, (low,), (high,) = bootstrap(arm.finals[:, None])
        assert (
            line[4] == f"{low:,.0f} to {high:,.0f}"
            and line[3].startswith(f"{arm.mean:,.0f} (")
            and f"| {' | '.join(line)} |" in text.read_text()
        )
