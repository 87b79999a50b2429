// Command test runs the project's tests in stages: what `make test` and `make test-all` call.
//
//	go run ./hack/test              every promise once: what a commit has to pass
//	go run ./hack/test -all         the whole breadth: all seeds, ranks and programs, for a night
//	go run ./hack/test STAGE...     only these stages
//
// Stages run one after the other. Every line of output has its stage in front; the whole output of
// a stage is in out/test/STAGE.log. At the end a table says which stages ran, passed or failed,
// their wall time, the CPU time that they took, and their budget.
//
// A budget is CPU seconds of everything that a stage starts, since wall time says little on a
// machine with other load. The CPU time is divided by the slowness of the machine: the CPU time of
// a fixed amount of work that is repeated while the stages run, as a multiple of what it takes
// on the machine that the budgets were measured on, but at least 1. If CI is set in the
// environment, a stage that takes more than twice its budget fails, and its most expensive tests
// are named: MPI ranks that wait poll, so that load from outside costs CPU time, too.
//
// Without -all, up to two failed tests of a step run once more, alone. Those that pass are named
// at the end, with what they said, and do not fail the stage.
package main
