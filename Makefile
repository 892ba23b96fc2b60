# Everything runs in .venv, which is made on first use; only python3 (3.11 or newer) and make are needed.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

# Tests start hundreds of processes: each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test test-slow chaos check bench clean

setup: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "lotor needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) --version 2>&1): install one and run 'make PYTHON=python3.12 $(MAKECMDGOALS)'." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "'$(PYTHON)' has no venv module: install it (Debian and Ubuntu: 'apt install python3-venv') and run make again." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --editable '.[dev,data]'
	@touch $(READY)

# make demo DEMO=--kill
DEMO ?=

demo: $(READY)
	@$(BIN)/lotor demo $(DEMO)

test: $(READY)
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m 'not long'

# Two at a time: some take 3 GB.
test-slow: $(READY)
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m long

# make chaos CHAOS='--kills 1000 --seed 5'
CHAOS ?=

chaos: $(READY)
	@PYTHONPATH=tests $(BIN)/python -m chaos $(CHAOS)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# make bench BENCH= measures longer and more precisely
BENCH ?= --quick

bench: $(READY)
	$(BIN)/python benchmarks/samba.py $(BENCH)
	$(BIN)/python benchmarks/federation.py $(BENCH)
	$(BIN)/python benchmarks/linucb_ds.py $(BENCH)
	$(BIN)/python benchmarks/sharing.py $(BENCH)
	$(BIN)/python benchmarks/ppcb.py $(BENCH)
	$(BIN)/python benchmarks/helba.py $(BENCH)

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
