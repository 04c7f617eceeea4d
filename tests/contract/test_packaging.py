"""The files around the code agree with each other and with the code."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from functools import cache
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from test_imports import imports

import dpucbvi

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
OPTIONAL = PROJECT["optional-dependencies"]
LIBRARY = ("cvxpy", "gymnasium", "pandas", "plot")  # what parts of the library ask for
EXPERIMENTS = ("paper", "dask", "gymnasium", "notebooks")


def required(*extras: str) -> list[Requirement]:
    """What these extras need, those that they name among them, beside what the library always needs."""
    found = []
    for line in [line for extra in extras for line in OPTIONAL[extra]]:
        one = Requirement(line)
        found += required(*sorted(one.extras)) if one.name == PROJECT["name"] else [one]
    return found


RUNTIME = [Requirement(line) for line in PROJECT["dependencies"]]
DEV = required("dev")
BUILD = [Requirement(line) for line in PYPROJECT["build-system"]["requires"]]
RANGE = SpecifierSet(PROJECT["requires-python"])
PYTHONS = [f"3.{minor}" for minor in range(100) if RANGE.contains(f"3.{minor}")]  # the oldest first
MAKEFILE = (ROOT / "Makefile").read_text()
IMPORT_NAME = {
    **{"hydra-core": "hydra", "pyyaml": "yaml", "pillow": "PIL", "dp-accounting": "dp_accounting"},
    "pytest-xdist": "xdist",
}
NOT_IMPORTED = {
    "ipykernel": "what Jupyter starts for a notebook",
    "highspy": "cvxpy loads it by itself as its HIGHS solver",
}


def locked(file: str = "requirements.lock") -> dict[str, tuple[str, int]]:
    """name -> (version, number of hashes) of a lock."""
    text = (ROOT / file).read_text().replace("\\\n", " ")
    pins = {}
    for line in text.splitlines():
        pin = re.match(r"([\w.-]+)==([^\s;]+)", line)
        assert pin, f"not a pin: {line}"
        name, version = pin.groups()
        assert name not in pins, f"{name} is pinned twice"
        pins[canonicalize_name(name)] = (version, line.count("--hash=sha256:"))
    return pins


@cache
def third_party_imports(folder: str) -> set[str]:
    """Top-level names that the folder's files import, also inside functions, and that are not ours."""
    names = set()
    for path in (ROOT / folder).rglob("*.py"):
        names |= {one.name.partition(".")[0] for one in imports(path.read_text())}
    own = {path.stem for path in (ROOT / "tests").rglob("*.py")}
    return names - {"dpucbvi", "experiments", "tests", "pictures"} - own - set(sys.stdlib_module_names)


def import_name(requirement: Requirement) -> str:
    return IMPORT_NAME.get(requirement.name, requirement.name)


def test_environment_yml_installs_the_lock():
    text = (ROOT / "environment.yml").read_text()
    dependencies = yaml.safe_load(text)["dependencies"]
    assert {"pip": ["-r experiments/requirements.lock"]} in dependencies
    (python,) = (d for d in dependencies if isinstance(d, str) and d.startswith("python="))
    assert python.removeprefix("python=") in PYTHONS


def test_the_library_needs_three_packages():
    """llvmlite comes with numba."""
    assert {requirement.name for requirement in RUNTIME} == {"numpy", "scipy", "numba", "llvmlite"}


@pytest.mark.slow  # builds a wheel
def test_what_is_installed_is_the_library_with_its_types(tmp_path):
    """From a copy: a build leaves files beside the sources."""
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("dpucbvi", "experiments"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "."]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    info = f"dpucbvi-{dpucbvi.__version__}.dist-info"
    metadata = zipfile.ZipFile(wheel).read(f"{info}/METADATA").decode()
    assert "\nProject-URL: Paper, https://" in metadata and (ROOT / "README.md").read_text() in metadata
    ours = {path.relative_to(ROOT).as_posix() for path in (ROOT / "dpucbvi").rglob("*.py")}
    assert {name for name in names if not name.startswith(info)} == ours | {"dpucbvi/py.typed"}


