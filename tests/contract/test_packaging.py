"""The files around the code agree with each other and with the code."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import dpucbvi

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
RUNTIME = [Requirement(line) for line in PROJECT["dependencies"]]
DEV = [Requirement(line) for line in PROJECT["optional-dependencies"]["dev"]]
BUILD = [Requirement(line) for line in PYPROJECT["build-system"]["requires"]]

IMPORT_NAME = {"hydra-core": "hydra", "pyyaml": "yaml", "pillow": "PIL"}
NOT_IMPORTED = {"highspy": "cvxpy loads it by itself as its HIGHS solver"}


def tracked_files() -> list[Path]:
    """Files of the working tree that git tracks or would add; skips what .gitignore names."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    files = [ROOT / name for name in done.stdout.split("\0") if name]
    return [path for path in files if path.is_file()]


def locked() -> dict[str, tuple[str, int]]:
    """name -> (version, number of hashes) of requirements.lock."""
    text = (ROOT / "requirements.lock").read_text().replace("\\\n", " ")
    pins = {}
    for line in text.splitlines():
        pin = re.match(r"([\w.-]+)==([^\s;]+)", line)
        assert pin, f"not a pin: {line}"
        name, version = pin.groups()
        assert name not in pins, f"{name} is pinned twice"
        pins[canonicalize_name(name)] = (version, line.count("--hash=sha256:"))
    return pins


def imported_modules() -> set[str]:
    """Top-level names imported anywhere, also inside functions, in the package and experiments."""
    names = set()
    for folder in ("dpucbvi", "experiments"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    names |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.level == 0:
                    names.add(node.module.partition(".")[0])
    return names


def test_top_level_holds_the_promised_entries():
    folders = {"paper", "experiments", "dpucbvi", "conf", "notebooks", "tests"}
    present = {path.name for path in ROOT.iterdir()}
    assert folders | {"environment.yml", "README.md"} <= present


def test_environment_yml_agrees_with_pyproject():
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert {"pip": ["-e .[dev]"]} in dependencies
    (python,) = (d for d in dependencies if isinstance(d, str) and d.startswith("python="))
    major, minor = map(int, python.removeprefix("python=").split("."))
    assert PROJECT["requires-python"] == f">={major}.{minor},<{major}.{minor + 1}"


def test_one_version_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["version"] == dpucbvi.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert f"## [{PROJECT['version']}]" in changelog


def test_citation_names_the_paper():
    paper = yaml.safe_load((ROOT / "CITATION.cff").read_text())["preferred-citation"]
    assert paper["title"] == "Near-Optimal Differentially Private Reinforcement Learning"
    assert [author["family-names"] for author in paper["authors"]] == ["Qiao", "Wang"]
    assert paper["year"] == 2023


def test_every_make_target_has_a_help_line():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z][\w-]*):(?!=)(.*)$", makefile, re.MULTILINE)
    assert [name for name, rest in targets if "## " not in rest] == []
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert sorted(phony.split()) == sorted(name for name, _ in targets)
    # Under `make -C` a nested make would announce its directory.
    command = ["make", "--no-print-directory"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [line.split()[0] for line in shown.splitlines()] == [name for name, _ in targets]


@pytest.mark.parametrize("name", [r.name for r in RUNTIME if r.name not in NOT_IMPORTED])
def test_runtime_dependency_is_imported(name):
    assert IMPORT_NAME.get(name, name) in imported_modules()


@pytest.mark.parametrize("requirement", RUNTIME + DEV + BUILD, ids=str)
def test_lock_pins_with_hashes(requirement):
    version, hashes = locked()[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version)
    assert hashes > 0


def test_every_lock_entry_has_hashes():
    assert [name for name, (_, hashes) in locked().items() if hashes == 0] == []


def test_no_package_host_is_named():
    # Split, so that this file does not match itself.
    hosts = ["pypi" + ".org", "python" + "hosted", "anaconda" + ".org"]
    pattern = re.compile("|".join(map(re.escape, hosts)).encode(), re.IGNORECASE)
    named = [p.relative_to(ROOT) for p in tracked_files() if pattern.search(p.read_bytes())]
    assert named == []
