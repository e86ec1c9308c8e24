# Every target sets up what it needs: an environment in .venv, made by uv, with every package pinned by its hash.

PYTHON ?= python3
BIN := .venv/bin
UV := $(BIN)/uv
INSTALL := $(UV) pip install --quiet --python $(BIN)/python
PARALLEL := -n 2 --dist worksteal
# Tests are compiled once: where the environment forbids to keep that, collecting them takes twice as long.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-unit setup serve lint bench extras clean

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

demo: .venv/runtime  ## the main job: real tutoring dialogues through the API on a real Neo4j
	$(BIN)/graphmem demo

serve: .venv/runtime  ## the API on port 8000
	$(BIN)/graphmem serve

setup: .venv/dev  ## the whole environment, for development

test: .venv/dev  ## every test, in two processes with a Neo4j each
	$(BIN)/pytest $(PARALLEL)

test-unit: .venv/dev  ## the tests that need no Neo4j, with fewer examples each, and the examples of docstrings
	$(BIN)/pytest $(PARALLEL) --hypothesis-profile quick tests/unit graphmem

lint: .venv/dev  ## ruff, mypy and import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/dev  ## the numbers
	$(BIN)/graphmem bench turn
	$(BIN)/graphmem bench load

extras: .venv/extras  ## the sentence-transformers extra as well, as CI has it

clean:  ## remove the environment
	rm -rf .venv

.venv/uv: requirements/uv.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

.venv/runtime: .venv/uv requirements/runtime.txt requirements/build.txt pyproject.toml
	$(INSTALL) --require-hashes -r requirements/runtime.txt -r requirements/build.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/dev: .venv/runtime requirements/dev.txt
	$(INSTALL) --compile-bytecode --require-hashes -r requirements/dev.txt
	@touch $@

.venv/extras: .venv/dev requirements/extras.txt
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements/extras.txt
	@touch $@