@pytest.mark.slow  # mypy reads the library
def test_the_types_of_the_door_are_there_for_others(tmp_path):
    """--strict takes a name for offered only if the door says so; py.typed says that types are meant."""
    names = [name for name in dpucbvi.__all__ if name != "load"]
    (tmp_path / "mine.py").write_text("import dpucbvi as dp\n\n" + "".join(f"dp.{name}\n" for name in names))
    flags = ("--strict", "--follow-imports=silent", "--ignore-missing-imports")
    command, environment = [sys.executable, "-m", "mypy", *flags, "mine.py"], {**os.environ, "MYPYPATH": ROOT}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_same_pythons_everywhere():
    (newest_first,) = re.findall(r"^PYTHONS := (.*)$", MAKEFILE, re.MULTILINE)
    assert newest_first.split() == PYTHONS[::-1]
    assert PROJECT["classifiers"] == [f"Programming Language :: Python :: {python}" for python in PYTHONS]
    assert workflow_job()["strategy"]["matrix"]["python"] == PYTHONS
    assert PYPROJECT["tool"]["ruff"]["target-version"] == "py" + PYTHONS[0].replace(".", "")
    assert PYPROJECT["tool"]["mypy"]["python_version"] == PYTHONS[0]


def workflow_job() -> dict:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    (job,) = workflow["jobs"].values()
    return job


def test_one_version_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == dpucbvi.__version__ and citation["license"] == PROJECT["license"]
    assert f"## [{dpucbvi.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
    assert PYPROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "dpucbvi.__version__"}


def test_the_files_of_make_quick_are_there():
    command = ["make", "--dry-run", "quick"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = re.findall(r"tests/\S+\.py", shown)
    assert len(files) > 10 and [file for file in files if not (ROOT / file).is_file()] == []


@pytest.mark.parametrize("requirement", [*RUNTIME, *required(*LIBRARY, *EXPERIMENTS)], ids=lambda r: r.name)
def test_a_dependency_is_imported_where_it_is_declared_for(requirement):
    library = requirement in RUNTIME or requirement in required(*LIBRARY)
    imported = third_party_imports("dpucbvi" if library else "experiments")
    assert import_name(requirement) in imported or requirement.name in NOT_IMPORTED


@pytest.mark.parametrize("folder", ["dpucbvi", "experiments", "notebooks", "tests"])
def test_every_import_is_a_declared_dependency(folder):
    extras = {"dpucbvi": LIBRARY, "experiments": EXPERIMENTS}.get(folder, ("dev",))
    declared = [*RUNTIME, *required(*extras)]
    assert third_party_imports(folder) - set(map(import_name, declared)) == set()


@pytest.mark.parametrize("requirement", RUNTIME + DEV + BUILD, ids=str)
def test_lock_pins_with_hashes(requirement):
    version, hashes = locked()[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version)
    assert hashes > 0


def test_the_small_lock_is_a_part_of_the_large_one():
    """It has what the experiments need, at the same versions and with the same hashes."""
    small, large = locked("experiments/requirements.lock"), locked()
    assert small.items() <= large.items() and len(small) < len(large) / 2
    assert {canonicalize_name(one.name) for one in RUNTIME + required("paper")} <= set(small)


def headings(text: str) -> set[str]:
    """The anchors of a Markdown file's headings."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def test_every_link_of_the_prose_leads_somewhere():
    broken = []
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "paper").rglob("*.md")):
        for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
            file, _, anchor = link.partition("#")
            target = path.parent / file if file else path
            if link.startswith("https:"):
                continue
            if not target.exists() or (anchor and anchor not in headings(target.read_text())):
                broken.append(f"{path.name}: {link}")
    assert broken == []
