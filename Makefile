# Two commands matter: `make demo` does the main job, `make test` runs every check.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Optional parts to install, such as EXTRAS=spark.
EXTRAS ?=
INSTALLED := $(VENV)/installed$(if $(EXTRAS),-$(EXTRAS))

.PHONY: demo test check pytest format bench clean

demo: $(INSTALLED)
	$(BIN)/tacit demo

test: check pytest

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

pytest: $(INSTALLED)
	$(BIN)/pytest -n 2 --dist loadgroup

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.$(if $(EXTRAS),[$(EXTRAS)])' --group dev
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis demo
