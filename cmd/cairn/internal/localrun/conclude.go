package localrun

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/analyze"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/untraced"
	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/tracer/verify"
)

// conclude prints the result of one run: the verdict, whether the trace agrees with the reference
// log, and the paths of trace and report. It reports whether all of it succeeded.
func (r Run) conclude(ctx context.Context, run shipper.LocalRun, processes *untraced.Observer) bool {
	f, err := tracefile.Open(ctx, run.Trace, storage.Flags{})
	if err != nil {
		r.say("%v", err)
		return false
	}
	defer f.Close()
	fine := true
	fmt.Fprintln(r.Stdout)
	rep, err := r.analyze(ctx, f, run)
	if err != nil {
		if ctx.Err() == nil { // otherwise the signal that ended it is reported
			r.say("%v", err)
		}
		fine = false
	}
	if rep != nil {
		fmt.Fprintln(r.Stdout, rep.Summary())
	}
	if r.Settings.Verify && ctx.Err() == nil && !r.compare(f, run) {
		fine = false
	}
	fmt.Fprintf(r.Stdout, "trace:  %s (%d calls of %s in %d bytes)\n", r.relative(run.Trace), run.Summary.Calls, wording.Count(run.Summary.Ranks, "rank", "ranks"), f.Sizes().Total)
	if rep != nil {
		fmt.Fprintf(r.Stdout, "report: %s\n", r.relative(filepath.Join(run.Directory, reportFolder, "index.html")))
	}
	if run.Summary.CallsLost > 0 {
		r.say("%d calls were not recorded (%s)", run.Summary.CallsLost, run.Summary.LostWhy)
	}
	if n := generalized(f); n > 0 {
		r.say("%d of %d calls lack arguments, texts or call sites, because a recorder came near its limit of memory; "+
			"their number and times are complete (`cairn info` has the functions; a shorter run keeps more)", n, run.Summary.Calls)
	}
	if missing := run.Summary.Missing.String(); missing != "" {
		cause := processes.NotLoaded()
		if cause != "" {
			cause = "; " + cause
		}
		r.say("ranks %s left no trace%s", missing, cause)
		fine = false
	}
	return fine
}

// generalized returns the number of calls that lack something because of the recorder's limit of
// memory.
func generalized(f *tracefile.File) (n uint64) {
	for _, g := range f.GeneralizedCalls() {
		n += g.Calls
	}
	return n
}

// relative shortens a path for people: relative to the current directory.
func (r Run) relative(path string) string {
	wd, err := filepath.Abs(".")
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(wd, path); err == nil && len(short) < len(path) {
		return short
	}
	return path
}

// analyze writes the report, if possible. If it also returns an error, the report is incomplete.
func (r Run) analyze(ctx context.Context, f *tracefile.File, run shipper.LocalRun) (*report.Report, error) {
	rep, failed := analyze.ReportOn(ctx, f, run.Trace, storage.Flags{}, tracefile.Part{}, report.Job{TraceURI: run.Trace})
	if rep == nil {
		return nil, failed
	}
	s, err := store.Open(filepath.Join(run.Directory, reportFolder), store.S3Options{})
	if err != nil {
		return nil, err
	}
	if err := analyze.WriteReport(ctx, s, "", rep); err != nil {
		for _, name := range report.FileNames { // a partial report could pass for a complete one
			_ = s.Delete(context.WithoutCancel(ctx), name)
		}
		return nil, err
	}
	return rep, failed
}

// compare compares the trace with the reference logs of its ranks.
func (r Run) compare(f *tracefile.File, run shipper.LocalRun) bool {
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
	if result.Unwatched > 0 {
		r.say("verify: calls past the tracer are not counted for %d functions of this MPI library", result.Unwatched)
	}
	if !result.OK() {
		return false
	}
	fmt.Fprintf(r.Stdout, "verify: all %d calls on %d ranks agree with the reference log\n", result.Calls, result.Ranks)
	if result.Generalized > 0 {
		r.say("verify: %d of these calls were compared without the arguments that the recorder's limit of memory left out", result.Generalized)
	}
	return true
}
