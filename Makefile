# Every target sets up what it needs: one virtual environment at .venv, renewed when the project
# file or a Rust source has changed. Prerequisites: Rust (stable), Python >= 3.11, make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH ?= full
SCALE ?= quick

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
PYTHON_FILES := python tests/python benches

.PHONY: demo test lint bench validate reproduce docs clean

demo: $(VENV)/.extension
	$(BIN)/penstock compare bfc-demo --scheme bfc,pfc,dctcp,hpcc,sfq,ideal-fq --out runs/demo

test: $(VENV)/.extension
	cargo test --workspace
	$(BIN)/pytest -n auto

lint: $(VENV)/.extension
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff check $(PYTHON_FILES)
	$(BIN)/ruff format --check $(PYTHON_FILES)
	$(BIN)/mypy

# BENCH=smoke runs every case briefly, to see that the benchmark works.
bench: $(VENV)/.extension
	cargo build --release -p penstock-sim --bin bench
	$(BIN)/python benches/bench.py --binary target/release/bench --json bench.json $(if $(filter smoke,$(BENCH)),--smoke)

# All 14 reference runs of the ns-3 HPCC simulator, twice each: about three minutes.
validate: $(VENV)/.extension
	$(BIN)/python benches/validate.py

# Every figure and table of the papers; under an hour on two processors, and goes on where it stopped.
reproduce: $(VENV)/.extension
	$(BIN)/penstock reproduce --all --scale $(SCALE)

docs: $(VENV)/.extension
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
	$(BIN)/pytest tests/python/test_documents.py

clean:
	rm -rf $(VENV) target runs reports bench.json

$(BIN)/maturin: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.8,<2'
	touch $@

# The package, editable, with the Rust core compiled in place, and everything it depends on.
$(VENV)/.extension: $(BIN)/maturin $(RUST_SOURCES)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --extras dev
	touch $@
