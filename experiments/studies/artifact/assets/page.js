"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const number = (x) => x === null || x === undefined ? "–" : x >= 100 ? Math.round(x).toLocaleString("en") : String(Number(x.toPrecision(3)));
const regret = (arm) => number(arm.regret) + (arm.low === null ? "" : ` (${number(arm.low)} to ${number(arm.high)})`);
const privacy = (arm) => arm.model === "none" ? "none" : `${arm.model} ε = ${number(arm.add_remove)} (replaced: ${number(arm.replace_one)})` + (arm.delta ? `, δ = ${arm.delta}` : "");

function make(tag, text, attributes = {}) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

function row(cells, tag, right) {
  const line = make("tr");
  cells.forEach((cell, i) => {
    const box = make(tag, undefined, right[i] ? { class: "number" } : {});
    if (cell instanceof Node) box.append(cell); else box.textContent = cell ?? "";
    line.append(box);
  });
  return line;
}

// A column whose cells are all numbers stands at the right.
const numeric = (cell) => typeof cell === "string" && /^(|–|∞|[\d.,]+( \([\d.,]+ to [\d.,]+\))?)$/.test(cell);
function fill(table, header, rows) {
  const right = header.map((_, i) => rows.length > 0 && rows.every((cells) => numeric(cells[i])) && rows.some((cells) => cells[i]));
  table.replaceChildren(row(header, "th", right), ...rows.map((cells) => row(cells, "td", right)));
}
function options(select, values, name = (value) => value) { select.replaceChildren(...values.map((value) => make("option", name(value), { value }))); }

// --- curves
const drawn = data.filter((experiment) => experiment.arms.length && experiment.arms[0].episodes.length > 5);
// A colour says what it says in the figures (studies/shared/style.py); arms of one colour differ in their dashes.
const dashes = [[], [10, 4], [14, 3, 3, 3], [5, 4], [18, 4, 3, 4, 3, 4], [24, 6], [8, 2, 2, 2]], dotted = [1.5, 3];
const short = (tick) => tick === null ? "" : tick >= 1e6 ? tick / 1e6 + "M" : tick >= 1000 ? tick / 1000 + "k" : tick;
let chart = null, hidden = new Set(), view = null; // view: the episodes that are zoomed to, or null for all
const current = () => drawn.find((experiment) => experiment.name === $("experiment").value);
const inPanel = () => current().arms.filter((arm) => arm.panel === $("panel").value);
const dash = (arms, i) => dashes[arms.slice(0, i).filter((arm) => arm.hue === arms[i].hue).length % dashes.length];

function showChart() {
  const kept = view;
  const arms = inPanel(), tables = [], series = [{ label: "episode" }], log = $("log").checked ? 3 : 1;
  arms.forEach((arm, i) => {
    if (hidden.has(arm.key)) return;
    const look = { stroke: arm.hue, dash: dash(arms, i), spanGaps: true, points: { show: false } };
    if ($("seeds").checked) for (const seed of arm.seeds) { tables.push([arm.episodes, seed]); series.push({ ...look, label: arm.key, width: 0.6 }); }
    if (arm.printed_curve) { tables.push(arm.printed_curve); series.push({ ...look, label: "reported", width: 1.5, dash: dotted }); }
    tables.push([arm.episodes, arm.mean]); series.push({ ...look, label: arm.key, width: 2 });
  });
  chart?.destroy();
  chart = null;
  if (!tables.length) return keepView();
  const box = { width: Math.min($("chart").clientWidth || 900, 990), height: 380 };
  const axis = { values: (_, ticks) => ticks.map(short), grid: { stroke: "#eee", width: 1 } };
  const asItIs = (_, low, high) => [low, high];
  chart = new uPlot({ ...box, series, legend: { show: false }, scales: { x: { time: false, distr: log, range: asItIs }, y: { distr: log } },
    axes: [{ ...axis, label: "episode" }, { ...axis, label: "cumulative regret", size: 70 }],
    hooks: { setScale: [(_, key) => key === "x" && sayRange()] } }, uPlot.join(tables), $("chart"));
  if (kept) chart.setScale("x", { min: kept[0], max: kept[1] });
  sayRange();
}
// --- zoom by keys and buttons, as by dragging
function sayRange() {
  const { min, max } = chart?.scales.x ?? {};
  if (min === undefined || min === null) return; // before the first drawing
  const all = chart.data[0];
  view = min <= all[0] && max >= all[all.length - 1] ? null : [min, max];
  $("range").textContent = [min, max].map((x) => Math.round(x).toLocaleString("en")).join(" to ");
  keepView();
}
function showAll() { view = null; showChart(); }

