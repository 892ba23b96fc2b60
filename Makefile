# Everything runs in .venv, which is made on first use; only python3 (3.11 or newer) and make are needed.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DOCS_READY := .venv/.docs-ready
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --editable

# Tests start hundreds of processes: each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test test-slow chaos mutants check bench docs dist clean

setup: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "lotor needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) --version 2>&1): install one and run 'make PYTHON=python3.12 $(MAKECMDGOALS)'." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "'$(PYTHON)' has no venv module: install it (Debian and Ubuntu: 'apt install python3-venv') and run make again." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(INSTALL) '.[dev,data,plot]'
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

# make mutants MUTANTS='--only consent', or --list
MUTANTS ?=

mutants: $(READY)
	@PYTHONPATH=tests $(BIN)/python -m mutants $(MUTANTS)

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
	$(BIN)/python benchmarks/forms.py $(BENCH)
	$(BIN)/python benchmarks/linucb_ds.py $(BENCH)
	$(BIN)/python benchmarks/sharing.py $(BENCH)
	$(BIN)/python benchmarks/planner.py $(BENCH)
	$(BIN)/python benchmarks/garbling.py $(BENCH)
	$(BIN)/python benchmarks/products.py $(BENCH)
	$(BIN)/python benchmarks/ppcb.py $(BENCH)
	$(BIN)/python benchmarks/helba_shared.py $(BENCH)
	$(BIN)/python benchmarks/helba.py $(BENCH)

# The documentation as a site: open site/index.html
docs: $(DOCS_READY)
	$(BIN)/python docs/assemble.py
	$(BIN)/zensical build --strict --clean

$(DOCS_READY): $(READY)
	$(INSTALL) '.[docs]'
	@touch $(DOCS_READY)

# The wheel and the source distribution, in dist/
dist: $(READY)
	$(BIN)/python -m build

clean:
	rm -rf .venv build dist site .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
