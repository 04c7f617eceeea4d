"""Which code a result is said to come from."""

import subprocess
import sys

import pytest

from dpucbvi import sources
from experiments.lab.provenance import PACKAGES, ROOT, provenance

IMPORTS = """
import sys, dpucbvi, dpucbvi.engine.fast, dpucbvi.engine.exact, dpucbvi.audit.run, dpucbvi.audit.structure
import experiments.lab.assemble
print(*(module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "dpucbvi"), sep="\\n")
"""


@pytest.fixture(autouse=True)
def fresh():
    """The hash is worked out once in a process: not from one test to the next."""
    sources.code.cache_clear()
    yield
    sources.code.cache_clear()


def test_the_sources_are_those_that_a_run_imports():
    """All that is loaded to run or to audit from settings, but for the file that only says what the lab is."""
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split()) - {str(ROOT / "dpucbvi" / "lab" / "__init__.py")}
    assert {str(source) for source in sources.sources()} == loaded


def test_the_hash_is_of_every_source_and_of_no_other_file(monkeypatch, tmp_path):
    before = sources.code()
    assert len(before) == 16 and sources.code() == before
    names = {source.name for source in sources.sources()}
    assert {"algorithm1.py", "kernel.py", "certificate.py", "simulate.py", "assemble.py"} <= names
    assert not {"runner.py", "store.py", "provenance.py", "report.py", "figure.py"} & names
    other = tmp_path / "other.py"
    other.write_text("# another line")
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    monkeypatch.setattr(sources, "sources", lambda: [other])
    sources.code.cache_clear()
    assert sources.code() != before


def package(folder):
    """A copy of the package's sources in another place."""
    for source in (sources.PACKAGE).rglob("*.py"):
        copied = folder / source.relative_to(sources.PACKAGE)
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_bytes(source.read_bytes())
    return folder


@pytest.mark.parametrize(
    ("changed", "matters"),
    [
        ("bonus.py", True),
        ("agents/ucbvi.py", True),
        ("engine/kernel.py", True),
        ("lab/settings.py", True),
        ("agents/new_agent.py", True),
        ("lab/runner.py", False),
        ("lab/store.py", False),
        ("studies/regret.py", False),
    ],
)
def test_a_changed_line_changes_the_hash_if_a_result_can_depend_on_it(monkeypatch, tmp_path, changed, matters):
    monkeypatch.setattr(sources, "PACKAGE", package(tmp_path))
    before = sources.code()
    with (tmp_path / changed).open("a") as file:
        file.write("\n# another line\n")
    sources.code.cache_clear()
    assert (sources.code() != before) == matters


def test_the_place_of_the_package_does_not_change_the_hash(monkeypatch, tmp_path):
    before = sources.code()
    monkeypatch.setattr(sources, "PACKAGE", package(tmp_path))
    sources.code.cache_clear()
    assert sources.code() == before


def test_a_file_that_is_renamed_changes_the_hash(monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "PACKAGE", package(tmp_path))
    before = sources.code()
    (tmp_path / "bonus.py").rename(tmp_path / "bonuses.py")
    sources.code.cache_clear()
    assert sources.code() != before


def test_provenance_says_code_packages_and_machine():
    told = provenance()
    assert told["code"] == sources.code()
    assert set(told["versions"]) == {"python", *PACKAGES}
    assert set(told["platform"]) == {"system", "machine"}
    if (ROOT / ".git").exists():
        head = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True)
        assert told["commit"] == head.stdout.strip() and told["dirty"] in (True, False)
    else:
        assert told["commit"] is None and told["dirty"] is None
