# Two commands matter: `make demo` does the main job, `make test` runs every check.
# `make docs` builds the documentation into site/.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Optional parts to install, such as EXTRAS=spark.
EXTRAS ?=
INSTALLED := $(VENV)/installed$(if $(EXTRAS),-$(EXTRAS))

INSTALLED_DOCS := $(VENV)/installed-docs

.PHONY: demo test check docs pytest format bench wheel-check clean

demo: $(INSTALLED)
	$(BIN)/tacit demo

test: check docs pytest

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Warnings are errors (mkdocs.yml); the variable silences an advertisement of the theme.
docs: $(INSTALLED_DOCS)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "documentation: site/index.html"

# With the lines that the tests run: the share in all, and the files below 80 %. coverage.txt names the missing lines.
# No threshold: the figures are for people.
pytest: $(INSTALLED)
	$(BIN)/python -m slipcover --out coverage.txt -m pytest -n 2 --dist loadgroup
	@awk '$$1 == "(summary)" || $$1 ~ /\.py$$/ && $$4 < 80 { printf "%4d %%  %s\n", $$4, $$1 == "(summary)" ? "of all lines covered" : $$1 }' coverage.txt

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks

# What is released: sdist and wheel, and the wheel alone, without extras, in an empty folder.
wheel-check: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --group release
	rm -rf dist $(VENV)-wheel
	$(BIN)/python -m build
	$(PYTHON) -m venv $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip install --quiet dist/*.whl
	$(VENV)-wheel/bin/python -m pip check
	mkdir $(VENV)-wheel/empty
	cd $(VENV)-wheel/empty && ../bin/tacit demo

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.$(if $(EXTRAS),[$(EXTRAS)])' --group dev
	$(BIN)/python -m tacit.precompile
	touch $@

$(INSTALLED_DOCS): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-wheel dist coverage.txt .mypy_cache .ruff_cache .pytest_cache .hypothesis demo site
