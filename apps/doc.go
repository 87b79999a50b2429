// Command apps runs real MPI programs of the Debian archive natively and under Cairn, and checks
// what Cairn makes of them: make apps.
//
// The corpus is data: programs.txt lists the programs with their packages, inputs and
// commands, known-failures.txt what is known to fail today, and refusals.txt what commands may
// refuse. A check that fails without being on the list, or passes although it is on it, makes
// the exit code 1.
//
//	go run ./apps run [--only run,cpu,commands] [PROGRAM…]   all programs unless some are named
//	go run ./apps table                                      the table of what was measured before
//	go run ./apps packages [PROGRAM…]                        what hack/install.sh apps installs
//	go run ./apps versions                                   the list in the README
package main
