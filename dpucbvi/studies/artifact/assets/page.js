"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const MARKS = { "holds": "✓", "holds in part": "◐", "does not hold": "✗", "off by 2": "✗", "cannot be told": "?", "used": "·", "not tested": "–" };
const number = (x) => x === null || x === undefined ? "–" : x >= 100 ? Math.round(x).toLocaleString("en") : String(Number(x.toPrecision(3)));
const regret = (arm) => number(arm.regret) + (arm.half_width === null ? "" : " ± " + number(arm.half_width));
const privacy = (arm) => arm.model === "none" ? "none" : `${arm.model} ε = ${number(arm.add_remove)} (replaced: ${number(arm.replace_one)})` + (arm.delta ? `, δ = ${arm.delta}` : "");

function make(tag, text, attributes = {}) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

function row(cells, tag = "td") {
  const line = make("tr");
  for (const cell of cells) {
    const box = make(tag);
    if (cell instanceof Node) box.append(cell); else box.textContent = cell ?? "";
    if (typeof cell === "string" && /^[\d.,–]+( ± [\d.,]+)?$/.test(cell)) box.className = "number";
    line.append(box);
  }
  return line;
}

function fill(table, header, rows) { table.replaceChildren(row(header, "th"), ...rows.map((cells) => row(cells))); }
function options(select, values) { select.replaceChildren(...values.map((value) => make("option", value, { value }))); }

// --- verdicts
function verdict(claim) { return make("span", claim.verdict, { class: "word", "data-mark": MARKS[claim.verdict] }); }
function check(claim) {
  const box = make("span");
  for (const name of claim.experiments) box.append(make("a", "+exp=" + name, { href: "#exp-" + name }), " ");
  for (const test of claim.tests) box.append(make("code", test), " ");
  return box;
}
function showClaims() {
  const chosen = $("which").value;
  const shown = data.claims.filter((claim) => chosen === "all" || claim.verdict === chosen);
  fill($("claims"), ["Statement", "Says", "Verdict", "Measured", "Checked by", "More"], shown.map((claim) =>
    [claim.statement, claim.says, verdict(claim), claim.measured, check(claim), [claim.reason, claim.note].filter(Boolean).join(" ").replaceAll("`", "")]));
}
const words = Object.keys(MARKS).filter((word) => data.claims.some((claim) => claim.verdict === word));
for (const word of words) {
  const item = make("li");
  item.append(make("b", String(data.claims.filter((claim) => claim.verdict === word).length)), make("span", word, { class: "word", "data-mark": MARKS[word] }));
  $("tally").append(item);
}
options($("which"), ["all", ...words]);
$("which").addEventListener("change", showClaims);
showClaims();

// --- curves
const drawn = data.experiments.filter((experiment) => experiment.arms.length && experiment.arms[0].episodes.length > 5);
const dashes = [[], [8, 4], [2, 3], [12, 3, 2, 3]];
let chart = null, hidden = new Set();
const current = () => drawn.find((experiment) => experiment.name === $("experiment").value);
const inPanel = () => current().arms.filter((arm) => arm.panel === $("panel").value);
const colour = (i) => data.palette[i % data.palette.length];
const dash = (i) => dashes[Math.floor(i / data.palette.length) % dashes.length];

function showChart() {
  const arms = inPanel(), tables = [], series = [{ label: "episode" }], log = $("log").checked ? 3 : 1;
  arms.forEach((arm, i) => {
    if (hidden.has(arm.key)) return;
    const look = { stroke: colour(i), dash: dash(i), spanGaps: true, points: { show: false } };
    if ($("seeds").checked) for (const seed of arm.seeds) { tables.push([arm.episodes, seed]); series.push({ ...look, label: arm.key, width: 0.6 }); }
    if (arm.printed_curve) { tables.push(arm.printed_curve); series.push({ ...look, label: "printed", width: 1.5, dash: [2, 4] }); }
    tables.push([arm.episodes, arm.mean]); series.push({ ...look, label: arm.key, width: 2 });
  });
  chart?.destroy();
  chart = null;
  if (!tables.length) return;
  const box = { width: Math.min($("chart").clientWidth || 900, 990), height: 380 };
  const axis = { values: (_, ticks) => ticks.map((tick) => tick === null ? "" : tick >= 1000 ? tick / 1000 + "k" : tick) };
  chart = new uPlot({ ...box, series, legend: { show: false }, scales: { x: { time: false, distr: log }, y: { distr: log } },
    axes: [{ ...axis, label: "episode" }, { ...axis, label: "cumulative regret", size: 70 }] }, uPlot.join(tables), $("chart"));
}
function showArms() {
  hidden = new Set();
  const boxes = inPanel().map((arm, i) => {
    const label = make("label"), box = make("input", undefined, { type: "checkbox", checked: "" });
    box.addEventListener("change", () => { box.checked ? hidden.delete(arm.key) : hidden.add(arm.key); showChart(); });
    label.append(box, make("span", "", { class: "swatch", style: `border-color:${colour(i)};border-top-style:${["solid", "dashed", "dotted", "double"][Math.floor(i / data.palette.length) % 4]}` }), arm.label + " (" + arm.key + ")");
    return label;
  });
  $("arms").replaceChildren(make("legend", "Arms"), ...boxes);
  fill($("finals"), ["Arm", "Algorithm", "Privacy", "Runs", "Ours", "Printed"], inPanel().map((arm) =>
    [arm.key, arm.label, privacy(arm), String(arm.runs), regret(arm), number(arm.printed)]));
  showChart();
}
function showPanels() { options($("panel"), [...new Set(current().arms.map((arm) => arm.panel))]); showArms(); }
if (drawn.length) {
  options($("experiment"), drawn.map((experiment) => experiment.name));
  $("experiment").addEventListener("change", showPanels);
  $("panel").addEventListener("change", showArms);
  for (const id of ["seeds", "log"]) $(id).addEventListener("change", showChart);
  $("reset").addEventListener("click", showChart);
  addEventListener("resize", showChart);
  showPanels();
} else $("chart").replaceWith(make("p", "No experiment with curves has shipped yet."));

