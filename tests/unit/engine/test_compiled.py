"""compiled(f): what a plain function reaches is compiled with it, and the cache never gives other code."""

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numba
import numpy as np
import pytest

from dpucbvi import bonus
from dpucbvi.engine.compiled import by_hand, cache_in, cacheable, compiled, key

FACTOR = 3.0


# --- what is reached -----------------------------------------------------------------------------------


def square(x):
    return x * x


def times(x):
    return FACTOR * square(x)


def factorial(n):
    return 1 if n == 0 else n * factorial(n - 1)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def summed(step, n):
    """A loop around a function of a closure."""

    def loop(x):
        total = 0.0
        for i in range(n):
            total += step(x + i)
        return total

    return loop


def test_functions_behind_globals_are_compiled_too():
    assert compiled(times)(2.0) == times(2.0) == 12.0
    assert compiled(times).nopython_signatures


def test_functions_in_closures_are_compiled_and_told_apart():
    """Two loops of one text with two plans: each runs its own."""
    squares, triples = summed(square, 4), summed(times, 4)
    assert compiled(squares)(1.0) == squares(1.0) == 30.0
    assert compiled(triples)(1.0) == triples(1.0) == 90.0
    assert compiled(summed(square, 5))(1.0) == 55.0


def test_recursion_ends():
    def inner(n):
        return 0 if n == 0 else 1 + inner(n - 1)

    assert compiled(factorial)(10) == factorial(10)
    assert [compiled(is_even)(n) for n in range(4)] == [True, False, True, False]
    assert compiled(inner)(7) == 7


def test_a_global_that_changes_is_another_function(monkeypatch):
    before = compiled(times)
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 5.0)
    assert compiled(times)(2.0) == 20.0
    assert before(2.0) == 12.0


def test_a_version_written_by_hand_takes_the_place_of_the_plain_one():
    def plain(x):
        raise NotImplementedError

    @by_hand(plain)
    def version(x):
        return x + 0.5

    def caller(x):
        return plain(x) * 2.0

    assert compiled(plain) is version
    assert compiled(caller)(1.0) == 3.0


def test_an_index_outside_an_array_is_an_error_where_bounds_are_checked():
    def third(x):
        return x[2]

    with pytest.raises(IndexError):
        compiled(third, boundscheck=True)(np.zeros(2))
    assert compiled(third, boundscheck=True)(np.ones(3)) == 1.0


# --- the key -------------------------------------------------------------------------------------------


def test_what_is_not_the_packages_is_not_cached_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert (
        not cacheable(times) and not cacheable(summed(bonus.scaled_sum, 2)) and cacheable(bonus.variance_term)
    )

    def own(x):
        return square(x) + 1.0

    assert compiled(own)(2.0) == 5.0
    assert list(tmp_path.rglob("*")) == []


def test_the_users_own_cache_folder_is_left_alone(tmp_path, monkeypatch):
    """But for what is decorated meanwhile."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = numba.config.CACHE_DIR
    with cache_in("name", True) as writable:
        assert writable and numba.config.CACHE_DIR.startswith(str(tmp_path))
    assert numba.config.CACHE_DIR == before


def test_the_key_sees_defaults_constants_and_the_signs_of_zeros():
    def made(text):
        names = {"C": 0.0, "np": np}
        exec(text, names)
        return names["f"]

    texts = (
        "def f(x, y=1.0): return x + y",
        "def f(x, y=2.0): return x + y",
        "def f(x, y=1): return x + y",
        "def f(x, *, y=1.0): return x + y",
        "def f(x): return x + 0.0",
        "def f(x): return x + -0.0",
        "def f(x): return x + C",
        "C = -0.0\ndef f(x): return x + C",
        "C = np.zeros(2)\ndef f(x): return x + C",
        "C = np.ones(2)\ndef f(x): return x + C",
        "C = (1.0, 2)\ndef f(x): return x + C",
        "def f(x): return np.sqrt(x)",
        "def f(x): return np.exp(x)",
        "def f(x):\n    g = lambda z: z + C\n    return g(x)",
        "C = 1.0\ndef f(x):\n    g = lambda z: z + C\n    return g(x)",
    )
    keys = [key(made(text), {}) for text in texts]
    assert len(set(keys)) == len(keys)
    assert keys == [key(made(text), {}) for text in texts]
    assert key(made(texts[0]), {"boundscheck": True}) != keys[0]
    moved = made(texts[0])
    moved.__module__ = "another"  # where numba would look for it
    assert key(moved, {}) != keys[0]


# --- the cache, from process to process ------------------------------------------------------------------

LOOP = """
    SHIFT = 1.0

    def first(x):
        return x + SHIFT

    def second(x):
        return x * 10.0

    def loop(n):
        total = 0.0
        for i in range(n):
            total += plan(float(i))
        return total
"""


def printed(tmp_path: Path, source: str) -> list[tuple[float, bool]]:
    """What a fresh process makes of loop(4) with both plans, and whether its code came from the disk."""
    file = tmp_path / "looped.py"
    if not file.exists() or file.read_text() != textwrap.dedent(source):
        file.write_text(textwrap.dedent(source))
    code = f"""
        import importlib.util, sys
        from dpucbvi.engine.compiled import bound, compiled
        spec = importlib.util.spec_from_file_location("dpucbvi.looped", {str(file)!r})
        module = sys.modules["dpucbvi.looped"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for plan in (module.first, module.second):
            loop = compiled(bound(module.loop, plan=plan))
            print(loop(4), sum(loop.stats.cache_hits.values()))
    """
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [(float(value), bool(int(hits))) for value, hits in map(str.split, done.stdout.splitlines())]


def test_the_cache_tells_apart_two_plans_an_edited_callee_and_an_edited_constant(tmp_path):
    assert importlib.util.find_spec("dpucbvi.looped") is None
    assert printed(tmp_path, LOOP) == [(10.0, False), (60.0, False)]  # numba's own key would give 10 twice
    assert printed(tmp_path, LOOP) == [(10.0, True), (60.0, True)]
    edited = LOOP.replace("SHIFT = 1.0", "SHIFT = 2.0").replace("x * 10.0", "x * 20.0")
    assert printed(tmp_path, edited) == [(14.0, False), (120.0, False)]
