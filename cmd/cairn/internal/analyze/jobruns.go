package analyze

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/merger/collect"
	"github.com/cairn-mpi/cairn/store"
)

// jobRun is a merged run of a TracedMPIJob: its place in the job's store is <attempt>/<run>/.
type jobRun struct {
	attempt, run int
}

func (r jobRun) id() string { return path.Join(strconv.Itoa(r.attempt), strconv.Itoa(r.run)) }

// key names an object of the run.
func (r jobRun) key(elements ...string) string {
	return path.Join(append([]string{r.id()}, elements...)...)
}

// listRuns finds the merged runs below a job's store, in the order in which the merge numbered them. A run's manifest
// is written last, so a run that is listed is whole.
func listRuns(ctx context.Context, s store.Store) ([]jobRun, error) {
	objects, err := s.List(ctx, "")
	if err != nil {
		return nil, err
	}
	var runs []jobRun
	for _, object := range objects {
		parts := strings.Split(object.Key, "/")
		if len(parts) != 3 || parts[2] != collect.RunManifestFile {
			continue
		}
		attempt, err1 := strconv.Atoi(parts[0])
		run, err2 := strconv.Atoi(parts[1])
		if err1 == nil && err2 == nil {
			runs = append(runs, jobRun{attempt, run})
		}
	}
	slices.SortFunc(runs, func(a, b jobRun) int {
		return cmp.Or(cmp.Compare(a.attempt, b.attempt), cmp.Compare(a.run, b.run))
	})
	return runs, nil
}

// runOf is the place of a run in an index.
func runOf(r messages.Run) jobRun { return jobRun{r.Attempt, r.Run} }

// readIndex gives all runs of a job as its merge has listed them, and as the report has added to them. Where there is no
// list, as an earlier release's merge left none, it is made of the runs' manifests.
func readIndex(ctx context.Context, s store.Store) ([]messages.Run, error) {
	raw, err := storage.GetBytes(ctx, s, messages.IndexFile)
	if err == nil {
		var index messages.Index
		if err := json.Unmarshal(raw, &index); err == nil {
			return index.Runs, nil
		}
	} else if !store.IsNotFound(err) {
		return nil, err
	}
	found, err := listRuns(ctx, s)
	if err != nil {
		return nil, err
	}
	runs := make([]messages.Run, 0, len(found))
	for _, run := range found {
		raw, err := storage.GetBytes(ctx, s, run.key(collect.RunManifestFile))
		if err != nil {
			return nil, err
		}
		var manifest collect.RunManifest
		one := messages.Run{}
		if json.Unmarshal(raw, &manifest) == nil {
			one = manifest.Summary(s)
		}
		// the place counts, not what the document says of itself
		one.ID, one.Attempt, one.Run, one.TraceURI = run.id(), run.attempt, run.run, s.URL(run.key(collect.TraceFile))
		runs = append(runs, one)
	}
	return runs, nil
}

// findingsKey and failureKey are where an analysis leaves what it found on a run, or why it could not.
func (r jobRun) findingsKey(analysis string) string {
	return r.key(messages.FindingsDirectory, analysis+".json")
}

func (r jobRun) failureKey(analysis string) string {
	return r.key(messages.FindingsDirectory, analysis+".failed.json")
}

// jobName is namespace/name and uid from a job's store URL, …/<namespace>/<name>/<uid>.
func jobName(url string) (name, uid string) {
	parts := strings.Split(strings.TrimRight(url, "/"), "/")
	if len(parts) < 3 {
		return url, ""
	}
	parts = parts[len(parts)-3:]
	return fmt.Sprintf("%s/%s", parts[0], parts[1]), parts[2]
}

// openJobTrace opens the trace of a run in a job's store. One that is not there, or cannot be read, is bad data.
func openJobTrace(ctx context.Context, s store.Store, run jobRun) (*tracefile.File, error) {
	key := run.key(collect.TraceFile)
	object, err := s.ReaderAt(ctx, key)
	switch {
	case store.IsNotFound(err):
		return nil, cli.StatusError(cli.ExitBadData, err)
	case err != nil:
		return nil, err
	}
	return tracefile.Read(s.URL(key), object)
}
