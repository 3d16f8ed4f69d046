# Every task of the project by name. Each does all its own set-up; `make help` lists them.
#
# What must stay true: a task installs nothing without saying so, and installs nothing at all on a second run.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-ceph test-hdf5-clusters lint fuzz fuzz-long bench peers kernels docs test-nightly clean build deb install-libdaos wheel test-python test-extras install-c install-hdf5 install-libfdb5

# Options are passed on: make demo DEMO="--members 8", make bench BENCH="--quick", make kernels KERNELS="--quick".
DEMO ?=
BENCH ?=
KERNELS ?=
PYTHON := $(abspath .venv/bin/python)
comma := ,
TARGET := $(or $(CARGO_TARGET_DIR),target)

help: ## List the tasks
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 26

setup: ## Install whatever the other tasks need, and say what
	@scripts/setup demo
	@scripts/setup test
	@scripts/setup lint

# What is installed: the program, and the C libraries.
packages := -p isotach-cli -p isotach-libdaos -p isotach-capi -p isotach-libfdb5 -p isotach-hdf5-vol

build: ## Build the program and the C libraries, optimised
	cargo build --release --locked $(packages)

PREFIX ?= /usr/local
install-libdaos: ## Install the libdaos, its headers and pkg-config files in PREFIX
	scripts/libdaos install $(PREFIX)

install-c: ## Install the C interface, libisotach, in PREFIX
	scripts/capi install isotach $(PREFIX)

install-hdf5: ## Install the HDF5 connector, libisotach_vol, and its header in PREFIX
	scripts/capi install isotach_vol $(PREFIX)

install-libfdb5: ## Install the libfdb5, for programs that were built for FDB, in PREFIX
	scripts/capi install fdb5 $(PREFIX)

