# Every target runs inside .venv, which is built on first use and rebuilt when
# requirements.lock or pyproject.toml changes. It gets the newest Python found among PYTHONS;
# to have another one of them: make PYTHON=/path/to/python3.12

PYTHONS := 3.14 3.13 3.12 3.11
BIN  := .venv/bin
VENV := .venv/.stamp
# Asked by running it: pyenv puts a python3.12 on PATH that may only print an error.
supported = $(1) -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] not in "$(PYTHONS)".split())' 2>/dev/null

ifdef PYTHON  # a .venv of another Python than the one named is not used
ifneq ($(shell $(PYTHON) -V 2>/dev/null),$(shell $(BIN)/python -V 2>/dev/null))
.PHONY: $(VENV)
endif
endif

.DEFAULT_GOAL := help
.PHONY: help riverswim paper reproduce figures smoke verify ship page docs report bench notebooks quick test test-all test-browser lint types format lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s  %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

riverswim: $(VENV) ## the paper's figure: regret on RiverSwim
	$(BIN)/python experiments/run.py +exp=riverswim

paper: $(VENV) ## Figure 1 and Table 1, each row with what is reported and whether it reproduces: about 6 minutes
	$(BIN)/python experiments/run.py +exp=riverswim
	$(BIN)/python experiments/run.py +exp=table1

reproduce: $(VENV) ## compute every experiment and write paper/ from them
	$(BIN)/python experiments/reproduce.py

figures: $(VENV) ## redraw the figures and rewrite the tables from the stored runs
	$(BIN)/python experiments/paper.py

smoke: $(VENV) ## recompute one run of DP-UCBVI and compare it with the stored one: under 2 minutes
	$(BIN)/python experiments/verify.py literal/jdp_eps1

verify: $(VENV) ## recompute one seed of every arm and compare it with the stored run: 10 minutes
	$(BIN)/python experiments/verify.py

ship: $(VENV) ## put results/ into paper/results, then redraw and rewrite all of paper/
	$(BIN)/python experiments/ship.py; shipped=$$?; $(BIN)/python experiments/paper.py && exit $$shipped

page: $(VENV) ## every curve to zoom and compare, one HTML file, results/page/index.html
	$(BIN)/python experiments/page.py

docs: .venv/.docs ## the site, results/site/index.html, without a warning or a broken link: about a minute
	rm -rf docs/api results/site .venv/doctrees
	$(BIN)/python -m sphinx -q -W -n -c docs . results/site -d .venv/doctrees
	$(BIN)/python docs/check_links.py results/site

report: $(VENV) ## the report as a PDF, results/report/report.pdf (needs latexmk or tectonic)
	$(BIN)/python experiments/report.py

bench: $(VENV) ## time the engines
	$(BIN)/python experiments/bench.py

notebooks: $(VENV) ## execute notebooks/*.py into the notebooks/*.ipynb beside them
	$(BIN)/python experiments/notebooks.py

# A file of tests to one process, where its fixtures are made and its kernels compiled once.
PARALLEL := -n 2 --dist loadfile

# What a save can break, in every room and without a process or a compiler that is slow to start.
QUICK := $(addprefix tests/,contract/test_imports.py contract/test_deviations.py claims/test_lemma_5_4_postprocessing.py \
  $(addprefix unit/,core/test_mdp.py core/test_counts.py core/test_stats.py core/test_environments.py \
  lab/test_settings.py lab/test_store.py agents/test_ucbvi.py mechanisms/test_matrices.py privacy/test_laplace.py \
  privatizers/test_privatizers.py audit/test_clopper_pearson.py studies/test_verdicts.py))

quick: $(VENV) ## the fastest tests, for every save: under a minute
	$(BIN)/python -m pytest -m "not slow" $(PARALLEL) $(QUICK)

test: lint types ## lint, types and all tests but the slow ones
	$(BIN)/python -m pytest -m "not slow" $(PARALLEL)

test-all: lint types ## lint, types and every test, slow ones too
	$(BIN)/python -m pytest $(PARALLEL) --reliability=paper/results/reliability.md

test-browser: $(VENV) ## work the page in Chromium, which must be on PATH
	$(BIN)/python -m pytest tests/contract/test_page.py -m slow --browser

lint: $(VENV) ## style and formatting, nothing rewritten
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV) ## static types
	$(BIN)/mypy

format: $(VENV) ## rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# setuptools is locked too: the project itself is then built from the venv, without a download.
# --universal with one version each, from the oldest Python on: the same file serves every Python,
# Linux and macOS, pip and uv. experiments/requirements.lock is the part of it that running experiments takes.
lock: ## resolve the locks again from pyproject.toml (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv on PATH" >&2; exit 1; }
	echo setuptools | uv pip compile --quiet --universal --fork-strategy fewest \
	  --python-version $(lastword $(PYTHONS)) --extra dev --generate-hashes \
	  --no-header --no-annotate -o requirements.lock pyproject.toml -
	uv pip compile --quiet --universal --fork-strategy fewest --python-version $(lastword $(PYTHONS)) --extra paper \
	  --generate-hashes --no-header --no-annotate -c requirements.lock -o experiments/requirements.lock pyproject.toml
	uv pip compile --quiet --universal --fork-strategy fewest --python-version $(lastword $(PYTHONS)) --extra docs \
	  --generate-hashes --no-header --no-annotate -c requirements.lock -o docs/requirements.lock pyproject.toml

clean: ## remove caches and .venv, keep results/
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info build
	find dpucbvi experiments notebooks tests -name __pycache__ -prune -exec rm -rf {} +

# The stamp goes first and comes back last: an interrupted install is never taken for a whole one.
# A .venv of another Python goes too: venv would leave its links as they are.
$(VENV): requirements.lock pyproject.toml
	@rm -f $@
	@set -e; for python in $(or $(PYTHON),$(PYTHONS:%=python%) python3); do \
	  if $(call supported,$$python); then \
	    test "$$($$python -V)" = "$$($(BIN)/python -V 2>/dev/null)" || rm -rf .venv; \
	    $$python -m venv .venv; exit; \
	  fi; \
	done; echo "Python $(lastword $(PYTHONS)) to $(firstword $(PYTHONS)) is needed; name one with: make PYTHON=/path/to/python3" >&2; exit 1
	@if command -v uv >/dev/null; then pip="uv pip install --quiet --python $(BIN)/python"; \
	else pip="$(BIN)/python -m pip install --quiet --disable-pip-version-check"; fi; \
	set -ex; $$pip --require-hashes -r requirements.lock; \
	$$pip --no-deps --no-build-isolation -e .
	@touch $@

# Only the site needs these: the tests do not wait for them.
.venv/.docs: $(VENV) docs/requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r docs/requirements.lock
	@touch $@
