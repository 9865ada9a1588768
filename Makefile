# Everything a contributor runs. `make help` lists it; `make test`, `make slow-test` and `make e2e` are what CI runs.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BIN := .venv/bin
NODE_MODULES := services/showdown/node_modules
PYTHON_STAMP := .venv/.current
NODE_STAMP := $(NODE_MODULES)/.current
# The page of `nashdex play`, whose packages are installed when a check, or the first page, needs them.
PAGE_MODULES := services/page/node_modules
PAGE_STAMP := $(PAGE_MODULES)/.current

# Where pip looks for torch besides the usual index: torch's own index of CPU or CUDA builds, if PyPI's is not wanted.
export TORCH_INDEX ?=
# The interpreter that .venv is made from; by default the first of python3.11 … python3.14 and python3 that will do.
export PYTHON ?=
# The trainer image's build of torch, cuda or cpu, and where pip looks for one for CUDA besides the usual index.
export TORCH ?= cuda
export TORCH_CUDA_INDEX ?=
# Processes that run tests side by side (three on two cores, since many tests wait), and further arguments to pytest:
# make unit PYTEST_ARGS="-k ledger -x".
WORKERS ?= 3
PYTEST_ARGS ?=

# Tests start hundreds of processes: their bytecode is cached, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

# The environment's own tools first: Node may come from there.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@printf '\nVariables: PYTHON=%s TORCH_INDEX=%s WORKERS=%s PYTEST_ARGS=%s\n' '$(PYTHON)' '$(TORCH_INDEX)' '$(WORKERS)' '$(PYTEST_ARGS)'

.PHONY: setup
setup: $(PYTHON_STAMP) $(NODE_STAMP) ## Make .venv and services/showdown/node_modules, where they are not current

$(PYTHON_STAMP): pyproject.toml services/nashdex_bench/pyproject.toml services/nashdex_metamon/pyproject.toml requirements/dev.txt requirements/torch.txt scripts/setup-python
	scripts/setup-python
	@touch $@

$(NODE_STAMP): services/showdown/package.json services/showdown/package-lock.json scripts/setup-node | $(PYTHON_STAMP)
	scripts/setup-node services/showdown
	@touch $@

$(PAGE_STAMP): services/page/package.json services/page/package-lock.json scripts/setup-node | $(PYTHON_STAMP)
	scripts/setup-node services/page
	@touch $@

.PHONY: demo
demo: setup ## Play, train and solve a small run on real battles (minutes); prints its report's address
	$(BIN)/nashdex run configs/demo.toml --store runs --run demo

.PHONY: test
test: setup ## Check style and types, and run every test that takes seconds at most; minutes
	$(MAKE) --jobs 2 lint types node-test
	$(MAKE) python-test

.PHONY: lint
lint: setup ## Check style and layers: ruff, import-linter
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

