# Cairn: what one can do here. `make help` lists it; `make demo` and `make test` install what they need.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
CACHE := $(or $(CAIRN_CACHE),$(HOME)/.cache/cairn)
LDFLAGS := -s -w -X github.com/cairn-mpi/cairn/internal/version.Version=$(VERSION)
SHIMS := lib/libcairn-openmpi.so lib/libcairn-mpich.so lib/libcairn-reference-openmpi.so lib/libcairn-reference-mpich.so
ALLOCATIONS := lib/libcairn-allocations.so
REPLAYERS := lib/cairn-replay-openmpi lib/cairn-replay-mpich
# one set of build options: whatever is compiled once is found again, for commands and tests and in
# any folder
export GOFLAGS := $(filter-out -trimpath,$(GOFLAGS)) -trimpath
export CGO_ENABLED := 0
export KUBEBUILDER_ASSETS := $(CACHE)/bin
# ranks run as root and oversubscribed in the tests, wherever those run
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1

##@ Use
.PHONY: build
build: bin/cairn bin/cairn-probe bin/cairn-operator lib/libcairn-core.so $(SHIMS) $(ALLOCATIONS) $(REPLAYERS) ## the commands in bin/, the tracer's libraries and the replayers in lib/

.PHONY: build-commands build-arm64
build-commands: bin/cairn bin/cairn-probe bin/cairn-operator # static, also with GOARCH=arm64
build-arm64: ## the commands for arm64 nodes in bin/arm64/; pods run untraced there
	GOARCH=arm64 go build -ldflags '$(LDFLAGS)' -o bin/arm64/ ./cmd/cairn ./cmd/cairn-probe ./cmd/cairn-operator

.PHONY: demo
demo: ## trace a local run, then a TracedMPIJob on a local two-node cluster (CAIRN_CLUSTER=existing: on yours)
	hack/demo.sh

.PHONY: examples
examples: ## the example MPI programs, for both MPIs
	$(MAKE) -C examples -j$(shell nproc)

##@ Test
.PHONY: test
test: ## every promise once: unit, API server, MPI and end-to-end tests; installs what it needs (STAGES="build unit": only these)
	go run ./hack/test $(STAGES)

.PHONY: test-all
test-all: ## the whole breadth, for a night and before a release: all seeds and ranks, real programs, fuzzing
	go run ./hack/test -all $(STAGES)

.PHONY: e2e-matrix
e2e-matrix: build ## problems of a job on a cluster: scenario, expected result, actual result, seconds (ROWS=part of a name: only those)
	CAIRN_E2E_MATRIX="$(or $(ROWS),all)" hack/e2e.sh -run TestMatrix $(if $(PARALLEL),-parallel $(PARALLEL))

.PHONY: test-browser
test-browser: ## the report in a real browser (Debian: chromium)
	go test -tags browser -count=1 ./analyzer/report

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
	CAIRN_DOCS_SCREENSHOT=$(CURDIR)/docs/report.png go test -tags browser -count=1 -run TestFreshReader ./analyzer/report

.PHONY: verify
verify: ## check format, lint, generated files and docs
	hack/verify.sh

.PHONY: lint
lint: ## golangci-lint
	hack/lint.sh

##@ Measure
.PHONY: baseline
baseline: build ## one table of what this tree costs, in out/baseline/ (TREES="DIR DIR": these built trees, in turns; ROUNDS=5; ONLY=sizes, commands or instructions)
	go run ./hack/baseline measure --rounds $(or $(ROUNDS),5) --only '$(ONLY)' $(or $(TREES),.)

.PHONY: baseline-compare
baseline-compare: ## what got worse between two of these tables by more than chance (OLD=file NEW=file)
	@go run ./hack/baseline compare '$(OLD)' '$(NEW)'

.PHONY: bench-trace
bench-trace: build ## size of traces compared with the peer's, merge, timing, decode rates (NPB=dir: the NAS Parallel Benchmarks too; LARGE=1: a million ranks)
	hack/bench-trace.sh

.PHONY: bench
bench: build examples ## ns per call added, bytes per call, merge and analysis throughput
	hack/bench.sh

.PHONY: bench-tracer
bench-tracer: build ## what the tracer adds to a call: ns, instructions, longest stall, memory, MPI_Finalize, idle processes; with targets
	hack/bench-tracer.sh

.PHONY: bench-clustering
bench-clustering: build examples ## what clustering at run time costs and saves
	hack/bench-clustering.sh

.PHONY: bench-tracer-npb
bench-tracer-npb: build ## NPB LU, MG, CG class W with the tracer and without: CPU time, with its upper bound (NPB=dir)
	hack/bench-tracer-npb.sh

.PHONY: bench-merge
bench-merge: build ## time and memory of the merge against the number of ranks, with targets
	hack/bench-merge.sh

