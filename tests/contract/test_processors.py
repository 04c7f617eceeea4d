"""The same bits on every processor: runs in a process that is kept from the newer instructions of this one.

numba is told to compile for any x86-64, OpenBLAS to use the kernels of 2008, glibc and numpy to leave AVX2 and
fused multiply-add alone. What the C library's exp and a matrix product give there is compared too: where this
processor has these instructions, they differ (the negative control).
"""

import hashlib
import json
import math
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.agents import AGENTS
from dpucbvi.privatizers import PRIVATIZERS

ROOT = Path(__file__).resolve().parents[2]
OLD = {
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "OPENBLAS_CORETYPE": "Nehalem",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable",
    "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512_SKX",
}
x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="these are switches of x86-64")
FIRST = ("dp_ucbvi", "central", "reference")


def pairs() -> list[tuple[str, str]]:
    """Every agent with every privatizer that it is defined for."""
    return [(agent, name) for agent in AGENTS for name in PRIVATIZERS if go_together(agent, name)]


def go_together(agent: str, name: str) -> bool:
    one, other = AGENTS[agent], privatizer(name)
    return other.model in one().models and not (one.stochastic and getattr(other, "one_action", False))


def privatizer(name: str) -> dp.protocol.Privatizer:
    noisy = {} if name == "non_private" else {"epsilon": 30.0, "confidence_scale": 1e-3}
    return PRIVATIZERS[name](
        **noisy, **({"first": 5, "growth": 1.2} if "batch" in name or "one_" in name else {})
    )


def digest(agent: str, name: str, engine: str = "fast") -> str:
    """A hash of all numbers of a run that learns, on an MDP with dense rows."""
    parts = dp.random_mdp(5, 2, 6), AGENTS[agent](bonus_scale=1e-3), privatizer(name)
    trace = dp.run(*parts, K=90, lp_checks=0, engine=engine)
    arrays = (trace.regret, trace.policy_changes, trace.fallbacks, trace.N_sa, trace.Q, trace.policy)
    numbers = repr((trace.E, trace.noise_scale)).encode()
    return hashlib.sha256(numbers + b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


def bits_of_libm_and_blas() -> list[str]:
    """Bits of what the package does not use: libm's exp and a product of OpenBLAS."""
    x = np.random.default_rng(0).random(100_000)
    found = np.array([math.exp(one) for one in x]), x.reshape(-1, 100) @ x[:100]
    return [hashlib.sha256(one.tobytes()).hexdigest() for one in found]


def on_an_old_processor(code: str) -> object:
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        f"import json; from tests.contract import test_processors as t\nprint(json.dumps({code}))",
    ]
    done = subprocess.run(
        command, env={**os.environ, **OLD}, cwd=ROOT, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


@x86
def test_a_run_has_the_same_bits_on_an_old_processor_where_libm_and_blas_do_not(faults):
    """Of the reference, which needs no compiler; compiled runs are compared with it in test_engines."""
    from numpy._core._multiarray_umath import __cpu_features__ as has

    faults({"one run": 1})
    run, unused = on_an_old_processor(f"[t.digest(*{FIRST}), t.bits_of_libm_and_blas()]")
    assert run == digest(*FIRST)
    if has["FMA3"]:  # this processor is no old one
        assert all(one != other for one, other in zip(unused, bits_of_libm_and_blas(), strict=True))


@x86
@pytest.mark.slow
def test_every_agent_and_privatizer_has_the_same_bits_on_an_old_processor(faults):
    faults({"runs of every agent with every privatizer": len(pairs())})
    old = on_an_old_processor("[t.digest(*pair) for pair in t.pairs()]")
    assert [pair for pair, bits in zip(pairs(), old, strict=True) if digest(*pair) != bits] == []
    assert len(set(old)) > len(old) // 2  # runs that differ, and not one run many times
