package analyze

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/analyses"
	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/merger/collect"
	"github.com/cairn-mpi/cairn/store"
)

// jobPart is the share of one pod of an analysis: the run with index `run` and, if `of` is not 0,
// every of-th run after it.
type jobPart struct {
	analysis  string
	index, of int
}

// analyzeJob analyzes the runs of a part, one after the other. A run that cannot be analyzed does
// not affect the others: its reason is recorded for the report, and the command fails at the end.
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

// analyzeAll returns the names of the runs that cannot be analyzed. The error is one that prevents
// the analysis of every run.
func (p jobPart) analyzeAll(c *cobra.Command, s3 storage.Flags, waits storage.Patience, url string) (failed []string, err error) {
	if _, err := analyses.Select(p.analysis); err != nil {
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
		return nil, cli.StatusError(cli.ExitBadData, fmt.Errorf("%s has %d runs: run number %d does not exist", url, len(runs), p.index))
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

// analyzeRun stores the findings of a run, the reason why there are none, or both if only some
// analyses failed. The error is the storage's, or the context's if the command was asked to end.
func (p jobPart) analyzeRun(ctx context.Context, s store.Store, run jobRun) (reason string, err error) {
	findings, err := p.findings(ctx, s, run)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case storage.Failure(err) != nil:
		return "", err
	case len(findings) == 0:
		if err := put(ctx, s, run.failureKey(p.analysis), messages.Failure{Message: err.Error()}); err != nil {
			return "", err
		}
		return err.Error(), s.Delete(ctx, run.findingsKey(p.analysis))
	case err != nil:
		reason = err.Error()
	}
	if err := put(ctx, s, run.findingsKey(p.analysis), jobFindings{Findings: findings, Failed: reason, Reasons: analyzer.Reasons(err)}); err != nil {
		return "", err
	}
	return reason, s.Delete(ctx, run.failureKey(p.analysis))
}

// jobFindings is findings/<name>.json of a run: the findings of the analyses that a name selects,
// each under its own name.
type jobFindings struct {
	Findings map[string]json.RawMessage `json:"findings"`
	Failed   string                     `json:"failed,omitempty"`  // why the missing ones failed
	Reasons  map[string]string          `json:"reasons,omitempty"` // the same of each of them
}

func put(ctx context.Context, s store.Store, key string, content any) error {
	raw, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return storage.PutBytes(ctx, s, key, raw)
}

// findings runs the analyses on a run and stores the run's clock map for the other analyses.
func (p jobPart) findings(ctx context.Context, s store.Store, run jobRun) (map[string]json.RawMessage, error) {
	f, err := openJobTrace(ctx, s, run)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer runtime.KeepAlive(collectRarely(f.Reader))
	left, err := tracefile.ClockIn(ctx, s, run.key(tracefile.ClockFile), f)
	if err != nil {
		return nil, err
	}
	cut := left != nil && len(left.Cuts) > 0
	findings, clocks, failed := analyzer.Run(ctx, f.Reader, left, p.analysis)
	if failed != nil {
		failed = tracefile.Damaged(s.URL(run.key(collect.TraceFile)), failed)
	}
	// to spare the other analyses this work
	if clocks != nil && (left == nil || !cut && len(clocks.Cuts) > 0) {
		if err := tracefile.PutClock(ctx, s, run.key(tracefile.ClockFile), clocks); err != nil {
			return nil, err
		}
	}
	encoded := make(map[string]json.RawMessage, len(findings))
	for name, raw := range findings {
		encoded[name] = raw
	}
	return encoded, failed
}

// firstLineOf returns a reason without the stack trace that a panic has.
func firstLineOf(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