// --- the view in the address: what is chosen can be sent to somebody
let touched = false; // until then the address stays as it came, with the place on the page that it may name
for (const kind of ["click", "keydown", "change"]) addEventListener(kind, () => { touched = true; }, true);
function keepView() {
  if (!touched) return;
  const chosen = new URLSearchParams({ experiment: $("experiment").value });
  if ($("panel").value) chosen.set("panel", $("panel").value);
  if ($("seeds").checked) chosen.set("runs", "1");
  if (!$("log").checked) chosen.set("linear", "1");
  if (hidden.size) chosen.set("without", [...hidden].join(","));
  if (view) chosen.set("episodes", view.map(Math.round).join("-"));
  history.replaceState(null, "", "#" + chosen);
}
function restoreView() {
  const chosen = new URLSearchParams(location.hash.slice(1));
  if (!drawn.some((experiment) => experiment.name === chosen.get("experiment"))) return false;
  $("experiment").value = chosen.get("experiment");
  showPanels();
  if (panels().includes(chosen.get("panel"))) { $("panel").value = chosen.get("panel"); showArms(); }
  $("seeds").checked = chosen.has("runs"); $("log").checked = !chosen.has("linear");
  const keys = new Set(inPanel().map((arm) => arm.key));
  hidden = new Set((chosen.get("without") ?? "").split(",").filter((key) => keys.has(key)));
  for (const box of $("arms").querySelectorAll("input")) box.checked = !hidden.has(box.value);
  const [low, high] = (chosen.get("episodes") ?? "").split("-").map(Number);
  view = low >= 1 && high > low ? [low, high] : null;
  showChart();
  return true;
}
function zoom(factor, shift) {
  if (!chart) return;
  const log = $("log").checked, to = log ? Math.log10 : Number, from = log ? (x) => 10 ** x : Number;
  const all = chart.data[0], [first, last] = [to(all[0]), to(all[all.length - 1])];
  const low = to(chart.scales.x.min ?? all[0]), high = to(chart.scales.x.max ?? all[all.length - 1]); // not there before the first drawing
  const width = Math.min((high - low) * factor, last - first), middle = (low + high) / 2 + shift * (high - low);
  const start = Math.max(first, Math.min(middle - width / 2, last - width));
  chart.setScale("x", { min: from(start), max: from(start + width) });
}
const keys = { "+": () => zoom(0.5, 0), "=": () => zoom(0.5, 0), "-": () => zoom(2, 0), "0": showAll,
  "ArrowLeft": () => zoom(1, -0.25), "ArrowRight": () => zoom(1, 0.25) };
