package main

// A stage is a part of the tests that is run as a whole.
type stage struct {
	name string
	// after names the stages that have to pass first, of those that are selected.
	after []string
	// nightly: a stage of -all.
	nightly bool
	// budget is how many CPU seconds the stage may take without -all. 0: as many as it needs.
	budget float64
	// steps are commands of bash. They run in this order, up to the first one that fails. `go test`
	// gets -json and, without -all, -short.
	steps []string
}

// stages are all stages, in the order in which they run.
var stages = []stage{
	{name: "install", steps: []string{"hack/preflight.sh test && hack/install.sh all"}},
	// What has to be compiled depends on what Go's cache has: this stage has no budget, and those
	// after it find all packages in the cache.
	{name: "build", after: []string{"install"}, steps: []string{
		"make -s build bin/cairn-otf2 examples",
		"hack/lint.sh --build-only",
		"go list -test -export ./... >/dev/null",
		"go list -test -export -tags mpi,e2e,netgo,osusergo ./test/... ./tracer/... >/dev/null",
		"go list -test -export -gcflags=-d=checkptr " + unsafe + " >/dev/null",
		"go list -test -export -race " + concurrent + " >/dev/null",
	}},
	{name: "mpi", after: []string{"build"}, budget: 460, steps: []string{
		"go test -vet=off -tags mpi,netgo,osusergo -count=1 -p 1 -parallel 3 -timeout 60m ./test/mpi/... ./test/plants",
	}},
	{name: "e2e", after: []string{"build"}, budget: 340, steps: []string{"hack/e2e.sh"}},
	{name: "unit", after: []string{"build"}, budget: 700, steps: []string{
		"go test -vet=off -timeout 15m $(go list ./... | grep -vxF \"$(go list " + unsafe + ")\")",
		"go test -vet=off -timeout 15m -gcflags=-d=checkptr " + unsafe,
		"go test -vet=off -tags otf2,netgo,osusergo -run 'OTF2|Archive' ./analyzer/export/otf2/library ./cmd/cairn/internal/export",
	}},
	{name: "race", after: []string{"build"}, budget: 240, steps: []string{
		"go test -vet=off -race -timeout 25m -skip '^(" + voluminous + ")$' " + concurrent,
	}},
	{name: "tracer", after: []string{"build"}, budget: 280, steps: []string{
		"go test -vet=off -tags mpi,netgo,osusergo -count=1 -parallel 3 -timeout 30m ./tracer/shim/... ./tracer/verify/...",
	}},
	{name: "verify", after: []string{"build"}, budget: 400, steps: []string{"hack/verify.sh"}},
	// With priority over other sessions (sched(7), autogroup) where the system allows it: README.md
	// shows what a quiet machine shows.
	{name: "docs", after: []string{"build"}, budget: 30, steps: []string{
		"{ echo -20 >/proc/self/autogroup; } 2>/dev/null || true; nice -n -20 go run ./hack/readme README.md",
	}},
	{name: "matrix", after: []string{"build", "e2e"}, nightly: true, steps: []string{"make e2e-matrix"}},
	{name: "browser", after: []string{"build"}, nightly: true, steps: []string{
		"go test -vet=off -tags browser,netgo,osusergo -count=1 ./analyzer/report",
	}},
	{name: "recipes", after: []string{"build"}, nightly: true, steps: []string{
		"go test -vet=off -tags recipes,netgo,osusergo -count=1 -timeout 60m ./test/recipes",
	}},
	{name: "slurm", after: []string{"build"}, nightly: true, steps: []string{
		"hack/install.sh slurm && go test -vet=off -tags slurm,netgo,osusergo -count=1 -timeout 10m ./test/slurm",
	}},
	{name: "apps", after: []string{"build"}, nightly: true, steps: []string{"make apps"}},
	{name: "strangers", after: []string{"apps"}, nightly: true, steps: []string{"make bench-strangers CASES=4"}},
	{name: "race-all", after: []string{"build"}, nightly: true, steps: []string{
		"go test -vet=off -race -timeout 60m -run '^(" + voluminous + ")$' " + concurrent,
		"go test -vet=off -race -timeout 60m " + mostlyParallelTests,
	}},
	{name: "fuzz", after: []string{"build"}, nightly: true, steps: []string{"hack/fuzz.sh"}},
}

// concurrent are the packages that start goroutines or are called from several, for the race
// detector. ./analyzer runs all analyses and passes, several at a time.
const concurrent = "./merger/collect ./shipper ./store ./tracer/setup ./internal/simulate/shards ./analyzer " +
	"./analyzer/compare ./analyzer/pass ./analyzer/phases ./analyzer/profile ./analyzer/scaling ./analyzer/timeline " +
	"./analyzer/export/parquet ./cmd/cairn/internal/launch ./cmd/cairn/internal/localrun"

// mostlyParallelTests are packages that start few goroutines of their own, with tests side by side.
const mostlyParallelTests = "./controllers ./test/chart ./internal/simulate ./analyzer/pass/... ./analyzer/waitstate " +
	"./cmd/cairn/internal/analyze ./cmd/cairn/internal/cli ./cmd/cairn/internal/commands ./cmd/cairn/internal/pod " +
	"./cmd/cairn/internal/replay"

// voluminous are tests of these that take long with the race detector, since they make many calls
// or wait for many rounds. Their goroutines are those of other tests.
const voluminous = "TestTimesAreGivenUpBeforeCalls|TestStoredPartsAreMerged|TestLateWritesOfDeadSidecars|TestChaos|" +
	"TestMissingPartsAreNamed|TestStencilsHaveConstantSize|TestChaptersGoToTheStoreWhileRanksGoOn|TestValuesGoToTheStoreWhileRanksGoOn|" +
	"TestTimesGoToTheStoreWhileRanksGoOn|TestPacksOfAnySize|TestPacksFollowMemory|TestAnAnalysisAlone|TestObjectThatTheStoreLoses|" +
	"TestAPartCostsWhatItHas|TestOneBinIsNoDifference|TestSharedPassesFindTheSame|TestTwoSidecarsOfOnePod|" +
	"TestEqualRunsWithASpreadBetweenThem|TestSlowerRankIsFoundInSeveralRuns|TestFindingsDifferByNoMoreThanRoundingExplains"

// unsafe are our own packages that use unsafe pointers. They are compiled with checks of these.
const unsafe = "./trace ./trace/grammar ./tracer/budget ./tracer/recorder ./tracer/recorder/key ./tracer/recorder/record ./tracer/recorder/spool " +
	"./analyzer/match"