.PHONY: format
format: setup ## Mend what ruff can mend
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: types
types: setup $(PAGE_STAMP) ## Check types, also of the tests: mypy, tsc
	$(BIN)/mypy
	$(BIN)/mypy scripts/*.py scripts/docs
	cd services/showdown && npm run --silent check
	cd services/page && npm run --silent check

.PHONY: node-test
node-test: setup $(PAGE_STAMP) ## Run the tests of the gateway and of the page of `nashdex play` that need Node alone
	cd services/showdown && npm test --silent
	cd services/page && npm test --silent

.PHONY: unit
unit: setup ## Run the tests that need nothing but Python, and the contracts between parts
	$(BIN)/pytest -n $(WORKERS) --dist worksteal tests/unit tests/contract $(PYTEST_ARGS)

.PHONY: integration
integration: setup ## Run the tests with real battles and stores; NASHDEX_TEST_S3_URL names a real S3 server
	$(BIN)/pytest -n $(WORKERS) --dist worksteal tests/integration $(PYTEST_ARGS)

.PHONY: chart-test
chart-test: setup ## Run the tests of the Helm chart, without a cluster
	$(BIN)/pytest -n $(WORKERS) --dist worksteal tests/chart $(PYTEST_ARGS)

.PHONY: python-test
python-test: setup ## Run all Python tests but the slow ones: unit, contract, integration, chart
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --junitxml .test-times/test.xml -m "not slow" tests/unit tests/contract tests/integration tests/chart $(PYTEST_ARGS)

.PHONY: slow-test
slow-test: setup ## Run the slow Python tests: kills, faults, tutorials, trainings; minutes
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --timeout 1800 --junitxml .test-times/slow-test.xml -m slow tests/unit tests/contract tests/integration tests/chart $(PYTEST_ARGS)

# A full disk also stops the measurement, and the measurement takes memory.
DISTURBED_BY_COVERAGE := tests/integration/test_directory_store.py::test_a_run_whose_disk_fills_goes_on_when_there_is_space \
	tests/unit/bench/test_bench_scaling.py::test_an_iteration_reads_its_own_shards_alone

.PHONY: coverage
coverage: setup ## Measure lines and branches over the tests of `make test` and `make slow-test`, processes included; prints a table by package
	rm -rf .coverage && mkdir .coverage
	COVERAGE_RCFILE=$(CURDIR)/pyproject.toml $(BIN)/coverage run -m pytest -n $(WORKERS) --dist worksteal --timeout 1800 $(patsubst %,--deselect %,$(DISTURBED_BY_COVERAGE)) tests/unit tests/contract tests/integration tests/chart $(PYTEST_ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet -o .coverage/coverage.json
	$(BIN)/python scripts/coverage_table.py .coverage/coverage.json

.PHONY: times
times: ## Print what the last `make test` and `make slow-test` took, and the SLOWEST (10) tests
	@$(BIN)/python scripts/times_of_tests.py --slowest $(or $(SLOWEST),10)

.PHONY: e2e
e2e: setup ## Test it on a real cluster, from building images to removing it all (CONTRIBUTING.md says which cluster)
	$(BIN)/pytest tests/e2e --verbose --durations=20 $(PYTEST_ARGS)

.PHONY: e2e-streaming
e2e-streaming: setup ## Kill everything around a training with streaming actors on a real cluster, and measure it; half an hour
	$(BIN)/pytest tests/e2e/streaming.py -n0 --verbose $(PYTEST_ARGS)

.PHONY: e2e-nodes
e2e-nodes: setup ## Run on nodes with a GPU that is none, with taints and with quotas, on a real cluster
	$(BIN)/pytest tests/e2e/nodes.py -n0 --verbose $(PYTEST_ARGS)

.PHONY: e2e-experiment
e2e-experiment: setup ## Run an experiment as Workflows on a real cluster
	$(BIN)/pytest tests/e2e/experiment.py -n0 --verbose $(PYTEST_ARGS)

.PHONY: docs
docs: setup ## Build the documentation site into site/, and the pages and pictures that are made from code
	$(BIN)/python scripts/docs/metrics_page.py > docs/reference/metrics.md.new
	mv docs/reference/metrics.md.new docs/reference/metrics.md
	$(BIN)/python scripts/make_protocol.py
	cd services/showdown && node scripts/observation_page.js > ../../docs/reference/observation.md.new
	mv docs/reference/observation.md.new docs/reference/observation.md
	$(BIN)/python scripts/docs/dashboard_drawing.py > docs/images/dashboard.svg
	$(BIN)/python scripts/docs/rooms_drawing.py > docs/images/rooms.svg
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo 'site/index.html'

.PHONY: fuzz
fuzz: setup ## Mutate INPUTS (10000) of every reader for SECONDS (600), guided by reached lines; failures (GROW=1: new lines too) join tests/fuzz/corpus
	PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(or $(SECONDS),600) --inputs $(or $(INPUTS),10000) $(if $(GROW),--grow) $(TARGETS)

.PHONY: fuzz-tracker
fuzz-tracker: setup ## Compare the tracker with the simulator in BATTLES (100) of random teams of FORMAT (gen4ou), from SEED (1)
	cd services/showdown && npm run --silent fuzz-tracker -- --format $(or $(FORMAT),gen4ou) --battles $(or $(BATTLES),100) --seed $(or $(SEED),1)

.PHONY: audit
audit: setup ## Run an audit of simulator, tracker or masks: AUDIT="formats audits.json --format gen1ou --battles 20"
	PYTHONPATH=tests $(BIN)/python -m audits.$(AUDIT)

.PHONY: soak
soak: setup ## Let runs and the exporter work for MINUTES (60), and fail if a process grows
	PYTHONPATH=tests $(BIN)/python -m soak --minutes $(or $(MINUTES),60) $(if $(OUT),--out $(OUT))

.PHONY: chaos
chaos: setup ## Kill KILLS (200) pods of every kind at random on a real cluster while runs work; then verify every run
	NASHDEX_TEST_KILLS=$(or $(KILLS),200) $(BIN)/pytest tests/e2e/test_chaos.py --verbose -s $(PYTEST_ARGS)

.PHONY: repeat
repeat: setup ## Repeat a run of real battles RUNS (20) times with one seed while its processes are killed, and compare policies
	NASHDEX_TEST_REPEATS=$(or $(RUNS),20) $(BIN)/pytest tests/integration/test_same_seed_same_policies.py -k every_repeat -s $(PYTEST_ARGS)

.PHONY: chart
chart: setup ## Make argo/ from the plan; the chart's values, schema and table from its model; k8s/base from the chart
	$(BIN)/python scripts/make_argo.py
	$(BIN)/python scripts/make_chart.py

.PHONY: kind
kind: ## Start a kind cluster with Argo and install nashdex in it; needs Docker, kind, kubectl and helm
	k8s/kind/up
	$(MAKE) images TORCH=cpu
	$(MAKE) load-images CLUSTER_LOAD='kind load docker-image --name nashdex'
	kubectl apply -f k8s/overlays/kind/namespace.yaml
	helm upgrade --install nashdex helm/nashdex -n nashdex -f helm/nashdex/ci/small-values.yaml --wait --timeout 5m

.PHONY: kind-down
kind-down: ## Remove that cluster
	k8s/kind/down

.PHONY: dashboards
dashboards: setup ## Make Grafana's dashboards, helm/nashdex/files/dashboards, from scripts/dashboards
	$(BIN)/python scripts/make_dashboards.py

.PHONY: pin
pin: setup ## Pin base images and GitHub actions by digest; needs Docker's buildx, and access to their registries
	$(BIN)/python scripts/pin.py

.PHONY: lock
lock: setup ## Write requirements/*.txt after a change of pyproject.toml: exact versions and hashes, from uv
	scripts/lock

.PHONY: upgrade
upgrade: setup ## Write requirements/*.txt with the newest versions that fit pyproject.toml
	scripts/lock --upgrade

IMAGES := control collector evaluator trainer showdown

.PHONY: images
images: ## Build the five images with Docker, as nashdex/NAME:VERSION; TORCH=cpu for a trainer without CUDA, IMAGE_PUSH=REGISTRY to push them
	scripts/build-images $(IMAGES)

.PHONY: image-test
image-test: setup ## Test the images that are built, or those of the tag in NASHDEX_TEST_IMAGES
	$(BIN)/pytest tests/images $(PYTEST_ARGS)

.PHONY: load-images
load-images: ## Carry the images into a test cluster, with the command that CLUSTER_LOAD names or with kind
	scripts/load-images $(IMAGES)

.PHONY: clean
clean: ## Remove what setup and the tests made; runs stay
	rm -rf .venv $(NODE_MODULES) $(PAGE_MODULES) services/page/.cache .mypy_cache .ruff_cache .pytest_cache .test-times .coverage .hypothesis .import_linter_cache dist site
	find services tests -name __pycache__ -type d -prune -exec rm -rf {} +
