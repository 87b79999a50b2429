package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/tracer/verify"
)

// conclude says what came of one run: verdict, size, and whether the trace agrees with the reference log.
func (r localRun) conclude(ctx context.Context, run shipper.LocalRun) bool {
	f, err := openTrace(ctx, run.Trace, s3Flags{})
	if err != nil {
		r.say("%v", err)
		return false
	}
	defer f.Close()
	fine := true
	if r.verify && !r.compare(f, run) {
		fine = false
	}
	return fine
}

// compare holds the trace against the reference logs of its ranks.
func (r localRun) compare(f *traceFile, run shipper.LocalRun) bool {
	result, err := verify.Compare(f.Reader, slices.Sorted(maps.Values(run.Processes)))
	if err != nil {
		r.say("verify: %v", err)
		return false
	}
	for _, d := range result.Disagreements {
		r.say("verify: %v", d)
	}
	if result.More > 0 {
		r.say("verify: and %d more disagreements", result.More)
	}
	if !result.OK() {
		return false
	}
	fmt.Fprintf(r.stdout, "verify: all %d calls on %d ranks agree with the reference log\n", result.Calls, result.Ranks)
	return true
}
