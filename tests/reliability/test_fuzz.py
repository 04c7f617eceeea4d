"""Any setting and any MDP file: a run that is set up, or an InputError of one line; never anything else."""

import io
import tempfile
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dpucbvi.environments import from_file
from dpucbvi.errors import InputError
from experiments.lab.assemble import assemble
from experiments.lab.settings import RunSettings, canonical, run_settings

EXAMPLES = 300
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 30),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(["", "central", "local", "dp_ucbvi", "random", "file", "???", "cvxpy", "é\x00", "1e5"]),
    st.lists(st.integers(), max_size=2),
)
KEYS = st.sampled_from(
    ["name", "epsilon", "S", "A", "H", "scale", "constant", "pooled", "zero", "path", "x", ""]
)
TREES = st.dictionaries(
    st.sampled_from([f.name for f in fields(RunSettings)] + ["seed", ""]),
    st.one_of(VALUES, st.dictionaries(KEYS, VALUES, max_size=4)),
    max_size=5,
)


@pytest.mark.slow  # hundreds of examples
def test_any_settings_are_a_run_or_one_line(faults):
    faults(EXAMPLES)

    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(TREES)
    def check(tree):
        try:
            assemble(canonical(run_settings(tree)))
        except InputError as error:
            assert str(error) and "\n" not in str(error)

    check()


@pytest.mark.slow  # hundreds of examples
def test_any_mdp_file_is_an_mdp_or_one_line(faults):
    """A file that is right, with some of its bytes changed, cut off, or repeated."""
    faults(EXAMPLES)
    buffer = io.BytesIO()
    np.savez(buffer, P=np.ones((2, 1, 1, 1)), r=np.full((2, 1, 1), 0.5), initial=np.ones(1))
    whole = buffer.getvalue()
    edits = st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), min_size=1, max_size=6)

    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(edits, st.one_of(st.none(), st.integers(0, len(whole))))
    def check(changes, end):
        data = bytearray(whole)
        for at, byte in changes:
            data[at] = byte
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mdp.npz"
            path.write_bytes(bytes(data[:end]))
            try:
                from_file(str(path))
            except InputError as error:
                assert str(error) and "\n" not in str(error)

    check()
