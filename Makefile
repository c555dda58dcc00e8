PORT ?= 8000
DATA ?= ./.anoncup
FAULTS ?= 200
BIN := .venv/bin
JOBS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

.PHONY: demo serve docs test test-all test-rest test-versions coverage containers faults check format words pictures bench rush lock sbom clean

# Replaces the shell, and gets SIGTERM (15) when make ends, even if make is killed.
WITH_MAKE := exec $(BIN)/python -IS app/core/processes/child_process.py $$PPID 15 0

demo: runtime site/index.html
	@$(WITH_MAKE) $(BIN)/anoncup demo --port $(PORT) --data "$(DATA)"

serve: runtime site/index.html
	@$(WITH_MAKE) $(BIN)/anoncup serve --port $(PORT) --data "$(DATA)"

# The documentation that the service shows at /docs. Broken links are errors. It takes ten seconds.
docs: BUILD_OPTIONS = --strict --clean
docs: runtime
	$(BUILD_DOCUMENTATION)

BUILD_DOCUMENTATION = @$(BIN)/zensical build $(BUILD_OPTIONS) && touch site/index.html
site/index.html: zensical.toml $(shell find docs anoncup -name '*.md' -o -name '*.png' -o -name '*.css' -o -name '*.html' -o -name '*.py') | runtime
	$(BUILD_DOCUMENTATION)

# Before a commit: contract tests, reference implementations on a few cases, one whole contest, every route.
test: dev .venv/.warm
	$(PYTEST) -m 'not full and not containers'

# All tests except containers, with many more cases per property.
test-all: dev .venv/.warm
	$(PYTEST) --hypothesis-profile full

# Tests that `make test` leaves out or skips, and properties with more cases. CI runs this after `make test`.
test-rest: dev .venv/.warm
	$(PYTEST) --hypothesis-profile full -m '(full or hypothesis or skipif) and not containers'

# Branches of the library and the services that no test covers.
coverage: dev .venv/.warm
	$(PYTEST) --cov=anoncup --cov=app --ignore tests/browser --ignore tests/e2e --ignore tests/containers

# Compile the loops of a new environment once. Otherwise each test process would compile them.
.venv/.warm: | dev
	@$(BIN)/python -c 'from anoncup.geometry import kernels; kernels.load()'
	@touch $@

# Tests of the library with the lowest and the highest versions of its dependencies, in environments made by uv.
test-versions: dev
	@.ci/versions

# A running contest during faults of its processes and servers. SEED=… repeats the same faults.
faults: dev
	$(BIN)/python -m tests.faults --faults $(FAULTS) $(if $(SEED),--seed $(SEED))

# Images and docker-compose.yml with Docker or podman. Skipped if neither is installed.
containers: dev
	$(BIN)/python -m pytest -m containers -vv -rs tests/containers

check: dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.support.catalogues

format: dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Add new texts of the code to the catalogues; then translate those that are empty or fuzzy. NEW=de adds a language.
words: dev
	@$(BIN)/python -m tests.support.catalogues --update $(NEW) || true

# Screenshots of the contests of `make demo`, which are played for them. It takes minutes.
pictures: dev
	$(BIN)/python -m tests.browser.documentation_pictures docs/pictures

# Compare our code with other libraries, in under three minutes. LARGE=--large adds tables of a million rows and the
# benchmarks of the service. ANONCUP_REFERENCE_DATA=FOLDER adds real data. An importable pycanon is compared as well.
bench: dev
	$(BIN)/python -m benchmarks.peers $(LARGE)
	$(BIN)/python -m benchmarks.peers.growth $(LARGE)
ifdef LARGE
	$(BIN)/python -m benchmarks.scoring
	$(BIN)/python -m benchmarks.pages
	$(BIN)/python -m benchmarks.hits
	$(BIN)/python -m benchmarks.upload
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.rush
	$(BIN)/python -m benchmarks.scale
endif

# A rush of uploads. It takes minutes and needs an idle machine. LARGE=--large adds five uploads of 120 MB.
rush: dev
	$(BIN)/python -m benchmarks.rush $(LARGE)

# The hashed lock files. Run it after changing dependencies in pyproject.toml. requirements-server.lock lacks the
# embedded servers; requirements-build.lock has the tools that build the project itself.
lock: COMPILE = $(BIN)/uv pip compile -q --universal -p 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate
lock: dev
	$(COMPILE) --extra service --extra embedded pyproject.toml -o requirements.lock
	$(COMPILE) --extra service -c requirements.lock pyproject.toml -o requirements-server.lock
	$(COMPILE) -c requirements.lock --group build -o requirements-build.lock
	$(COMPILE) --extra service --extra embedded --extra dev -c requirements.lock -c requirements-build.lock pyproject.toml -o requirements-dev.lock

# The dependencies of the service with their licences, as a CycloneDX file and as a table.
sbom: dev
	@$(BIN)/uv venv -q --clear dist/service
	@$(BIN)/uv pip sync -q --python dist/service/bin/python --require-hashes requirements-server.lock
	@$(BIN)/uvx -q --from cyclonedx-bom==7.5.0 cyclonedx-py environment --output-reproducible \
	  --pyproject pyproject.toml -o dist/sbom.json dist/service/bin/python
	@$(BIN)/python -m tests.support.licences > dist/licences.md
	@echo dist/sbom.json dist/licences.md

.PHONY: runtime dev
runtime:
	@./bootstrap requirements.lock
dev:
	@./bootstrap requirements-dev.lock
