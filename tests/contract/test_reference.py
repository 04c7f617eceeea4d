"""The API reference: every public name has its sections, they name its parameters, and its examples run."""

import doctest
import inspect
import re
from pathlib import Path

import pytest

import dpucbvi as dp

ROOT = Path(__file__).resolve().parents[2]
SECTION = re.compile(r"^(\w[\w ]+)\n-+\n((?:.*\n?)*?)(?=^\w[\w ]+\n-+\n|\Z)", re.MULTILINE)
# These refuse nothing.
RECORDS = {"Audit", "Certificate", "Counts", "Guarantee", "Noise", "Plan", "Problem", "Runs", "Trace", "User"}
OTHERS = {"Client", "InputError", "NonPrivate", "describe", "optimal_values", "planner", "policy_values"}


def sections(name: str) -> dict[str, str]:
    return dict(SECTION.findall(inspect.cleandoc(getattr(dp, name).__doc__) + "\n"))


def documented(text: str) -> list[str]:
    """The names at the left edge of a section, `a, b : type` being two."""
    heads = re.findall(r"^(\S[^:\n]*)", text, re.MULTILINE)
    return [one.strip().lstrip("*") for head in heads for one in head.split(",")]


def parameters(name: str) -> list[str]:
    if name == "InputError":
        return []
    return list(inspect.signature(getattr(dp, name)).parameters)


@pytest.mark.parametrize("name", dp.__all__)
def test_the_sections_are_there_and_name_the_parameters(name):
    found, given = sections(name), parameters(name)
    assert documented(found.get("Parameters", "")) == given
    assert "Examples" in found and ">>> import dpucbvi as dp" in found["Examples"]
    assert ("Raises" in found) == (name not in RECORDS | OTHERS)
    assert ("Returns" in found) == inspect.isfunction(getattr(dp, name))


def test_a_parameter_that_is_forgotten_is_noticed():
    text = "Parameters\n----------\na, b\n    Words: these.\nc : int\n    More.\n\nReturns\n-------\nint\n"
    found = dict(SECTION.findall(text))
    assert documented(found["Parameters"]) == ["a", "b", "c"] and documented(found["Returns"]) == ["int"]


@pytest.mark.parametrize("name", dp.__all__)
def test_the_examples_run(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    (test,) = doctest.DocTestFinder(recurse=False).find(getattr(dp, name), name)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL).run(test, out=said.append)
    assert result.attempted > 1 and result.failed == 0, "".join(said)


def test_every_name_has_its_place_in_the_reference():
    listed = re.findall(r"^   (\w+)$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(dp.__all__)
