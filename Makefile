# Everything a newcomer or CI runs. `make demo` and `make test` need only Python 3.11 and make: they set up .venv.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
SERVERS := .venv-servers/.ready
SERVERS_WANTED := tests/integration/servers/requirements.txt

.DEFAULT_GOAL := help
.PHONY: help demo test check bench figures soak requirements format clients client-environments clients-npm server-environment

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Proctor needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

demo: $(READY) ## record ten conversations, stop the service, replay them, break one
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python examples/order_desk/demo.py

test: $(READY) ## every test, as CI runs them
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: $(READY) ## style, types, the requirements table
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/requirements.py

bench: $(READY) ## measured ratios, as one JSON object on the last line
	$(BIN)/python -m bench

figures: $(READY) ## how right the rules are on labelled runs (PROCTOR_TEST_DATA), as one JSON object on the last line
	@$(BIN)/python -m tools.figures

soak: $(READY) ## the tests with their full counts of kills, changes and examples
	PROCTOR_SOAK=1 $(BIN)/python -m pytest -n 2 --dist loadfile --timeout 1800

client-environments: $(READY) ## other people's LLM clients (Python and Node), into .venv-clients; without them their tests are skipped
	$(BIN)/python -m tests.clients build python node

clients-npm: $(READY) ## those for Node alone (18 or newer)
	$(BIN)/python -m tests.clients build node

clients: client-environments ## record and replay every client, and write the table of docs/clients.md
	$(BIN)/python -m tests.clients
	PROCTOR_SOAK=1 $(BIN)/python -m pytest -q -n 2 --timeout 300 tests/clients/test_client_errors.py

server-environment: $(SERVERS) ## moto, httpbin and their clients, into .venv-servers; without them their tests are skipped

$(SERVERS): $(SERVERS_WANTED)
	test -x .venv-servers/bin/python || $(PYTHON) -m venv .venv-servers
	.venv-servers/bin/python -m pip install --quiet --disable-pip-version-check --requirement $(SERVERS_WANTED)
	touch $(SERVERS)

requirements: $(READY) ## which requirements are met, and by which tests
	$(BIN)/python tools/requirements.py

format: $(READY) ## put the source in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
