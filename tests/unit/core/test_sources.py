"""The hash that provenance and the compiled cache trust: statements change it, words do not."""

import shutil
from pathlib import Path

import pytest

from dpucbvi.sources import PACKAGE, code, hash_of

MODULE = '''"""What it is."""

import math


class Circle:
    """A circle."""

    sides = 0

    def area(self, r: float) -> float:
        """Its area."""
        # by Archimedes
        return math.pi * r**2


async def wait() -> None:
    """Nothing."""
'''


def hashed(folder: Path, text: str, name: str = "circle.py") -> str:
    for old in folder.rglob("*.py"):
        old.unlink()
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return hash_of(folder)


SAME = {
    "comment": ("# by Archimedes", "# by Euclid"),
    "docstring of the module": ('"""What it is."""', '"""Something else."""'),
    "no docstring of a class": ('    """A circle."""\n', ""),
    "docstring of a method": ("Its area.", "Its size,\n        in squares."),
    "layout": ("math.pi * r**2", "(\n            math.pi\n            * r ** 2\n        )"),
}
OTHER = {
    "number": ("r**2", "r**3"),
    "type": ("r: float", "r: int"),
    "type of a value": ("sides = 0", "sides = 0.0"),
    "statement more": ("        return", "        assert r > 0\n        return"),
    "order": ("import math\n", "import sys\nimport math\n"),
    "a text that is no docstring": ("    sides = 0\n", '    sides = 0\n    """Not first."""\n'),
}


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_words_and_layout_change_nothing(old, new, tmp_path):
    assert old in MODULE
    assert hashed(tmp_path, MODULE.replace(old, new)) == hashed(tmp_path, MODULE)


@pytest.mark.parametrize(("old", "new"), OTHER.values(), ids=OTHER)
def test_any_statement_changes_the_hash(old, new, tmp_path):
    assert old in MODULE
    assert hashed(tmp_path, MODULE.replace(old, new)) != hashed(tmp_path, MODULE)


def test_the_hash_is_the_same_in_every_supported_python(tmp_path):
    """The trees of Python 3.11 to 3.14 differ in fields that are empty here; this one was written by 3.11."""
    assert hashed(tmp_path, MODULE) == "ae9f4b04796b16c6"


def test_code_is_the_whole_library_wherever_it_lies(tmp_path):
    copy = tmp_path / "elsewhere"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert code() == hash_of(copy) and len(code()) == 16
    file = max(copy.rglob("*.py"), key=lambda path: len(path.parts))  # in a room
    file.write_text(f"{file.read_text()}\nANOTHER = 1\n")
    assert hash_of(copy) != code()
