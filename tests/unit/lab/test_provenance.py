"""Which code a result is said to come from."""

import subprocess
import sys

from dpucbvi import provenance

IMPORTS = """
import sys, dpucbvi.engine.fast, dpucbvi.engine.reference
print(*(module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "dpucbvi"), sep="\\n")
"""


def test_the_sources_are_those_that_the_engines_import():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    assert {str(source) for source in provenance.sources()} == set(done.stdout.split())


def test_the_hash_is_of_every_source_and_of_no_other_file(monkeypatch, tmp_path):
    before = provenance.code()
    assert len(before) == 16 and provenance.code() == before
    names = {source.name for source in provenance.sources()}
    assert {"algorithm1.py", "kernel.py", "accountant.py"} <= names
    assert not {"runner.py", "store.py", "provenance.py", "figures.py"} & names
    other = tmp_path / "other.py"
    other.write_text("# another line")
    sources = provenance.sources()
    monkeypatch.setattr(provenance, "sources", lambda: {*sources, other})
    assert provenance.code() != before
