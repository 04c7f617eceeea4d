# Every target runs inside .venv, which is built on first use and rebuilt when
# requirements.lock or pyproject.toml changes. Another interpreter: make PYTHON=/path/to/python3.11

BIN  := .venv/bin
VENV := .venv/.stamp
is311 = $(1) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null

.DEFAULT_GOAL := help
.PHONY: help riverswim reproduce figures bench notebooks test test-all lint types format lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s  %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

riverswim: $(VENV) ## the paper's figure: regret on RiverSwim
	$(BIN)/python experiments/run.py +exp=riverswim

reproduce: $(VENV) ## everything the report rests on
	$(BIN)/python experiments/reproduce.py

figures: $(VENV) ## redraw the figures and rewrite the tables from stored results
	$(BIN)/python experiments/figures.py
	$(BIN)/python experiments/tables.py

bench: $(VENV) ## time the engines
	$(BIN)/python experiments/bench.py

notebooks: $(VENV) ## execute notebooks/*.py into results/notebooks/
	mkdir -p results/notebooks
	set -e; for f in notebooks/*.py; do \
	  $(BIN)/jupytext --to ipynb --set-kernel python3 --execute --run-path "$(CURDIR)" \
	    --output "results/notebooks/$$(basename "$$f" .py).ipynb" "$$f"; \
	done

test: lint types ## lint, types and the quick tests
	$(BIN)/python -m pytest -m "not slow" -n 2

test-all: lint types ## lint, types and every test, slow ones too
	$(BIN)/python -m pytest -n 2

lint: $(VENV) ## style and formatting, nothing rewritten
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV) ## static types
	$(BIN)/mypy

format: $(VENV) ## rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# setuptools is locked too: the project itself is then built from the venv, without a download.
# --universal with one version each: the same file serves Linux and macOS, pip and uv.
lock: ## resolve requirements.lock again from pyproject.toml (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv on PATH" >&2; exit 1; }
	echo setuptools | uv pip compile --quiet --universal --fork-strategy fewest \
	  --python-version 3.11 --extra dev --generate-hashes \
	  --no-header --no-annotate -o requirements.lock pyproject.toml -

clean: ## remove caches and .venv, keep results/
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info build
	find dpucbvi experiments notebooks tests -name __pycache__ -prune -exec rm -rf {} +

# The stamp goes first and comes back last: an interrupted install is never taken for a whole one.
$(VENV): requirements.lock pyproject.toml
	@rm -f $@
	@set -e; for python in $(or $(PYTHON),python3.11 python3); do \
	  if $(call is311,$$python); then $$python -m venv .venv; exit; fi; \
	done; echo "Python 3.11 is needed; name one with: make PYTHON=/path/to/python3.11" >&2; exit 1
	@if command -v uv >/dev/null; then pip="uv pip install --quiet --python $(BIN)/python"; \
	else pip="$(BIN)/python -m pip install --quiet --disable-pip-version-check"; fi; \
	set -ex; $$pip --require-hashes -r requirements.lock; \
	$$pip --no-deps --no-build-isolation -e .
	@touch $@
