# Everything sets itself up: `make run` and `make test` need only Python 3.11+, make and a shell.
.DEFAULT_GOAL := help
.PHONY: help run test lint type fmt unit cover bench chaos lock clean

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --no-compile --require-hashes
SELF := $(PIP) install --quiet --no-compile --no-deps --no-build-isolation --editable .

help: ## Show this help
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 10

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Hart needs Python 3.11 or newer; this is %d.%d. Set PYTHON=..." % sys.version_info[:2])'
	@echo "Setting up .venv (once)"
	@$(PYTHON) -m venv .venv

.venv/.run: .venv/bin/python requirements.lock pyproject.toml
	@echo "Installing what Hart needs (a minute or two, once)"
	@$(INSTALL) -r requirements.lock
	@$(SELF)
	@touch $@

.venv/.dev: .venv/bin/python requirements-dev.lock pyproject.toml
	@echo "Installing what Hart and its tests need (two minutes or so, once)"
	@$(INSTALL) -r requirements-dev.lock
	@$(SELF)
	@touch .venv/.run $@

run: .venv/.run ## Run the bot: a prompt here and a page on http://127.0.0.1:8765
	@exec $(BIN)/hart run

test: lint type unit ## Run every check and test

lint: .venv/.dev ## Check style and the rules on who may import whom
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

type: .venv/.dev ## Check types
	$(BIN)/mypy

unit: .venv/.dev
	$(BIN)/python -m pytest $(ARGS)

cover: .venv/.dev ## Run all tests and show which lines they do not reach
	$(BIN)/python -m pytest --cov --cov-report=term $(ARGS)

fmt: .venv/.dev ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.dev ## Measure latencies and idle cost; prints a table and JSON
	$(BIN)/python -m bench $(ARGS)

chaos: .venv/.dev ## The crash test in full: random kills, on SQLite and Postgres
	HART_CHAOS=full $(BIN)/python -m pytest -n 0 tests/chaos $(ARGS)

lock: ## Renew the lock files (needs uv)
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-header --quiet -o requirements.lock
	uv pip compile pyproject.toml --extra dev --constraint requirements.lock --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-emit-find-links --no-header --quiet -o requirements-dev.lock

clean: ## Remove the environment and caches (not your data)
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build *.egg-info
