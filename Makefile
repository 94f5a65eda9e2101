# The verbs of this project: `make help` lists them. Everything runs in .venv, which every verb makes ready first.
PYTHON ?= python3
PORT ?= 8000
NAMESRV ?=
FRAMES ?= 1000000
CALLS ?= 100000
VENV := .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help setup run test test-fast test-site test-spark test-live test-judged test-browser test-postgres test-faults check format bench fuzz lock clean

help: ## show these verbs
	@sed -n 's/^\([a-z -]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r verb does; do printf '  make %-14s %s\n' "$$verb" "$$does"; done

setup: ## Java, .venv and the locked packages, where they are missing
	@$(PYTHON) dashboard/setup.py

run: setup ## everything on one machine, with a demo cluster; NAMESRV=host:9876[;host2:9876] for your own, PORT=8000
	@$(VENV) manage.py up --port '$(PORT)' $(if $(NAMESRV),--namesrv '$(NAMESRV)')

test: setup ## every test that this machine can run; names what it skipped, and why
	@$(VENV) -m tests.tiers fast site spark live judged short-faults browser postgres

test-fast test-site test-spark test-live test-judged test-browser test-postgres test-faults: setup ## one tier of the tests; fast: no broker, no JVM
	@$(VENV) -m tests.tiers $(@:test-%=%)

check: setup ## formatter, linter, types, layers, migrations, API schema, docs
	@$(VENV) -m tests.checks

format: setup ## let the formatter and the linter correct what they can
	@$(VENV) -m ruff check --fix --quiet . ; $(VENV) -m ruff format .

bench: setup ## the benchmarks, each beside its comparison; a table here, JSON in var/bench.json
	@$(VENV) -m tests.bench

fuzz: setup ## damaged frames, bodies and offset files for all that reads them, damaged calls for REST; FRAMES=1000000, CALLS=100000
	@$(VENV) -m tests.fuzz frames '$(FRAMES)'
	@$(VENV) -m tests.fuzz rest '$(CALLS)'

lock: setup ## pin the packages of pyproject.toml anew, for every platform
	@$(VENV) -m uv pip compile pyproject.toml --group dev --group demo --universal --python-version 3.11 \
		--generate-hashes --no-header --quiet -o requirements.lock

clean: ## remove .venv, caches and build results; the home (var) stays
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache spark-warehouse *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
