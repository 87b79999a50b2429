package analyze

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/store"
)

// Intervals at which the store is polled for findings: short at first, for small jobs, and longer
// while nothing arrives.
const (
	firstLook = time.Second
	maxLook   = 5 * time.Second
)

// waitForFindings returns when every run has the findings of each analysis, or the reason why there
// are none. It waits for one run after the other, so that only one is polled at a time.
func waitForFindings(c *cobra.Command, s store.Store, runs []messages.Run, analyses []string) error {
	said := false
	pause := firstLook
	for i := range runs {
		run := runOf(runs[i])
		for {
			waiting, err := unfinishedAnalyses(c.Context(), s, run, analyses)
			if err != nil {
				return err
			}
			if len(waiting) == 0 {
				break
			}
			if !said {
				said = true
				fmt.Fprintf(c.ErrOrStderr(), "cairn: waiting for the findings of %v, of run %s and later ones\n", waiting, run.id())
			}
			select {
			case <-c.Context().Done():
				return c.Context().Err()
			case <-time.After(pause):
			}
			pause = min(pause*5/4, maxLook)
		}
	}
	return nil
}

// unfinishedAnalyses returns the analyses that have not stored anything for a run.
func unfinishedAnalyses(ctx context.Context, s store.Store, run jobRun, analyses []string) ([]string, error) {
	if len(analyses) == 0 {
		return nil, nil
	}
	objects, err := s.List(ctx, run.key(messages.FindingsDirectory)+"/")
	if err != nil && !store.IsNotFound(err) {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(analyses), func(name string) bool {
		return slices.ContainsFunc(objects, func(o store.Object) bool {
			return o.Key == run.findingsKey(name) || o.Key == run.failureKey(name)
		})
	}), nil
}
