# Two commands matter: `make demo` does the main job, `make test` runs every check.
# `make docs` builds the documentation into site/.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Optional parts to install, such as EXTRAS=spark.
EXTRAS ?=
INSTALLED := $(VENV)/installed$(if $(EXTRAS),-$(EXTRAS))

INSTALLED_DOCS := $(VENV)/installed-docs

.PHONY: demo test check docs pytest coverage format bench wheel-check clean

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

pytest: $(INSTALLED)
	$(BIN)/pytest -n 2 --dist loadgroup

# The same with the lines and branches covered in all, and the files below 80 %: it takes three times as long.
# No threshold: the figure is for people.
coverage: $(INSTALLED)
	$(BIN)/pytest -n 2 --dist loadgroup --cov --cov-report=
	@$(BIN)/coverage report | awk '/^TOTAL/ || $$NF + 0 < 80'

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
	rm -rf $(VENV) $(VENV)-wheel dist .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis demo site
