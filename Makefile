# Cairn: what one can do here. `make help` lists it; `make demo` and `make test` install what they need.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
CACHE := $(or $(CAIRN_CACHE),$(HOME)/.cache/cairn)
LDFLAGS := -s -w -X github.com/cairn-mpi/cairn/internal/version.Version=$(VERSION)
# the compressor shares C with the shim, so cairn is linked by gcc; it runs on any libc
STATIC := -linkmode external -extldflags -static
SHIMS := lib/libcairn-openmpi.so lib/libcairn-mpich.so lib/libcairn-reference-openmpi.so lib/libcairn-reference-mpich.so
ALLOCATIONS := lib/libcairn-allocations.so
REPLAYERS := lib/cairn-replay-openmpi lib/cairn-replay-mpich
# one set of build options: whatever is compiled once is found again, for commands and tests and in
# any folder
export GOFLAGS := $(filter-out -trimpath -tags=%,$(GOFLAGS)) -trimpath -tags=netgo,osusergo
export CGO_ENABLED := 1
export KUBEBUILDER_ASSETS := $(CACHE)/bin
# the same for C: Debian's ccache, for gcc and for the MPIs' compilers, which call that
ifneq (,$(wildcard /usr/lib/ccache))
export PATH := /usr/lib/ccache:$(PATH)
endif
# ranks run as root and oversubscribed in the tests, wherever those run
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1

##@ Use
.PHONY: build
build: bin/cairn bin/cairn-probe bin/cairn-operator $(SHIMS) $(ALLOCATIONS) $(REPLAYERS) ## the commands in bin/, the tracer's libraries and the replayers in lib/

.PHONY: build-commands build-arm64
build-commands: bin/cairn bin/cairn-probe bin/cairn-operator # static, also with GOARCH=arm64
build-arm64: export CC := aarch64-linux-gnu-gcc
build-arm64: ## the commands for arm64 in bin/arm64/, the tracer's libraries in bin/arm64/lib/
	GOARCH=arm64 go build -ldflags '$(LDFLAGS) $(STATIC)' -o bin/arm64/ ./cmd/cairn ./cmd/cairn-probe ./cmd/cairn-operator
	$(MAKE) -C tracer/shim BUILD=build/release-arm64 OUT=$(CURDIR)/bin/arm64/lib
	$(MAKE) -C tracer/allocations OUT=$(CURDIR)/bin/arm64/lib

.PHONY: demo
demo: ## trace a local run, then a TracedMPIJob on a local two-node cluster (CAIRN_CLUSTER=existing: on yours)
	hack/demo.sh

.PHONY: examples
examples: ## the example MPI programs, for both MPIs, and what tests preload to them
	$(MAKE) -C examples -j$(shell nproc)
	$(MAKE) -C test/yield

##@ Test
.PHONY: test
test: ## every promise once: unit, API server, MPI and end-to-end tests; installs what it needs (STAGES="build unit": only these)
	go build -o bin/cairn-test ./hack/test
	@exec bin/cairn-test $(STAGES)

.PHONY: test-all
test-all: ## the whole breadth, for a night and before a release: all seeds and ranks, real programs, fuzzing
	go build -o bin/cairn-test ./hack/test
	@exec bin/cairn-test -all $(STAGES)

.PHONY: e2e-matrix
e2e-matrix: build ## problems of a job on a cluster: scenario, expected result, actual result, seconds (ROWS=part of a name: only those)
	CAIRN_E2E_MATRIX="$(or $(ROWS),all)" hack/e2e.sh -run TestMatrix $(if $(PARALLEL),-parallel $(PARALLEL))

.PHONY: test-browser
test-browser: ## the report in a real browser (Debian: chromium)
	go test -tags browser,netgo,osusergo -count=1 ./analyzer/report

.PHONY: check-perfetto
check-perfetto: bin/cairn ## decode an export with Perfetto's own schema (PERFETTO=checkout; Debian: protobuf-compiler)
	hack/check-perfetto.sh

.PHONY: apps
apps: build bin/cairn-otf2 ## real programs of the Debian archive, natively and traced, with all commands (APPS="lammps gromacs"; ONLY=run,cpu,commands: redo only these)
	hack/install.sh base readers apps
	go run ./apps run $(if $(ONLY),--only $(ONLY)) $(APPS)

##@ Keep
.PHONY: generate
generate: ## all generated files: wrappers, tables, deep copies, CRD, chart's CRD, report assets
	go generate ./...

.PHONY: docs
docs: build bin/cairn-otf2 examples ## update the README's output blocks from real runs (those of a cluster while the demo's cluster runs)
	hack/docs.sh

.PHONY: docs-screenshot
docs-screenshot: ## docs/report.png, the first screen of a report (Debian: chromium)
	CAIRN_DOCS_SCREENSHOT=$(CURDIR)/docs/report.png go test -tags browser,netgo,osusergo -count=1 -run TestFreshReader ./analyzer/report

.PHONY: verify
verify: ## check format, lint, generated files and how commits are described
	hack/verify.sh

.PHONY: lint
lint: ## golangci-lint and our own rules (hack/lint)
	hack/lint.sh

##@ Measure
.PHONY: bench bench-compare
bench: ## list the benchmarks: what each measures, against what, its target and its parameters
	@go run ./bench
bench-%: build examples ## run this one, or all whose names begin so: make bench-tracer, make bench-baseline TREES="../before ."
	go run ./bench $*
bench-compare: ## what differs by more than chance between two results in out/bench (OLD=file NEW=file)
	@go run ./bench compare '$(OLD)' '$(NEW)'

##@ Local cluster
.PHONY: cluster-up cluster-down cluster-status
cluster-up: ## start the local two-node Kubernetes
	hack/cluster/up.sh
cluster-down: ## stop it and clean up
	hack/cluster/down.sh
cluster-status: ## what is running
	hack/cluster/status.sh

.PHONY: clean
clean: ## remove what was built here
	rm -rf bin lib out examples/bin

.PHONY: help
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9%-]+:.*## / {printf "  \033[1m%-16s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Go decides by itself what has to be built again, so these are always asked for.
.PHONY: bin/cairn bin/cairn-otf2 bin/cairn-probe bin/cairn-operator $(SHIMS) $(ALLOCATIONS) $(REPLAYERS)
bin/cairn:
	go build -ldflags '$(LDFLAGS) $(STATIC)' -o $@ ./cmd/cairn
# the same command with the OTF2 library (Debian: libopen-trace-format2-dev, pkg-config)
bin/cairn-otf2:
	go build -tags otf2,netgo,osusergo -ldflags '$(LDFLAGS)' -o $@ ./cmd/cairn
bin/cairn-probe:
	go build -ldflags '$(LDFLAGS)' -o $@ ./cmd/cairn-probe
bin/cairn-operator:
	go build -ldflags '$(LDFLAGS)' -o $@ ./cmd/cairn-operator
$(SHIMS):
	$(MAKE) -C tracer/shim $(CURDIR)/$@ OUT=$(CURDIR)/lib
$(ALLOCATIONS):
	$(MAKE) -C tracer/allocations $(CURDIR)/$@ OUT=$(CURDIR)/lib
$(REPLAYERS):
	$(MAKE) -C replayer $(CURDIR)/$@ OUT=$(CURDIR)/lib