# debhelper gives what it calls a home folder of its own.
deb: export CARGO_HOME ?= $(HOME)/.cargo
deb: export RUSTUP_HOME ?= $(HOME)/.rustup
deb: export ISOTACH_DEB_FOLDER := $(abspath $(TARGET))/deb
deb: ## Build the Debian packages, in target/deb
	@scripts/setup deb
	mkdir -p $(ISOTACH_DEB_FOLDER)
	rm -f $(ISOTACH_DEB_FOLDER)/*.deb
	DEB_RULES_REQUIRES_ROOT=no debian/rules clean binary
	@ls -1 $(ISOTACH_DEB_FOLDER)/*.deb

# Dev for the profile of the tests; release as it is installed.
ISOTACH_PROFILE ?= release
WHEELS := $(TARGET)/wheels/$(ISOTACH_PROFILE)
wheel: ## Build the wheel of the Python package, in target/wheels
	@scripts/setup wheel
	rm -rf $(WHEELS)
	$(PYTHON) -m maturin build --locked --quiet --profile $(ISOTACH_PROFILE) -m crates/python/Cargo.toml -o $(WHEELS)
	@ls -1 $(WHEELS)/*.whl

# Pass a choice of tests on: make test-python PYTEST="-k fork".
PYTEST ?=
test-python: ## Test the Python package as it is installed, on Python 3.11 and on a later one
	@$(MAKE) --no-print-directory wheel ISOTACH_PROFILE=dev
	scripts/python-tests $(TARGET)/wheels/dev/isotach-*.whl $(PYTEST)

# Each environment takes pip's newest packages, so this needs the network. Pythons to run it on: make test-extras PYTHONS="python3.11 python3.13".
PYTHONS ?= python3
test-extras: ## Install the wheel with each extra in an empty environment, and run the lines of Python in the pages
	@$(MAKE) --no-print-directory wheel ISOTACH_PROFILE=dev
	scripts/python-extras $(TARGET)/wheels/dev/isotach-*.whl $(PYTHONS)

demo: ## Build, archive a small forecast with several writers and readers, show what happened
	@scripts/setup demo
	@$(MAKE) --no-print-directory build
	scripts/with-eccodes $(TARGET)/release/isotach demo $(DEMO)

# There is one build, in the dev profile (opt-level 1, overflow checks, debug assertions). Cargo builds a crate anew for another choice of packages, if it or
# its dependencies get other features, and crates of C for another CPATH. So what tests drive has the features of the tests in Rust (`cargo tested`,
# see .cargo/config.toml), all scripts build it by that name, and cargo does not see libdaos's CPATH.
test: export ISOTACH_REQUIRE := $(if $(ISOTACH_REQUIRE),$(ISOTACH_REQUIRE)$(comma))eccodes
test: ## Run every test but those of test-ceph
	@scripts/setup test
	@$(ceph_or_skip)
	scripts/libdaos with scripts/with-eccodes $(with_ceph) env -u CPATH cargo test --workspace --locked --no-fail-fast --features $(clusters)
	cargo test --workspace --locked --features isotach-engine-posix/schedules --test schedules
	cargo tested
	@$(MAKE) --no-print-directory docs
	$(built) scripts/with-eccodes $(PYTHON) -m pytest -n 2 --dist loadfile -rs -m "not faults" tests
	scripts/python-tests $(TARGET)/wheels/dev/isotach-*.whl
	@echo "make test: all tests passed"

# Three OSDs want both cores: no other test runs beside these. Rust tests against a cluster have their place before
# those in Python, as `scripts/ceph-dev with --osds 3 cargo test --locked -p CRATE --features cluster`.
test-ceph: ## Run the tests that break a Ceph cluster of three OSDs
	@scripts/setup test-ceph
	cargo tested
	$(built) $(PYTHON) -m pytest -rs -m faults tests/ceph
	@echo "make test-ceph: all tests passed"

# A cluster of one OSD around a command, where Ceph is installed; else the command by itself. The OSD is in memory if it fits
# there, since it would wait for the device most of the time.
with_ceph = $$(scripts/ceph-dev installed && echo scripts/ceph-dev with --in-memory)

# The features of tests that need a cluster: on DAOS, which is our libdaos, and on Ceph where it is installed.
clusters = isotach-engine-daos/cluster$$(scripts/ceph-dev installed 2>/dev/null && echo ,$(on_ceph))
on_ceph = isotach-engine-rados/cluster,isotach-libdaos/cluster

# `scripts/setup` has said what to install.
ceph_or_skip = scripts/ceph-dev installed || { echo 'skipped, Ceph is not installed: tests on RADOS'; \
	! [[ ",$${ISOTACH_REQUIRE:-}," == *,ceph,* ]]; }

# Where the Python tests find what cargo built.
built = ISOTACH_BIN=$(abspath $(TARGET))/debug/isotach ISOTACH_MAKE_CONTAINER=$(abspath $(TARGET))/debug/examples/make_container

test-nightly: export ISOTACH_SEQUENCES := 10000
test-nightly: export ISOTACH_MULTIPROCESS_SECONDS := 600
test-nightly: export ISOTACH_HISTORY_SECONDS := 120
test-nightly: export ISOTACH_SCHEDULES := 20000
test-nightly: export ISOTACH_STAGED_MIB := 1100
test-nightly: export ISOTACH_KILLS := 300
test-nightly: export ISOTACH_H5_KILLS := 300
test-nightly: export ISOTACH_STOPS := 100
test-nightly: export ISOTACH_STRESS_ROUNDS := 60
test-nightly: export ISOTACH_CLOCK_FLUSHES := 2000
test-nightly: ## Run what test runs, the random and the stress tests for long
	@$(MAKE) --no-print-directory test
	$(built) ISOTACH_MPI=mpich $(PYTHON) -m pytest -n 2 --dist loadfile -rs $(ranks)
	@$(MAKE) --no-print-directory test-hdf5-clusters
	@$(MAKE) --no-print-directory test-extras

# All files are in a pool of a Ceph cluster, and then in one of our libdaos. Ceph has neither snapshots nor transactions, and a killed writer may leave a
# version in part. On DAOS a write fails when it is flushed.
test-hdf5-clusters: ## Run the tests of HDF5 with all files in Ceph, and in DAOS
	@scripts/setup test
	cargo tested
	@$(ceph_or_skip)
	! scripts/ceph-dev installed || $(built) scripts/ceph-dev with --in-memory sh -c 'ISOTACH_H5_POOL=rados://$$ISOTACH_RADOS_POOL/h5 exec "$$@"' sh $(hdf5_tests) -k "not killed and not failure_in" \
		$(patsubst %,tests/hdf5/test_%.py,$(on_all))
	$(built) scripts/libdaos with sh -c 'dmg pool create h5 && ISOTACH_H5_POOL=daos://h5 exec "$$@"' sh $(hdf5_tests) -k "not failure_in" \
		$(patsubst %,tests/hdf5/test_%.py,$(on_all) python snapshots transactions versions)

hdf5_tests = scripts/with-eccodes $(PYTHON) -m pytest -n 2 --dist loadfile -rs
on_all = asynchronous checks h5py_suite kernels maps netcdf4_suite parallel queries wheels

# The tests in which programs run on MPI: `make test` runs them on Open MPI.
ranks = $(patsubst %,tests/hdf5/test_%.py,kernels maps parallel)

FUZZ_SECONDS ?= 30
fuzz: ## Give each parser odd bytes for half a minute
	@scripts/setup fuzz
	scripts/fuzz $(FUZZ_SECONDS) $(abspath $(TARGET))/fuzz

fuzz-long: FUZZ_SECONDS := 3600
fuzz-long: fuzz ## Give each parser odd bytes for an hour

lint: export RUSTDOCFLAGS := -D warnings
lint: ## Check format, lints, docs, house rules, Python and scripts
	@scripts/setup lint
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --features isotach-engine-daos/cluster,$(on_ceph) -- -D warnings
	cargo clippy -p isotach-engine-posix --all-targets --all-features --locked -- -D warnings
	cargo doc --workspace --no-deps --locked --quiet
	cargo test --workspace --locked --quiet --features $(clusters) --test house_rules
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	@$(call if_installed,cargo-deny,cargo deny --offline check licenses bans sources)
	@$(call if_installed,shellcheck,shellcheck -x .ci/run scripts/setup scripts/capi scripts/ceph-dev scripts/docs scripts/fuzz scripts/hdf5-headers scripts/hdf5-parallel scripts/libdaos scripts/libdaos.d/dmg scripts/python-environment scripts/python-extras scripts/python-tests scripts/report-pictures scripts/test-summary scripts/with-eccodes)
	@echo "make lint: clean"

# if_installed PROGRAM,COMMAND: for checks that only sharpen what another check here covers.
if_installed = if command -v $(1) >/dev/null; then echo '$(2)'; $(2); else echo 'skipped, $(1) is not installed'; fi

bench: build ## Measure archive, retrieve and list beside plain writes and reads
	scripts/with-eccodes $(TARGET)/release/isotach bench $(BENCH)

peers: ## Measure FDB, Isotach and plain writes and reads in one run
	@scripts/setup test
	@$(MAKE) --no-print-directory build
	scripts/with-eccodes $(TARGET)/release/isotach bench peers $(BENCH)

kernels: ## Measure the I/O of applications on parallel HDF5, native and on the connector
	@scripts/setup kernels
	scripts/hdf5-parallel with --release python3 crates/hdf5-vol/benches/kernels/report.py $(KERNELS)

docs: ## Build the site of the documentation, in target/site
	@$(MAKE) --no-print-directory wheel ISOTACH_PROFILE=dev
	scripts/docs $(TARGET)/wheels/dev/isotach-*.whl

clean: ## Remove all that was built or installed here
	cargo clean
	rm -rf .venv demo-store demo.png