// --- regret against epsilon
const swept = data.experiments.filter((experiment) => experiment.arms.some((arm) => arm.epsilon !== null));
const sweep = () => swept.find((experiment) => experiment.name === $("swept").value).arms.filter((arm) => arm.epsilon !== null);
const values = () => [...new Set(sweep().map((arm) => arm.epsilon))].sort((a, b) => a - b);
function showAt() {
  const epsilon = values()[$("slider").value], arms = sweep().filter((arm) => arm.epsilon === epsilon).sort((a, b) => a.regret - b.regret);
  const most = Math.max(...arms.map((arm) => arm.regret));
  $("value").textContent = String(epsilon);
  fill($("at"), ["Arm", "Privacy", "Regret", ""], arms.map((arm) =>
    [arm.label + " (" + arm.of + ")", privacy(arm), regret(arm), make("span", "", { class: "bar", style: `width:${(12 * arm.regret) / most}rem` })]));
}
function showSlider() { $("slider").max = values().length - 1; $("slider").value = 0; showAt(); }
if (swept.length) {
  options($("swept"), swept.map((experiment) => experiment.name));
  $("swept").addEventListener("change", showSlider);
  $("slider").addEventListener("input", showAt);
  showSlider();
} else $("slider").disabled = true;

// --- Table 1, experiments, deviations, provenance
const COLUMNS = ["name", "model", "environment", "bound", "epsilon_add_remove", "regret", "half_width_95", "rank_bound", "rank_measured"];
let order = { column: "rank_bound", up: true };
function showBounds() {
  const sorted = [...data.table1].sort((a, b) => {
    const [x, y] = [a[order.column], b[order.column]], numeric = !isNaN(x) && !isNaN(y);
    return (order.up ? 1 : -1) * (numeric ? x - y : x.localeCompare(y));
  });
  const header = COLUMNS.map((column) => {
    const button = make("button", column.replaceAll("_", " ") + (order.column === column ? (order.up ? " ▲" : " ▼") : ""), { type: "button" });
    button.addEventListener("click", () => { order = { column, up: order.column === column ? !order.up : true }; showBounds(); });
    return button;
  });
  fill($("bounds"), header, sorted.map((line) => COLUMNS.map((column) => line[column])));
}
showBounds();
for (const experiment of data.experiments) {
  const card = make("section", undefined, { id: "exp-" + experiment.name });
  const claims = data.claims.filter((claim) => claim.experiments.includes(experiment.name)).map((claim) => claim.statement);
  card.append(make("h3", experiment.name), make("p", experiment.asks));
  if (claims.length) card.append(make("p", "Claims: " + claims.join(", "), { class: "quiet" }));
  const command = make("p"); command.append(make("code", experiment.command), ` (about ${experiment.minutes} minutes on 2 cores)`);
  card.append(command);
  if (experiment.figure) card.append(make("img", undefined, { src: experiment.figure, alt: "Figure of the experiment " + experiment.name, loading: "lazy" }));
  $("cards").append(card);
}
for (const deviation of data.deviations) {
  const box = make("details"); box.append(make("summary", deviation.id + ". " + deviation.title), make("p", deviation.text.replaceAll("**", "")));
  $("choices").append(box);
}
fill($("origins"), ["Experiment", "Runs", "Episodes", "Seconds of computing", "Code", "SHA-256 of its file"], data.provenance.map((entry) =>
  [entry.name, String(entry.runs), entry.episodes.toLocaleString("en"), String(entry.seconds), entry.origins.map((origin) => origin.code).join(" "), make("code", entry.sha256.slice(0, 16))]));
