"""The table of faults: with --reliability FILE, what this run tried and what was handled."""

import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

DISKS = "full disks, unwritable folders, long paths"
# A test of these is one fault each; a test that tries several counts them itself, with the fixture `faults`.
KINDS = {
    "contract/test_cli.py::test_bad_input": "malformed command lines",
    "contract/test_page.py::test_bad_input": "malformed command lines",
    "::test_a_label": "labels that a browser or a spreadsheet would run",
    "reliability/test_bad_input.py::test_a_bad_setting": "malformed settings",
    "reliability/test_bad_input.py::test_an_environment": "environments that cannot be made",
    "reliability/test_bad_input.py": "malformed MDP files",
    "contract/test_cli.py::test_what_is_finished_survives": "signals to a running job",
    "unit/lab/test_store.py::test_a_file_that_is_not_the_run": "damaged files of a run",
    "unit/core/test_archive.py::test_a_damaged_file": "damaged files of a run",
    "unit/core/test_archive.py::test_no_flipped_bit": "flipped bits of stored files",
    "unit/core/test_archive.py::test_a_file_made_up": "forged files of a run",
    "::test_an_experiment_that_is_none": "forged indexes",
    "unit/lab/test_store.py::test_a_file_that_is_no_experiment": "forged indexes",
    "unit/core/test_archive.py::test_a_run_made_up": "forged files of a run",
    "::test_nothing_that_a_": "forged files of a run",
    "unit/lab/test_runner.py::test_two_users": "other users of one folder",
    "contract/test_door.py::test_bad_input": "malformed calls of the library",
    "contract/test_door.py::test_hostile": "user code that misbehaves",
    "reliability/test_fuzz.py::test_any": "fuzzed",
    "reliability/test_kills.py::test_who_ends_reproduce": "signals to reproduce.py while a step of it runs",
    "reliability/test_kills.py": "random kills of parent and workers",
    "reliability/test_surroundings.py::test_four": "processes at once on one folder",
    "reliability/test_surroundings.py": "odd terminals, variables and folders",
    "reliability/test_dask.py::test_an_address": "addresses that let strangers in",
    "reliability/test_dask.py": "clusters with a fault",
    "contract/test_processors.py": "other processors",
    "reliability/test_full_disks.py": DISKS,
}


# What compiles most kernels: in one process, which then has them in memory.
KERNELS = (
    *("contract/test_digests", "contract/test_engines", "contract/test_reference"),
    *("contract/test_door", "contract/test_imports", "studies/test_verify"),  # would compile what is missing
    *("unit/audit/test_attack", "unit/engine/", "unit/privatizers/", "unit/session/", "unit/core/test_trace"),
    "privacy/test_exact",
    *("claims/test_appendix_b", "claims/test_appendix_c"),
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a file to one process: its fixtures are made, and its kernels compiled, once.

    pytest-xdist 3.8 has groups for this (`xdist_group`), but under pytest 9 it takes every test for a group.
    """
    from xdist.scheduler import LoadFileScheduling

    class ByKernels(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return "kernels" if any(name in file for name in KERNELS) else file

    return ByKernels(config, log)


def pytest_addoption(parser):
    parser.addoption(
        "--browser", action="store_true", help="fail where a browser is missing, in place of a skip"
    )
    parser.addoption("--reliability", type=Path, metavar="FILE", help="write the table of faults")


def pytest_terminal_summary(terminalreporter, config):
    path = config.getoption("--reliability")
    if path is None:
        return
    tried, handled = Counter(), Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            kind = next((kind for start, kind in KINDS.items() if start in report.nodeid), None)
            if report.when == "call" and kind is not None:
                faults = dict(report.user_properties).get("faults", 1)
                for which, n in faults.items() if isinstance(faults, dict) else [("", faults)]:
                    tried[kind, which] += n
                    handled[kind, which] += n * (outcome == "passed")
    path.write_text(table(tried, handled))


HEAD = """# Faults tried, and what became of them

Written by `make test-all`. A fault is handled if it ends as promised: one line that names it,
nothing half-written, and results that are, to the last bit, those of an undisturbed run.

| fault | tried | handled | lost |
|:--|--:|--:|--:|
"""


def table(tried: Counter, handled: Counter) -> str:
    """Lost is what was tried and not handled as promised."""
    order = list(KINDS.values())
    found = sorted(tried, key=lambda name: (order.index(name[0]), name[1]))
    rows = [(": ".join(filter(None, name)), tried[name], handled[name]) for name in found]
    rows.append(("all", sum(tried.values()), sum(handled.values())))
    return HEAD + "".join(f"| {kind} | {n:,} | {m:,} | {n - m:,} |\n" for kind, n, m in rows)


@pytest.fixture
def faults(record_property):
    """Say how many faults this test tries, or how many of each sort."""
    return lambda n: record_property("faults", n if isinstance(n, int) else dict(n))


@pytest.fixture
def one_stream(monkeypatch):
    """Give all runs with one seed one privacy stream, whatever their settings."""
    monkeypatch.setattr("dpucbvi.privacy.laplace._content", lambda setup: ())


@pytest.fixture
def cli(monkeypatch, capsys, tmp_path):
    """Call a script of experiments/ in this process, in an empty folder; gives (exit code, stdout, stderr)."""
    monkeypatch.setenv("HYDRA_FULL_ERROR", "0")  # restored afterwards
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def call(*arguments: str, script: str = "run"):
        monkeypatch.setattr(sys, "argv", [f"experiments/{script}.py", *arguments])
        try:
            import_module(f"experiments.{script}").main()
            code = 0
        except SystemExit as stopped:
            code = stopped.code or 0
        return code, *capsys.readouterr()

    return call
