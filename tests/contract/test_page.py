"""The page: one file that loads nothing, with the numbers of the CSV files, and that works in a browser."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from experiments import page
from experiments.lab.shipped import Shipped

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# Appended to the page: works it as a reader would, and leaves what it saw in the document.
READER = """
<script>
(async () => {
const seen = { refused: [] };
document.addEventListener("securitypolicyviolation", (event) => seen.refused.push(event.blockedURI));
seen.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
seen.canvas = document.querySelectorAll("#chart canvas").length;
seen.curves = chart.series.length - 1;
document.querySelector("#seeds").click();
seen.runs = chart.series.length - 1;
const range = () => document.querySelector("#range").textContent;
const press = async (key) => {
  document.querySelector("#chart").focus();
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await new Promise((done) => setTimeout(done, 20));
  return range();
};
seen.range = [range()];
for (const key of ["+", "+", "ArrowRight", "-", "0"]) seen.range.push(await press(key));
document.querySelector("#closer").click();
await new Promise((done) => setTimeout(done, 20));
seen.button = range();
const pause = () => new Promise((done) => setTimeout(done, 20));
document.querySelector("#arms input").click();
await pause();
document.querySelector("#log").click();
await pause();
seen.toggled = range();
seen.address = decodeURIComponent(location.hash);
document.querySelector("#log").click();
document.querySelector("#arms input").click();
document.querySelector("#reset").click();
await pause();
seen.reset = [range(), decodeURIComponent(location.hash)];
location.hash = seen.address;
await pause(); await pause();
const checked = (selector) => document.querySelector(selector).checked;
seen.restored = [range(), checked("#log"), checked("#arms input")];
location.hash = "experiment=" + document.querySelector("#experiment").value;
await pause(); await pause();
document.querySelector("#seeds").click();
for (const box of document.querySelectorAll("#arms input")) box.click();
seen.empty = document.querySelectorAll("#chart canvas").length;
seen.slider = document.querySelector("#value").textContent;
document.querySelector("#slider").value = 0;
document.querySelector("#slider").dispatchEvent(new Event("input"));
seen.moved = document.querySelector("#value").textContent;
const focusable = [...document.querySelectorAll("button, select, input, summary, a")];
const deaf = (node) => { node.focus(); return document.activeElement !== node && !node.disabled; };
seen.focus = focusable.filter(deaf).length;
seen.loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
const note = { id: "seen", textContent: JSON.stringify(seen) };
document.body.append(Object.assign(document.createElement("pre"), note));
})();
</script>
"""


@pytest.fixture(scope="module")
def text() -> str:
    return page.page(ROOT / "paper")


@pytest.fixture(scope="module")
def data(text) -> dict:
    return json.loads(
        re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)[1]
    )


@pytest.mark.parametrize("label", ["<!--<script>", "</script><script>alert(1)</script>", "<b>", "a < b"])
def test_a_label_neither_ends_nor_begins_a_script(label):
    assert (
        "<" not in page.as_json({"label": label})
        and json.loads(page.as_json({"label": label}))["label"] == label
    )


def test_bad_input_is_one_line(cli):
    code, out, err = cli("--paper", "/nonexistent", script="page")
    assert (code, out, err) == (2, "", "error: --paper: /nonexistent has no results\n")


def test_it_is_small_and_nothing_in_it_can_load_anything(text):
    assert len(text.encode()) < 1_000_000
    assert "default-src 'none'; style-src" in text  # the browser itself refuses every request
    assert set(re.findall(r'<(?:script|img|link|iframe)[^>]*?(?:src|href)="([^"]{0,12})', text)) == set()
    assert not re.search(r"/\*[A-Z_]+\*/", text), "a part is missing"


def test_its_numbers_are_those_of_the_files(data):
    shipped = Shipped(ROOT / "paper" / "results")
    arms = {(e["name"], arm["key"]): arm["regret"] for e in data for arm in e["arms"]}
    assert arms
    for name in {name for name, _ in arms}:
        for arm in shipped.load_experiment(name).arms:
            assert arms[name, arm.key] == pytest.approx(arm.mean, rel=1e-5)
    without = {"audit", "calibrate", "calibrate_mechanisms", "calibrate_table1", "calibrate_windows"}
    large = {"explain_fit", "table1_private"}
    assert {e["name"] for e in data} == set(shipped.experiments()) - without - large
    assert data[0]["name"] == "riverswim"


def requested_by_pages(log: str) -> list[str]:
    """What Chromium's log of the network has, but for what the browser asks for itself, without an origin."""
    events = [event.get("params", {}) for event in json.loads(log)["events"]]
    return [one["url"] for one in events if one.get("initiator", "not an origin") != "not an origin"]


def browse(file: Path, log: Path, width: int) -> subprocess.CompletedProcess:
    """Open it in a browser that finds no other machine, and give back the document that comes of it."""
    flags = [
        "--headless",
        "--no-sandbox",
        "--no-first-run",
        "--disable-gpu",
        "--disable-background-networking",
        "--enable-logging=stderr",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--log-net-log={log}",
        f"--user-data-dir={file.parent}",
        f"--window-size={width},900",
        "--virtual-time-budget=2000",
        "--dump-dom",
    ]
    return subprocess.run([CHROMIUM, *flags, file.as_uri()], capture_output=True, text=True, timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize("width", [375, 1200], ids=["phone", "desk"])
def test_it_works_in_a_browser(text, data, tmp_path, width, request):
    if CHROMIUM is None and not request.config.getoption("--browser"):
        pytest.skip("no Chromium on PATH (Debian: apt-get install chromium)")
    assert CHROMIUM, "no Chromium on PATH (Debian: apt-get install chromium)"
    file = tmp_path / "index.html"
    file.write_text(text.replace("</html>", READER))
    log = tmp_path / "requests.json"
    done = browse(file, log, width)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    seen = json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)[1]))
    assert seen["wide"] <= 0  # nothing is wider than the window: tables scroll by themselves
    assert (seen["canvas"], seen["empty"]) == (1, 0)
    assert seen["loaded"] == [] and seen["refused"] == []  # nothing was requested, nothing had to be refused
    assert requested_by_pages(log.read_text()) == []
    arms = next(e["arms"] for e in data if e["name"] == "riverswim")
    shown = [arm for arm in arms if arm["panel"] == arms[0]["panel"]]
    assert seen["runs"] - seen["curves"] == sum(len(arm["seeds"]) for arm in shown) > 10
    # Halved about the middle of log k, halved again, moved by a quarter of what is seen, doubled, all.
    starts = (0.0, 1 / 4, 3 / 8, 3 / 8 + 1 / 16, 5 / 16, 0.0)
    ends = [start + part for start, part in zip(starts, (1, 1 / 2, 1 / 4, 1 / 4, 1 / 2, 1), strict=True)]
    told = [f"{50_000**a:,.0f} to {50_000**b:,.0f}" for a, b in zip(starts, ends, strict=True)]
    assert seen["range"] == told
    assert seen["button"] == seen["range"][1] == seen["toggled"]  # a zoom survives what is switched on and off
    assert f"without={shown[0]['key']}" in seen["address"] and "linear=1" in seen["address"]
    assert seen["reset"][0] == seen["range"][0] and "episodes" not in seen["reset"][1]
    assert seen["restored"] == [seen["button"], False, False]  # the address brings the view back
    assert seen["slider"] == "1" and float(seen["moved"]) < 1
    assert seen["focus"] == 0  # all that can be worked can be reached by keyboard
