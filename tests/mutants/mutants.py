"""Changes that make a study draw or write something false, by study; the tests of the study must fail on each.

A snippet that no longer occurs exactly once fails at once: then the mutant must follow the code.
"""

from typing import NamedTuple


class Mutant(NamedTuple):
    """What is falsified, and how."""

    what: str
    module: str  # under experiments.studies, or of the library with its whole name
    original: str
    replacement: str

    @property
    def name(self) -> str:
        return self.module if self.module.startswith("dpucbvi.") else f"experiments.studies.{self.module}"


MUTANTS = {
    "audit": [
        Mutant("audited doubled", "audit", "axes.plot(row.audited, y,", "axes.plot(2 * row.audited, y,"),
        Mutant("claimed for certified", "audit", "axes.plot(row.certified, y,", "axes.plot(row.claimed, y,"),
        Mutant("certified for claimed", "audit", "axes.plot(row.claimed, y,", "axes.plot(row.certified, y,"),
        Mutant("nothing through μ", "audit", "        if row.by_mu is not None:\n", "        if False:\n"),
        Mutant("everything caught", "audit", '"caught" if row.caught else "missed"', '"caught"'),
        Mutant("names of others", "audit", "set_yticks(places, names)", "set_yticks(places, names[::-1])"),
        Mutant("the least of the runs", "audit", "best = max(checks, key", "best = min(checks, key"),
        Mutant("bounds not counted", "audit", 'row.bounds * row.found["alpha"]', 'row.found["alpha"]'),
        Mutant("log axis lost", "audit", 'set_xscale("log")', 'set_xscale("linear")'),
        Mutant(
            "the other relation in the CSV",
            "audit",
            '        found["pretended"],\n',
            '        found["pretended_add_remove"],\n',
        ),
        Mutant("misses not told", "audit", "for row in wrong if not row.caught]", "for row in wrong if False]"),
        Mutant("alarms not told", "audit", "for row in honest if row.caught]", "for row in honest if False]"),
    ],
    "regret": [
        Mutant(
            "value doubled",
            "dpucbvi.drawing.regret",
            "axes.plot(curve.episodes, curve.mean, color",
            "axes.plot(curve.episodes, 2.0 * curve.mean, color",
        ),
        Mutant(
            "mean curve missing",
            "dpucbvi.drawing.regret",
            "axes.plot(curve.episodes, curve.mean, color=hue, linewidth=1.5, linestyle=curve.dashes, zorder=4)",
            "pass",
        ),
        Mutant("band missing", "dpucbvi.drawing.regret", "    if curve.has_interval:\n", "    if False:\n"),
        Mutant(
            "log axis lost", "dpucbvi.drawing.regret", "axes.set_yscale(panel.y)", 'axes.set_yscale("linear")'
        ),
        Mutant(
            "markers beside the curve",
            "dpucbvi.drawing.regret",
            "curve.mean[marked]\n",
            "1.1 * curve.mean[marked]\n",
        ),
        Mutant(
            "labels of other arms",
            "dpucbvi.drawing.regret",
            "[one.label for one in curves]",
            "[c.label._replace(name=d.label.name) for c, d in zip(curves, reversed(curves), strict=True)]",
        ),
        Mutant(
            "printed curve halved",
            "dpucbvi.drawing.regret",
            "axes.plot(*curve.beside, color",
            "axes.plot(curve.beside[0], curve.beside[1] / 2, color",
        ),
        Mutant(
            "factor of E shown for the bonus",
            "regret",
            '"bonus": [config["bonus"]["scale"] for config in configs]',
            '"bonus": [config["confidence"]["scale"] for config in configs]',
        ),
        Mutant(
            "the other relation's ε at the label",
            "dpucbvi.plot",
            "model, add_remove, replace_one = certificate[:3]",
            "model, replace_one, add_remove = certificate[:3]",
        ),
        Mutant("arms of one name", "shared.labels", "        if len(group) > 1:\n", "        if False:\n"),
        Mutant("pooled not told", "shared.labels", '"pooled" if value else "per step"', '"counts"'),
        Mutant("nothing learnt, not told", "dpucbvi.plot", "if none_learnt(runs)", "if not runs"),
        Mutant(
            "the uniform policy halved",
            "dpucbvi.drawing.regret",
            "axes.plot(k, lost * k,",
            "axes.plot(k, lost * k / 2,",
        ),
        Mutant("labels cut off", "dpucbvi.drawing.regret", "    _fit(figure, axes, height)\n", ""),
        Mutant(
            "factors of the table swapped",
            "shared.finals",
            'as_written(config["bonus"]["scale"]),',
            'as_written(config["confidence"]["scale"]),',
        ),
        Mutant(
            "thin lines to other curves",
            "dpucbvi.drawing.end_labels",
            "zip(labels, ends, spread",
            "zip(labels, ends[::-1], spread",
        ),
        Mutant(
            "ε columns of the table swapped",
            "shared.finals",
            "_epsilon(certificate.add_remove),\n        _epsilon(certificate.replace_one),",
            "_epsilon(certificate.replace_one),\n        _epsilon(certificate.add_remove),",
        ),
        Mutant(
            "a run of another arm in the mean",
            "shared.arms",
            "for run in arm.runs])\n\n\ndef finals_of",
            "for run in arm.runs[:1] * len(arm.runs)])\n\n\ndef finals_of",
        ),
        Mutant(
            "ticks ten times too large", "dpucbvi.drawing.style", 'f"{value / 1000:g}k"', 'f"{value / 100:g}k"'
        ),
    ],
    "riverswim": [
        Mutant(
            "value doubled",
            "riverswim.curves",
            "axes.plot(episodes, mean, color",
            "axes.plot(episodes, 2.0 * mean, color",
        ),
        Mutant(
            "mean curve missing",
            "riverswim.curves",
            "                _draw_mean(axes, arm, variant)\n",
            "                pass\n",
        ),
        Mutant(
            "bands of another variant",
            "riverswim.curves",
            "if variant in (PER_STEP, OTHERS) and",
            "if variant in (POOLED, OTHERS) and",
        ),
        Mutant("log axis lost", "riverswim.curves", 'axes.set_yscale("log")', 'axes.set_yscale("linear")'),
        Mutant(
            "curves in the colours of others",
            "riverswim.curves",
            "hue, episodes = HUES[str(arm.printed)],",
            "hue, episodes = HUES[dict(zip(HUES, [*HUES][::-1], strict=True))[str(arm.printed)]],",
        ),
        Mutant(
            "arms of another panel in b",
            "riverswim.explained",
            'draw_all(axes, experiment, "b", (PER_STEP,))',
            'draw_all(axes, experiment, "matched", (PER_STEP,))',
        ),
        Mutant("any noise named Lap(1/ε)", "riverswim.explained", "len(scales) == len(BARE) and", "True or"),
        Mutant(
            "the noise of a node for a user's",
            "riverswim.explained",
            'LOCAL = "ldp_eps2"',
            'LOCAL = "jdp_eps2"',
        ),
        Mutant("levers not told", "shared.arms", 'return ", ".join(said)', 'return ""'),
        Mutant(
            "factor on E shown for the bonus",
            "riverswim.explained",
            'config["bonus"]["scale"] for config in configs',
            'config["confidence"]["scale"] for config in configs',
        ),
        Mutant(
            "a column from the other panel",
            "riverswim.report",
            '"matched, pooled": ("matched", POOLED)',
            '"matched, pooled": ("a", POOLED)',
        ),
        Mutant("literal arms missing in a", "riverswim.proven", '"a", (LITERAL, PER_STEP,', '"a", (PER_STEP,'),
        Mutant(
            "printed curve of the first arm at every arm",
            "riverswim.curves",
            "printed = printed_beside(arm)",
            "printed = printed_beside(arm._replace(printed='jdp_eps1'))",
        ),
        Mutant(
            "bands of other privatizers missing",
            "riverswim.curves",
            "if variant in (PER_STEP, OTHERS) and",
            "if variant is PER_STEP and",
        ),
        Mutant(
            "printed curves missing in c",
            "riverswim.certified",
            "        draw_printed(axes, arm)\n",
            "",
        ),
        Mutant(
            "ε of the other relation in c",
            "riverswim.certified",
            "three_digits(certificate.replace_one)",
            "three_digits(certificate.add_remove)",
        ),
        Mutant(
            "labels of c at other privatizers",
            "riverswim.certified",
            'f"{privatizer}{delta}\\nends at {mean}"',
            'f"batches{delta}\\nends at {mean}"',
        ),
        Mutant(
            "as printed, whatever is run in c",
            "riverswim.certified",
            "* as_printed(experiment)",
            "* 1",
        ),
        Mutant(
            "column c from panel b",
            "riverswim.report",
            '"(c) other privatizers": ("c", OTHERS)',
            '"(c) other privatizers": ("b", POOLED)',
        ),
        Mutant(
            "table in panel a halved",
            "riverswim.proven",
            "three_digits(mean_of(arm) / 1000)",
            "three_digits(mean_of(arm) / 2000)",
        ),
        Mutant(
            "ε of the other relation",
            "riverswim.curves",
            "model, add_remove, _ = certificate_of(arm)",
            "model, _, add_remove = certificate_of(arm)",
        ),
        Mutant(
            "half width doubled in Markdown",
            "riverswim.report",
            'f"{mean:,.0f} ± {half_width:,.0f}"',
            'f"{mean:,.0f} ± {2 * half_width:,.0f}"',
        ),
        Mutant(
            "replaced is not doubled",
            "riverswim.report",
            "_with_interval(2 * x, 2 * low, 2 * high)",
            "_with_interval(x, low, high)",
        ),
        Mutant(
            "both ε swapped in the CSV",
            "riverswim.report",
            "for value in epsilons]",
            "for value in reversed(epsilons)]",
        ),
        Mutant(
            "regret and half width swapped in the CSV",
            "riverswim.report",
            "for value in mean_and_half_width_of(arm)]",
            "for value in reversed(mean_and_half_width_of(arm))]",
        ),
    ],
    "headline": [
        Mutant(
            "larger ε may have larger regret",
            "headline.verdicts",
            'curves["jdp_eps1"].full - curves["jdp_eps2"].full',
            'curves["jdp_eps2"].full - curves["jdp_eps1"].full',
        ),
        Mutant(
            "no correction for many contrasts",
            "headline.verdicts",
            "holm(np.array(p)), strict=True",
            "np.array(p), strict=True",
        ),
        Mutant(
            "the other baseline",
            "headline.numbers",
            '{"against UCBVI": "UCBVI", "against itself": "DP-UCBVI, not private"}',
            '{"against itself": "UCBVI", "against UCBVI": "DP-UCBVI, not private"}',
        ),
        Mutant(
            "arms of other privatizers all alike",
            "headline.report",
            "if arm.panel != CERTIFIED or arm.printed in",
            "if True or arm.printed in",
        ),
        Mutant(
            "settled runs counted as unsettled",
            "headline.numbers",
            "regret[-1] - before < SQRT_TAIL",
            "regret[-1] - before > SQRT_TAIL",
        ),
        Mutant(
            "dots of the mean",
            "headline.figure",
            "axes.plot(finals, y + jitter",
            "axes.plot(0 * finals + finals.mean(), y + jitter",
        ),
        Mutant("mean for the median", "headline.numbers", "float(np.median(finals))", "float(np.mean(finals))"),
    ],
    "explain": [
        Mutant(
            "distance without the logarithm",
            "explain.distance",
            "np.log(mean) - np.log(printed_curves()[curve].regret)",
            "mean - printed_curves()[curve].regret",
        ),
        Mutant(
            "distances at any size",
            "shared.printed",
            "return all(final_regrets",
            "return True or all(final_regrets",
        ),
        Mutant(
            "leaders begin elsewhere", "dpucbvi.drawing.end_labels", "    axes.autoscale_view()", "    pass"
        ),
        Mutant("figures of one run", "explain.distance", "PRINTED_RUNS = 5", "PRINTED_RUNS = 1"),
        Mutant("verdicts swapped", "explain.findings", "self.p < LEVEL", "self.p > LEVEL"),
        Mutant("the farthest hypothesis", "explain.findings", "return min(found, key", "return max(found, key"),
        Mutant("the kept noise of others", "explain.figure", '}_bare"]', '}_redrawn"]'),
        Mutant("all said to be ruled out", "explain.figure", "if ruled_out else", "if True else"),
        Mutant("nothing filled", "explain.figure", '"full" if one', '"none" if one'),
    ],
    "explain_fit": [
        Mutant("the farthest point", "explain_fit", "return min(points", "return max(points"),
        Mutant(
            "the private curves alone",
            "explain_fit",
            "for arm in (free[factors[0]], *private)",
            "for arm in private",
        ),
    ],
    "ablation": [
        Mutant("against itself", "ablation", "if other.panel == arm.panel)", "if other is arm)"),
        Mutant("no correction", "ablation", "iter(holm(np.array(p)))", "iter(np.array(p) * 0.0)"),
        Mutant(
            "ratio upside down",
            "ablation",
            "means[..., :1] / means[..., 1:]",
            "means[..., 1:] / means[..., :1]",
        ),
        Mutant("better called worse", "ablation", "if one.ratio < 1.0]", "if one.ratio > 1.0]"),
    ],
    "calibrate": [
        Mutant("heat map upside down", "calibrate.figure", "axes.invert_yaxis()", "pass"),
        Mutant(
            "cells with the numbers of others", "calibrate.figure", "_short)(values)", "_short)(values[::-1])"
        ),
        Mutant(
            "heat map transposed",
            "calibrate.figure",
            "for c in confidences] for b in bonuses]",
            "for c in reversed(confidences)] for b in bonuses]",
        ),
        Mutant("cells doubled", "calibrate.figure", 'f"{value / 1000:.0f}k"', 'f"{value / 500:.0f}k"'),
        Mutant(
            "factors at the wrong ticks",
            "calibrate.figure",
            "[thousands(value, None) for value in bonuses]",
            "[thousands(value, None) for value in reversed(bonuses)]",
        ),
        Mutant(
            "choice and use swapped",
            "calibrate.figure",
            '{used: "dashed", calibration.choice: "solid"}',
            '{calibration.choice: "dashed", used: "solid"}',
        ),
        Mutant(
            "lines doubled",
            "calibrate.figure",
            "axes.plot(x, y, color=BLACK",
            "axes.plot(x, [2 * v for v in y], color=BLACK",
        ),
        Mutant(
            "choice marked elsewhere",
            "calibrate.figure",
            "            calibration.objective[chosen],\n",
            "            2 * calibration.objective[chosen],\n",
        ),
        Mutant("log axis lost", "calibrate.figure", 'axes.set_xscale("log")', 'axes.set_xscale("linear")'),
        Mutant(
            "ε of the other relation",
            "calibrate.figure",
            "add(certificate.add_remove)",
            "add(certificate.replace_one)",
        ),
        Mutant(
            "another objective",
            "calibrate.rule",
            "geometric_mean(values) for",
            "max(values) for",
        ),
        Mutant(
            "another point marked as chosen in the CSV",
            "calibrate.report",
            "int(factors == made.choice)",
            "int(factors != made.choice)",
        ),
        Mutant(
            "factors swapped in the CSV",
            "calibrate.report",
            "            factors[0],\n            factors[1] if",
            "            factors[-1],\n            factors[0] if",
        ),
    ],
    "calibrate_fine": [
        Mutant("another table", "calibrate_fine", " choices, write,", " report=write,"),
        Mutant(
            "written as another experiment", "calibrate.report", 'f"{experiment.name}.csv"', '"calibrate.csv"'
        ),
    ],
    "calibrate_table1": [
        Mutant("written to another folder", "calibrate_table1", 'folder="tables", ', ""),
        Mutant("another model", "calibrate_table1", "f', {model}'", "f', {model[::-1]}'"),
        Mutant(
            "own noise for none",
            "table1.measurements",
            "row = (OWN_NOISE if own else BY_AGENT)",
            "row = (OWN_NOISE if False else BY_AGENT)",
        ),
        Mutant(
            "some arms missing",
            "calibrate_table1",
            "draw_dots(experiment, ",
            "draw_dots(experiment._replace(arms=experiment.arms[1:]), ",
        ),
        Mutant(
            "the other caption",
            "calibrate_table1",
            "A dot for every pair of factors.",
            "Factors on bonus and $E$ chosen in each environment.",
        ),
    ],
    "calibrate_mechanisms": [
        Mutant(
            "pooled counts and counts per step in one",
            "calibrate_mechanisms",
            "return report.choices(by_key(experiment))",
            "return report.choices(experiment)",
        ),
        Mutant(
            "the file by labels",
            "calibrate_mechanisms",
            "return report.write(by_key(experiment), folder, stored)",
            "return report.write(experiment, folder, stored)",
        ),
        Mutant(
            "the figure by labels",
            "calibrate_mechanisms",
            "return figure.draw(by_key(experiment), shared=False)",
            "return figure.draw(experiment, shared=False)",
        ),
        Mutant(
            "all said to be run with the first choice",
            "calibrate_mechanisms",
            "shared=False",
            "shared=True",
        ),
        Mutant(
            "every point an arm of its own",
            "calibrate_mechanisms",
            "arm._replace(label=arm.of)",
            "arm._replace(label=arm.key)",
        ),
    ],
    "mechanisms": [
        Mutant(
            "value doubled",
            "mechanisms.figure",
            "axes.plot(x, mean, zorder=4",
            "axes.plot(x, 2.0 * mean, zorder=4",
        ),
        Mutant(
            "median for the mean",
            "mechanisms.figure",
            "axes.plot(x, mean, zorder=4",
            "axes.plot(x, np.median(regret, axis=1), zorder=4",
        ),
        Mutant("mean curve missing", "mechanisms.figure", "axes.plot(x, mean, zorder=4, **style)", "pass"),
        Mutant(
            "band missing",
            "mechanisms.figure",
            "axes.fill_between(x, low, high,",
            "axes.fill_between(x[:0], low[:0], high[:0],",
        ),
        Mutant(
            "least and largest run for the band",
            "mechanisms.figure",
            "axes.fill_between(x, low, high,",
            "axes.fill_between(x, regret.min(axis=1), regret.max(axis=1),",
        ),
        Mutant(
            "the other relation's ε on the axis",
            "mechanisms.figure",
            "        style = look(first(experiment, of))\n",
            "        style = look(first(experiment, of))\n"
            "        x = np.sort([a.runs[0].certificate.add_remove for a in experiment.arms if a.of == of])\n",
        ),
        Mutant(
            "the other relation's ε is checked",
            "mechanisms.places",
            "found, delta = certificate_of(arm).replace_one,",
            "found, delta = 2.0 * certificate_of(arm).add_remove,",
        ),
        Mutant(
            "nothing is checked before drawing", "mechanisms.figure", "    check_certified(experiment)\n", ""
        ),
        Mutant(
            "nothing is checked before writing", "mechanisms.report", "    check_certified(experiment)\n", ""
        ),
        Mutant(
            "stars at half",
            "mechanisms.figure",
            "[epsilon], [regret_printed]",
            "[epsilon], [regret_printed / 2]",
        ),
        Mutant(
            "stars of the other model",
            "mechanisms.figure",
            "in printed_of(experiment, model).items()",
            'in printed_of(experiment, "JDP").items()',
        ),
        Mutant(
            "the names of two mechanisms swapped in the legend",
            "mechanisms.figure",
            "return [Line2D([], [], **look(arm)) for arm in arms]",
            "return [Line2D([], [], **{**look(a), 'label': b.label}) for a, b in "
            "zip(arms, [arms[1], arms[0], *arms[2:]], strict=True)]",
        ),
        Mutant(
            "both models in one panel",
            "mechanisms.places",
            " and certificate_of(arm).model == model]",
            "]",
        ),
        Mutant(
            "pure drawn as Gaussian",
            "mechanisms.figure",
            'dashes = (0, (4, 1.5)) if gaussian else "-"',
            'dashes = "-" if gaussian else (0, (4, 1.5))',
        ),
        Mutant("log axis lost", "mechanisms.figure", 'axes.set_yscale("log")', 'axes.set_yscale("linear")'),
        Mutant(
            "titles of the other counts",
            "mechanisms.figure",
            'axes.set_title(f"{model}, {counts}"',
            'axes.set_title(f"{model}, pooled counts"',
        ),
        Mutant(
            "median and largest swapped",
            "mechanisms.report",
            "({np.median(values):,.0f}; {values.max():,.0f})",
            "({values.max():,.0f}; {np.median(values):,.0f})",
        ),
        Mutant(
            "before is not doubled",
            "mechanisms.report",
            "three_digits(2.0 * float(value))",
            "three_digits(float(value))",
        ),
        Mutant(
            "before of the other counts",
            "mechanisms.report",
            "EARLIER[panel]]",
            'EARLIER["step"]]',
        ),
        Mutant(
            "below and above swapped",
            "mechanisms.report",
            'if how == "below" else',
            'if how == "above" else',
        ),
        Mutant("the interval of an unknown one", "mechanisms.report", "if np.isnan(found.low):", "if False:"),
        Mutant(
            "ratio of a lever upside down",
            "mechanisms.report",
            "{finals_of(arm).mean() / base:.2f}",
            "{base / finals_of(arm).mean():.2f}",
        ),
        Mutant(
            "the uniform policy elsewhere",
            "mechanisms.report",
            "{uniform_regret(arm):,.0f}",
            "{uniform_regret(arms[0]):,.0f}",
        ),
        Mutant(
            "one episode of the uniform policy",
            "shared.arms",
            "episodes_of(arm) * uniform_loss(",
            "uniform_loss(",
        ),
        Mutant(
            "pure where it is not",
            "mechanisms.report",
            'if certificate.delta else ", pure"',
            'if not certificate.delta else ", pure"',
        ),
        Mutant(
            "the other relation's ε in the CSV",
            "mechanisms.report",
            'privacy = (f"{certificate.replace_one:.4g}"',
            'privacy = (f"{certificate.add_remove:.4g}"',
        ),
        Mutant(
            "factors swapped in the CSV",
            "mechanisms.report",
            'factors = (config["bonus"]["scale"], config["confidence"]["scale"],',
            'factors = (config["confidence"]["scale"], config["bonus"]["scale"],',
        ),
        Mutant(
            "another size has a table of matches",
            "mechanisms.report",
            "        return finals(experiment)\n",
            "        pass\n",
        ),
    ],
    "epsilon": [
        Mutant(
            "value doubled",
            "epsilon.figure",
            "axes.plot(x, mean, zorder=4",
            "axes.plot(x, 2.0 * mean, zorder=4",
        ),
        Mutant(
            "mean curve missing",
            "epsilon.figure",
            "        _draw_series(axes, x, regret, name, PRIVACY[model])\n",
            "        pass\n",
        ),
        Mutant(
            "band missing", "epsilon.figure", "axes.fill_between(x, low,", "axes.fill_between(x[:0], low[:0],"
        ),
        Mutant(
            "JDP in both panels",
            "epsilon.figure",
            'x, regret = series(experiment.arms, f"{curve}_{MODELS[model]}"',
            'x, regret = series(experiment.arms, f"{curve}_jdp"',
        ),
        Mutant(
            "crosses elsewhere",
            "epsilon.figure",
            "at = crossing(x, runs.mean(axis=1), regret)",
            "at = crossing(x, runs.mean(axis=1), 2 * regret)",
        ),
        Mutant(
            "printed ticks doubled", "epsilon.figure", "[regret] * 2, transform", "[2 * regret] * 2, transform"
        ),
        Mutant("log axis lost", "epsilon.figure", 'axes.set_xscale("log")', 'axes.set_xscale("linear")'),
        Mutant(
            "replaced is half",
            "epsilon.figure",
            "functions=(_doubled, _halved)",
            "functions=(_halved, _doubled)",
        ),
        Mutant(
            "thresholds swapped",
            "epsilon.figure",
            'if model == "JDP":\n        return',
            'if model != "JDP":\n        return',
        ),
        Mutant("reference doubled", "epsilon.figure", "axes.axhline(mean, ", "axes.axhline(2 * mean, "),
        Mutant(
            "value and bounds swapped in the CSV",
            "epsilon.report",
            "for value in match] if match",
            "for value in reversed(match)] if match",
        ),
        Mutant(
            "another setting named",
            "epsilon.report",
            "SETTINGS[setting], *answer",
            "SETTINGS[EPSILON], *answer",
        ),
        Mutant(
            "curves not in order of ε",
            "epsilon.matching",
            "key=lambda arm: arm.point[setting])",
            "key=lambda arm: -arm.point[setting])",
        ),
    ],
    "horizon": [
        Mutant("value doubled", "horizon", "mean, color=hue, marker", "2.0 * mean, color=hue, marker"),
        Mutant("lines of others", "horizon", "mean, color=hue, linestyle", "mean[::-1], color=hue, linestyle"),
        Mutant(
            "bars of others",
            "horizon",
            "axes.errorbar(beside, mean, bars,",
            "axes.errorbar(beside, mean[::-1], bars,",
        ),
        Mutant(
            "bars missing",
            "horizon",
            "bars = None if len(regret) == 1 else",
            "bars = None if True else",
        ),
        Mutant("bars doubled", "horizon", "(mean - low, high - mean)", "(mean - low, 2 * (high - mean))"),
        Mutant("arms at other horizons", "horizon", "beside = H * BESIDE", "beside = H[::-1] * BESIDE"),
        Mutant("exponents of something else", "horizon", "exponent(H, regret)", "exponent(H, regret**2)"),
        Mutant(
            "exponent of the mean alone",
            "horizon",
            "exponent(H, regret)",
            "exponent(H, regret.mean(axis=0, keepdims=True))",
        ),
        Mutant(
            "names of other algorithms",
            "horizon",
            '"ucbvi_bf": "UCBVI, Bernstein",\n    "ucbvi_ch": "UCBVI, Hoeffding",',
            '"ucbvi_bf": "UCBVI, Hoeffding",\n    "ucbvi_ch": "UCBVI, Bernstein",',
        ),
        Mutant(
            "horizons in another order",
            "horizon",
            "horizons = sorted({arm.point[HORIZON] for arm in group})",
            "horizons = sorted({arm.point[HORIZON] for arm in group}, reverse=True)",
        ),
        Mutant("half of the runs stuck", "horizon", "STUCK = 0.9", "STUCK = 0.4"),
        Mutant("the best gap", "horizon", "worst = [max((arm", "worst = [min((arm"),
        Mutant("another guide", "horizon", '1.5: "$H^{3/2}$"', '1.0: "$H^{3/2}$"'),
        Mutant("log axis lost", "horizon", 'xscale="log", yscale="log"', 'xscale="log", yscale="linear"'),
    ],
    "literal": [
        Mutant("heat map upside down", "literal", "len(arms) - 0.5, -0.5)", "-0.5, len(arms) - 0.5)"),
        Mutant(
            "arms at other rows",
            "literal",
            "[_name(arm) for arm in arms]",
            "[_name(arm) for arm in reversed(arms)]",
        ),
        Mutant("another share written", "literal", "100 * share[-1]", "100 * share[0]"),
        Mutant("first step too early", "literal", "np.flatnonzero(share)[0] + 1", "np.flatnonzero(share)[0]"),
        Mutant(
            "the limit of Private-UCB-VI forgotten",
            "literal",
            '["name"] == "private_ucb_vi"',
            '["name"] == "other"',
        ),
        Mutant(
            "only the first run counted",
            "literal",
            "for run in arm.runs], axis=(0, 2, 3))",
            "for run in arm.runs[:1]], axis=(0, 2, 3))",
        ),
        Mutant(
            "episodes doubled",
            "literal",
            "axes.plot(K, y, marker=LEVELS[part]",
            "axes.plot(2 * K, y, marker=LEVELS[part]",
        ),
        Mutant(
            "pooled and per step swapped",
            "literal",
            "_needed(base, pooled, model, epsilon)\n",
            "_needed(base, not pooled, model, epsilon)\n",
        ),
        Mutant("levels swapped", "literal", 'LEVELS = {1: "o", 10: "D"}', 'LEVELS = {1: "D", 10: "o"}'),
        Mutant("log axis lost", "literal", 'axes.set(xscale="log", ', 'axes.set(xscale="linear", '),
    ],
    "literal_learns": [
        Mutant(
            "value doubled",
            "literal_learns",
            "left.plot(episodes, mean, zorder",
            "left.plot(episodes, 2.0 * mean, zorder",
        ),
        Mutant(
            "mean curve missing",
            "literal_learns",
            "left.plot(episodes, mean, zorder=4,",
            "left.plot([], [], zorder=4,",
        ),
        Mutant("band missing", "literal_learns", "if not np.isnan(half_width).any():", "if False:"),
        Mutant("greatest rate for the mean", "literal_learns", "rate.mean(axis=0)", "rate.max(axis=0)"),
        Mutant(
            "slope over all episodes",
            "literal_learns",
            "tail(episodes, regret, LAST)",
            "tail(episodes, regret, 1e6)",
        ),
        Mutant("filled where pooled", "literal_learns", " if hollow else {}", " if not hollow else {}"),
        Mutant("ticks missing", "literal_learns", "    if K is not None:\n", "    if K is None:\n"),
        Mutant(
            "ticks of per-step counts",
            "literal_learns",
            'config["privatizer"], config["agent"]["pooled"]',
            'config["privatizer"], False',
        ),
        Mutant(
            "ε of the other relation",
            "literal_learns",
            "model, epsilon, _ = certificate_of(arm)[:3]\n    pooled",
            "model, _, epsilon = certificate_of(arm)[:3]\n    pooled",
        ),
        Mutant(
            "log axis lost", "literal_learns", 'xscale="log", yscale="log"', 'xscale="linear", yscale="log"'
        ),
    ],
    "privacy_for_free": [
        Mutant(
            "value doubled", "privacy_for_free", "axes.plot(x, mean, color", "axes.plot(x, 2.0 * mean, color"
        ),
        Mutant(
            "mean curve missing",
            "privacy_for_free",
            "axes.plot(x, mean, color=hue, linewidth=1.3, zorder=4, marker=mark, **MARKER)",
            "pass",
        ),
        Mutant(
            "band missing", "privacy_for_free", "    if not np.isnan(half_width).any():\n", "    if False:\n"
        ),
        Mutant(
            "regret for cost",
            "privacy_for_free",
            "finals_of(arm) - finals_of(_paired(arm, baseline[episodes_of(arm)])) for",
            "finals_of(arm) for",
        ),
        Mutant(
            "the shortest runs for the longest",
            "privacy_for_free",
            "K = max(episodes_of(arm) for arm in arms)",
            "K = min(episodes_of(arm) for arm in arms)",
        ),
        Mutant(
            "ε of the other relation",
            "privacy_for_free",
            "model, epsilon, _ = certificate_of(arm)",
            "model, _, epsilon = certificate_of(arm)",
        ),
        Mutant("one marker for all ε", "privacy_for_free", "marker(round(np.log10(epsilon)) % 4)", "marker(0)"),
        Mutant(
            "thresholds elsewhere",
            "privacy_for_free",
            "S**3 * A * H**3 / epsilon**2",
            "S**3 * A * H**3 / epsilon",
        ),
        Mutant(
            "slope of another window",
            "privacy_for_free",
            "tail(cost.episodes, cost.excess, LAST)",
            "tail(cost.episodes, cost.excess, 1e9)",
        ),
        Mutant(
            "guide of another slope",
            "privacy_for_free",
            "3.0 * top * np.sqrt(K / K[-1])",
            "3.0 * top * (K / K[-1])",
        ),
        Mutant(
            "log axis lost",
            "privacy_for_free",
            'axes.set(xscale="log", yscale="log", ',
            'axes.set(xscale="log", ',
        ),
    ],
    "table1": [
        Mutant(
            "value doubled",
            "table1.figure",
            "axes.plot(m.regret, y, color",
            "axes.plot(2.0 * m.regret, y, color",
        ),
        Mutant("dot missing", "table1.figure", "            _draw_dot(axes, m)\n", "            pass\n"),
        Mutant(
            "interval missing",
            "table1.figure",
            "axes.plot([m.low, m.high], [y, y]",
            "axes.plot([m.regret, m.regret], [y, y]",
        ),
        Mutant(
            "rows upside down",
            "table1.figure",
            "[_system(row) for row in ROWS]",
            "[_system(row) for row in reversed(ROWS)]",
        ),
        Mutant(
            "models swapped",
            "table1.figure",
            "PRIVACY[m.model]",
            'PRIVACY["JDP"]',
        ),
        Mutant("log axis lost", "table1.figure", 'axes.set_xscale("log")', 'axes.set_xscale("linear")'),
        Mutant(
            "another environment's dots",
            "table1.figure",
            "if m.env == env:",
            "if m.env == table.environments[0]:",
        ),
        Mutant(
            "ranks swapped in LaTeX",
            "table1.latex",
            r"{m.rank_bound}\to{m.rank_measured}",
            r"{m.rank_measured}\to{m.rank_bound}",
        ),
        Mutant(
            "dots in the row of another system",
            "table1.figure",
            "y, hue = ROWS.index(m.row) +",
            "y, hue = (ROWS.index(m.row) + 1) % len(ROWS) +",
        ),
        Mutant(
            "bold where the orders agree in LaTeX",
            "table1.latex",
            'return f"${text}$" if m.in_order',
            'return f"${text}$" if not m.in_order',
        ),
        Mutant(
            "JDP in both halves of LaTeX",
            "table1.latex",
            '_half(table, row, "LDP"), row.bonus) for row in private',
            '_half(table, row, "JDP"), row.bonus) for row in private',
        ),
        Mutant(
            "environments reversed in LaTeX",
            "table1.latex",
            '"--") for env in table.environments)]',
            '"--") for env in reversed(table.environments))]',
        ),
        Mutant(
            "edges not told in LaTeX",
            "table1.latex",
            "if made.at_edge else text\n",
            "if False else text\n",
        ),
        Mutant(
            "edges not told in Markdown",
            "table1.markdown",
            "if made.at_edge else text}",
            "if False else text}",
        ),
        Mutant(
            "LDP for JDP where LDP is better",
            "table1.markdown",
            "if pair.clear else ' (the intervals meet)'}.\"\n        for pair in local",
            "if not pair.clear else ' (the intervals meet)'}.\"\n        for pair in local",
        ),
        Mutant(
            "ranks swapped in Markdown",
            "table1.markdown",
            'f"{m.rank_bound} → {m.rank_measured}"',
            'f"{m.rank_measured} → {m.rank_bound}"',
        ),
        Mutant(
            "LDP in both halves of Markdown",
            "table1.markdown",
            '[_name(row), *_half(table, row, "JDP"),',
            '[_name(row), *_half(table, row, "LDP"),',
        ),
        Mutant(
            "interval doubled",
            "table1.cells",
            "for value in (m.low, m.high)",
            "for value in (2 * m.low, m.high)",
        ),
        Mutant("a decade off", "table1.factors", "round(log10(factor), 1)", "round(log10(10 * factor), 1)"),
        Mutant(
            "disagreements the wrong way round",
            "table1.measurements",
            "a.bound < b.bound and a.regret > b.regret",
            "a.bound > b.bound and a.regret < b.regret",
        ),
        Mutant(
            "ranks swapped in the CSV",
            "table1.report",
            "m.rank_bound, m.rank_measured)",
            "m.rank_measured, m.rank_bound)",
        ),
        Mutant(
            "the factors of another place",
            "table1.factors",
            "objectives(experiment, place).items()",
            "zip(objectives(experiment, place), [*objectives(experiment, place).values()][::-1], strict=True)",
        ),
    ],
}
# Where the tests of a study are, if not in test_<study>.py alone.
FILES = {
    "explain_fit": ("test_explain.py",),
    "headline": ("test_headline.py", "test_verdicts.py"),
    "calibrate_fine": ("test_calibrate.py",),
    "calibrate_table1": ("test_table1.py", "test_paper.py"),
    "calibrate_mechanisms": ("test_calibrate.py",),
}
