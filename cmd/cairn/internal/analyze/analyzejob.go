package analyze

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/merger/collect"
	"github.com/cairn-mpi/cairn/store"
)

// jobPart is what one pod of an analysis does: run index, and where of is not 0 every of-th after it.
type jobPart struct {
	analysis  string
	index, of int
}

// analyzeJob analyzes the runs of a part, one after the other. A run that cannot be analyzed costs the others nothing:
// its reason is left for the report, and the command fails in the end.
func analyzeJob(c *cobra.Command, s3 storage.Flags, p storage.Patience, url string, part jobPart) (messages.Analysis, error) {
	result := messages.Analysis{Analysis: part.analysis, Index: part.index}
	failed, err := part.analyzeAll(c, s3, p, url)
	result.Failed = strings.Join(failed, "; ")
	result.Storage = storage.Failure(err)
	if err == nil && len(failed) > 0 {
		err = cli.StatusError(cli.ExitBadData, fmt.Errorf("%d runs could not be analyzed: %s", len(failed), result.Failed))
		if len(failed) == 1 {
			err = cli.StatusError(cli.ExitBadData, fmt.Errorf("run %s could not be analyzed", result.Failed))
		}
	}
	if result.OK = err == nil; err != nil {
		result.Message = err.Error()
	}
	return result, err
}

// analyzeAll names the runs that cannot be analyzed; the error is of what hinders all of them.
func (p jobPart) analyzeAll(c *cobra.Command, s3 storage.Flags, waits storage.Patience, url string) (failed []string, err error) {
	if _, err := analyzer.Find(p.analysis); err != nil {
		return nil, cli.UsageError(err)
	}
	ctx := c.Context()
	s, err := s3.OpenPatient(c, url, waits)
	if err != nil {
		return nil, err
	}
	runs, err := readIndex(ctx, s)
	if err != nil {
		return nil, err
	}
	if p.of == 0 && p.index >= len(runs) {
		return nil, cli.StatusError(cli.ExitBadData, fmt.Errorf("%s has %d runs, there is no number %d", url, len(runs), p.index))
	}
	step := p.of
	if step == 0 {
		step = len(runs)
	}
	for i := p.index; i < len(runs); i += step {
		run := runOf(runs[i])
		reason, err := p.analyzeRun(ctx, s, run)
		if err != nil {
			return failed, err
		}
		if reason != "" {
			fmt.Fprintf(c.ErrOrStderr(), "cairn: run %s: %s\n", run.id(), reason)
			failed = append(failed, fmt.Sprintf("%s: %s", run.id(), firstLineOf(reason)))
		}
	}
	return failed, nil
}

// analyzeRun leaves the findings of a run, or the reason why there are none. The error is the storage's, or that of a
// command that was told to end.
func (p jobPart) analyzeRun(ctx context.Context, s store.Store, run jobRun) (reason string, err error) {
	findings, err := p.findings(ctx, s, run)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case storage.Failure(err) != nil:
		return "", err
	case err != nil:
		raw, encodeErr := json.Marshal(messages.Failure{Message: err.Error()})
		if encodeErr != nil {
			return "", encodeErr
		}
		if err := storage.PutBytes(ctx, s, run.failureKey(p.analysis), raw); err != nil {
			return "", err
		}
		return err.Error(), s.Delete(ctx, run.findingsKey(p.analysis))
	}
	if err := storage.PutBytes(ctx, s, run.findingsKey(p.analysis), findings); err != nil {
		return "", err
	}
	return "", s.Delete(ctx, run.failureKey(p.analysis))
}

// findings runs the analysis on a run, and leaves the run's clock map for the others.
func (p jobPart) findings(ctx context.Context, s store.Store, run jobRun) ([]byte, error) {
	f, err := openJobTrace(ctx, s, run)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	analysis, err := analyzer.Find(p.analysis)
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(collectRarely(f.Reader))
	path := s.URL(run.key(collect.TraceFile))
	var clocks *clock.Map
	if analysis.Times {
		if clocks, err = tracefile.RunClock(ctx, s, run.key(tracefile.ClockFile), path, f); err != nil {
			return nil, err
		}
	}
	cut := clocks != nil && len(clocks.Cuts) > 0
	findings, err := analyzer.Run(ctx, f.Reader, clocks, p.analysis)
	if err != nil {
		return nil, tracefile.Damaged(path, err)
	}
	if !cut && clocks != nil && len(clocks.Cuts) > 0 { // the analysis has found where parts of the run can be looked at alone
		if err := tracefile.PutClock(ctx, s, run.key(tracefile.ClockFile), clocks); err != nil {
			return nil, err
		}
	}
	return findings[p.analysis], nil
}

// firstLineOf is a reason without the stack of a mistake of ours.
func firstLineOf(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
