# Two commands for a newcomer: `make demo` and `make test`. Both make their own environment in .venv first.
# While working: `make check-fast`, two minutes; before handing in: `make test`, a quarter of an hour.
PYTHON ?= python3
BIN := .venv/bin
# Each process takes whole files, the longest first (tests/slow.py): what the tests of a file share is made once.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
# Code on pages has short lines: no page cuts them off.
FORMAT_PAGES := $(BIN)/ruff format --line-length 88 docs/*.md docs/gallery/*.md docs/adapters/*.md

.PHONY: demo test check check-fast format docs gallery benchmark reproduce dist wheels clean

demo: .venv/demo.stamp
	$(BIN)/python examples/demo.py

test: check
	$(PYTEST)

check-fast: check
	$(PYTEST) -m "not slow"

check: .venv/test.stamp
	$(BIN)/ruff format --check .
	$(FORMAT_PAGES) --check
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: .venv/test.stamp
	$(BIN)/ruff format .
	$(FORMAT_PAGES)
	$(BIN)/ruff check --fix .

# The documentation, in docs/_build/html; a warning is an error.
docs: .venv/test.stamp
	$(BIN)/python -m sphinx -W --keep-going --quiet docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

# The pictures of the gallery, drawn by its pages.
gallery: .venv/test.stamp
	$(BIN)/python docs/pages.py docs/gallery/*.md

# A few of the benchmarks, and the page of all of them; `--json` of a script writes its results.
benchmark: .venv/test.stamp
	$(BIN)/python benchmarks/engine.py --json benchmarks/results/engine.json
	$(BIN)/python benchmarks/all_modes.py --values --json benchmarks/results/all_modes_values.json
	$(BIN)/python benchmarks/overhead.py --json benchmarks/results/overhead.json
	$(BIN)/python benchmarks/page.py

# The paper's tables and figures at full size; what is there already is kept.
reproduce: .venv/test.stamp
	$(BIN)/allmodes reproduce all --keep --workers -1 --out docs

# A wheel and a source archive, in dist/, and whether an index would take them.
dist: .venv/test.stamp
	$(BIN)/python -m build
	$(BIN)/python -m pip install --quiet --disable-pip-version-check twine
	$(BIN)/python -m twine check --strict dist/*

# The wheel with the oldest and the newest NumPy, SciPy and Python of those here or in PYTHONS="python3.11 python3.13".
wheels: .venv/test.stamp
	$(BIN)/python tests/wheels.py $(PYTHONS)

clean:
	rm -rf .venv docs/_build docs/generated .mypy_cache .pytest_cache .ruff_cache .import_linter_cache dist

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "allmodes needs Python 3.11 or newer; $(PYTHON) is `$(PYTHON) --version 2>&1`. Try: make PYTHON=python3.12 demo"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/demo.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plot,cli,report]'
	@touch $@

.venv/test.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ .venv/demo.stamp