.PHONY: bench-clusters
bench-clusters: ## groups, program text and topology of 16,384 ranks, with targets
	hack/bench-clusters.sh

.PHONY: bench-scale
bench-scale: build examples ## models of scaling: of random programs, and of a size that the models have not seen, with targets (NPB=dir: of the NAS Parallel Benchmarks too)
	hack/bench-scale.sh

.PHONY: bench-histogram
bench-histogram: build examples ## bytes and errors of cairn reduce --histogram on irregular programs, with targets (NPB=DIR: MG and SP too)
	hack/bench-histogram.sh

.PHONY: bench-analyze
bench-analyze: build ## events per second from trace to report, memory, size of the page, with targets (LARGE=1: 100 million events)
	hack/bench-analyze.sh

.PHONY: bench-short
bench-short: build ## CPU time that cairn run adds to short programs whose calls hardly repeat, with targets (CALLS="1000 10000 100000")
	hack/bench-short.sh

.PHONY: bench-tables
bench-tables: bin/cairn ## bytes per call, CPU time and memory of the tables of 10⁷ calls (cairn export), compared with Perfetto's
	hack/bench-tables.sh

.PHONY: bench-predict
bench-predict: build examples ## what-if predictions against real runs of the examples changed accordingly, or on another network, within 15% (PAIRS=5)
	CAIRN_BENCH_PREDICT=$(or $(PAIRS),5) go test -tags mpi -count=1 -v -run 'Test(Network)?Predictions' ./test/mpi | grep -v '^ *\(===\|---\)'

.PHONY: bench-simgrid
bench-simgrid: build examples ## cairn predict against SimGrid's replay of the same traces on the same network, with targets (RANKS=16)
	hack/bench-simgrid.sh

.PHONY: bench-skeleton
bench-skeleton: build examples ## skeletons of the examples and NPB class S: do they compile, run and make the same calls, with targets (NPB=dir of binaries)
	hack/bench-skeleton.sh

.PHONY: bench-replay
bench-replay: build examples ## re-executions: the same calls on every example (NPB=dir: and NPB class S) under both MPIs, and how long they take compared with the run, with targets (PAIRS=5)
	hack/bench-replay.sh

.PHONY: bench-long
bench-long: ## a pod with 8 slots (SLOTS=) for 24 hours (HOURS=) through the sidecar's code: memory, spool, bytes, requests, hour by hour; irregular calls by the million
	go test -run '^$$' -bench Irregular -benchtime 1x ./tracer/recorder/spool
	HOURS=$(or $(HOURS),24) SLOTS=$(or $(SLOTS),8) go test -run '^$$' -bench Long -benchtime 1x -timeout 2h ./shipper

.PHONY: bench-operator
bench-operator: build ## seconds from apply to the launcher, and from the job's end to the report: medians, traced and plain (REPEATS=5)
	hack/e2e.sh -run ^$$ -bench Seconds -benchtime $(or $(REPEATS),5)x

.PHONY: bench-verdict
bench-verdict: build ## how often the verdict names the planted problem, by kind, with targets (SIMULATED=240 CONTROLS=300 REAL=60 SEED=1 KINDS=)
	hack/bench-verdict.sh

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
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  \033[1m%-16s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Go decides by itself what has to be built again, so these are always asked for.
.PHONY: bin/cairn bin/cairn-otf2 bin/cairn-probe bin/cairn-operator lib/libcairn-core.so $(SHIMS) $(ALLOCATIONS) $(REPLAYERS)
bin/cairn:
	go build -ldflags '$(LDFLAGS)' -o $@ ./cmd/cairn
# the same command with the OTF2 library, which needs cgo (Debian: libopen-trace-format2-dev, pkg-config)
bin/cairn-otf2:
	CGO_ENABLED=1 go build -tags otf2 -ldflags '$(LDFLAGS)' -o $@ ./cmd/cairn
bin/cairn-probe:
	go build -ldflags '$(LDFLAGS)' -o $@ ./cmd/cairn-probe
bin/cairn-operator:
	go build -ldflags '$(LDFLAGS)' -o $@ ./cmd/cairn-operator
lib/libcairn-core.so:
	CGO_ENABLED=1 go build -buildmode=c-shared -ldflags '$(LDFLAGS)' -o $@ ./tracer/core
	@rm -f lib/libcairn-core.h
$(SHIMS):
	$(MAKE) -C tracer/shim $(CURDIR)/$@ OUT=$(CURDIR)/lib
$(ALLOCATIONS):
	$(MAKE) -C tracer/allocations $(CURDIR)/$@ OUT=$(CURDIR)/lib
$(REPLAYERS):
	$(MAKE) -C replayer $(CURDIR)/$@ OUT=$(CURDIR)/lib