$("chart").addEventListener("keydown", (event) => {
  if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  keys[event.key]();
});
// The line of an arm as it is in the chart.
function swatch(hue, pattern) {
  const svg = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const box = svg("svg", { class: "swatch", width: 44, height: 6, "aria-hidden": "true" });
  box.append(svg("line", { x1: 0, x2: 44, y1: 3, y2: 3, stroke: hue, "stroke-width": 2.5, "stroke-dasharray": pattern.join(" ") }));
  return box;
}
function showArms() {
  hidden = new Set();
  view = null;
  const boxes = inPanel().map((arm, i) => {
    const label = make("label"), box = make("input", undefined, { type: "checkbox", checked: "", value: arm.key });
    box.addEventListener("change", () => { box.checked ? hidden.delete(arm.key) : hidden.add(arm.key); showChart(); });
    label.append(box, swatch(arm.hue, dash(inPanel(), i)), arm.label + " (" + arm.key + ")");
    return label;
  });
  $("arms").replaceChildren(make("legend", "Arms"), ...boxes);
  $("seeds").disabled = inPanel().every((arm) => !arm.seeds.length);
  fill($("finals"), ["Arm", "Ours", "Reported", "Algorithm", "Privacy", "Runs"], inPanel().map((arm) =>
    [arm.key, regret(arm), number(arm.printed), arm.label, privacy(arm), String(arm.runs)]));
  showChart();
}
const panels = () => [...new Set(current().arms.map((arm) => arm.panel))];
function showPanels() {
  options($("panel"), panels(), (panel) => panel.replaceAll("_", " ") || "all");
  $("panel").parentElement.hidden = panels().length < 2;
  showArms();
}
if (drawn.length) {
  options($("experiment"), drawn.map((experiment) => experiment.name));
  $("experiment").addEventListener("change", showPanels);
  $("panel").addEventListener("change", showArms);
  for (const id of ["seeds", "log"]) $(id).addEventListener("change", showChart);
  for (const [id, key] of [["closer", "+"], ["wider", "-"], ["back", "ArrowLeft"], ["on", "ArrowRight"], ["reset", "0"]]) $(id).addEventListener("click", keys[key]);
  addEventListener("resize", showChart);
  addEventListener("hashchange", restoreView);
  if (!restoreView()) showPanels();
} else $("chart").replaceWith(make("p", "No experiment with curves has shipped yet."));

// --- regret against epsilon
const swept = data.filter((experiment) => experiment.arms.some((arm) => arm.epsilon !== null));
const sweep = () => swept.find((experiment) => experiment.name === $("swept").value).arms.filter((arm) => arm.epsilon !== null);
const values = () => [...new Set(sweep().map((arm) => arm.epsilon))].sort((a, b) => a - b);
let curves = null;
function showSweep() {
  const arms = sweep(), names = [...new Set(arms.map((arm) => arm.of))], first = (of) => arms.find((arm) => arm.of === of);
  const firsts = names.map(first), looks = firsts.map((_, i) => ({ stroke: firsts[i].hue, dash: dash(firsts, i), width: 2, spanGaps: true }));
  const tables = names.map((of) => {
    const points = arms.filter((arm) => arm.of === of && arm.regret > 0).sort((a, b) => a.epsilon - b.epsilon);
    return [points.map((arm) => arm.epsilon), points.map((arm) => arm.regret)];
  });
  const axis = { values: (_, ticks) => ticks.map(short), grid: { stroke: "#eee", width: 1 } };
  curves?.destroy();
  curves = new uPlot({ width: Math.min($("sweep").clientWidth || 900, 990), height: 320, legend: { show: false },
    series: [{ label: "ε" }, ...looks], scales: { x: { time: false, distr: 3 }, y: { distr: 3 } },
    axes: [{ ...axis, label: "ε" }, { ...axis, label: "final regret", size: 70 }] }, uPlot.join(tables), $("sweep"));
  $("lines").replaceChildren(...firsts.map((arm, i) => {
    const item = make("li", undefined, { class: "quiet" });
    item.append(swatch(arm.hue, looks[i].dash), " " + arm.label + " (" + arm.of + ")");
    return item;
  }));
}
function showAt() {
  const epsilon = values()[$("slider").value], arms = sweep().filter((arm) => arm.epsilon === epsilon).sort((a, b) => a.regret - b.regret);
  const most = Math.max(...arms.map((arm) => arm.regret));
  $("value").textContent = String(epsilon);
  fill($("at"), ["Arm", "Regret", "", "Privacy"], arms.map((arm) =>
    [arm.label + " (" + arm.of + ")", regret(arm), make("span", "", { class: "bar", style: `width:${(8 * arm.regret) / most}rem` }), privacy(arm)]));
}
function showSlider() {
  const all = values(), from1 = (epsilon) => Math.abs(Math.log(epsilon));
  $("slider").max = all.length - 1;
  $("slider").value = all.indexOf(all.reduce((a, b) => from1(b) < from1(a) ? b : a)); // ε = 1, or the nearest
  showSweep();
  showAt();
}
if (swept.length) {
  options($("swept"), swept.map((experiment) => experiment.name));
  $("swept").addEventListener("change", showSlider);
  $("slider").addEventListener("input", showAt);
  addEventListener("resize", showSweep);
  showSlider();
} else $("slider").disabled = true;
