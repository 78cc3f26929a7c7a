# Every command sets up what it needs first; when nothing is missing that takes a moment.
#
#   PYTHON=/path/to/python3   the interpreter for .venv (3.11 or later; default: the first found)
#   NO_APT=1                  never install system packages, only say which are missing
#   CHROMIUM=/path/to/chrome  the browser that the tests drive
#   ARGS=...                  passed on to pytest, or to the benchmarks
#   PORT=8050                 where make run serves the browser
#   JOBS=2                    processes that run the tests; 0 for this one alone

.DEFAULT_GOAL := help
.SUFFIXES:
# The set-up comes first, also with -j; the tests are parallel in themselves.
.NOTPARALLEL:
.PHONY: help setup constraints run tour test test-deep lint format graph bench clean distclean
.PHONY: _python _system _lint

BIN := .venv/bin
SEED ?= 0
EXAMPLES ?= 2000
ARGS ?=
JOBS ?= 2
PORT ?= 8050
RUN := runs/demo
export PYTHON NO_APT CHROMIUM EXAMPLES

help: ## show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

# The two set-ups that the other targets ask for: the packages, and the machine's Java and Chromium.
_python:
	@sh scripts/set-up
_system:
	@sh scripts/set-up --system

setup: ## set up only, and try the system's packages again if they were missing
	@sh scripts/set-up --system --again

# Not after a set-up: when a pinned version is not to be had, there can be none.
constraints: ## choose the packages' versions afresh, and note them in constraints.txt
	@sh scripts/set-up --renew-constraints

run: _system ## generate and validate a workload on Spark, then show it in the browser
	@$(MAKE) --no-print-directory $(RUN)/report.json
	@$(BIN)/python -m browser --workload $(RUN)/workload --runs $(RUN) --port $(PORT)

# Made once, by three jobs in one session; `make clean` forgets it. The report comes last, and only
# if all went well.
$(RUN)/report.json:
	@echo "generating a workload, building its table and validating it on Spark: half a minute, once"
	@$(BIN)/python -m workloads generate --out $(RUN)/workload --overwrite \
		--filters 300 --interfaces 4 --notifications 100 --seed 7 \
		then build --workload $(RUN)/workload --structure nrf --out $(RUN)/nrf --overwrite \
		then validate --snapshot $(RUN)/nrf --workload $(RUN)/workload --report $@

tour: _python ## a short tour of filters and tables in the terminal
	@$(BIN)/python -m posetlib demo

test: _system ## lint, then every test
	@$(MAKE) --no-print-directory _lint
	@$(BIN)/python -m pytest -n $(JOBS) $(ARGS) </dev/null

test-deep: _system ## every test and the slow sweeps, with many examples (SEED=0 EXAMPLES=2000)
	@$(BIN)/python -m pytest -n $(JOBS) -m "slow or not slow" --hypothesis-profile=deep \
		--hypothesis-seed=$(SEED) $(ARGS) </dev/null

lint: _python _lint ## ruff, mypy, the direction of imports

_lint:
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo --no-cache

format: _python ## format the code, and fix what can be fixed
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

graph: _python ## write the import graph of the packages into docs/architecture.md
	@$(BIN)/python scripts/import_graph.py --write docs/architecture.md

bench: _python ## the benchmarks, each with its baseline in the same run
	@$(BIN)/python -m bench $(ARGS)

clean: ## remove what the tools leave behind
	@rm -rf build dist runs .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name .venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove the environment too
	@rm -rf .venv
