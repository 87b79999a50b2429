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

// jobRun is a merged run of a TracedMPIJob. Its objects are below <attempt>/<run>/ in the job's
// store.
type jobRun struct {
	attempt, run int
}

func (r jobRun) id() string { return path.Join(strconv.Itoa(r.attempt), strconv.Itoa(r.run)) }

// key returns the name of an object of the run.
func (r jobRun) key(elements ...string) string {
	return path.Join(append([]string{r.id()}, elements...)...)
}

// listRuns finds the merged runs below a job's store, in the order in which the merge numbered
// them. A run's manifest is written last, so a listed run is complete.
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

// runOf returns the attempt and run numbers of an entry of the index.
func runOf(r messages.Run) jobRun { return jobRun{r.Attempt, r.Run} }

// readIndex returns all runs of a job as the merge listed them and the report extended them.
// Earlier releases wrote no list; then the list is made from the manifests of the runs.
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
		// the path of the object counts, not what the document contains
		one.ID, one.Attempt, one.Run, one.TraceURI = run.id(), run.attempt, run.run, s.URL(run.key(collect.TraceFile))
		runs = append(runs, one)
	}
	return runs, nil
}

// findingsKey and failureKey are the objects in which an analysis stores its findings on a run, or
// the reason why there are none.
func (r jobRun) findingsKey(analysis string) string {
	return r.key(messages.FindingsDirectory, analysis+".json")
}

func (r jobRun) failureKey(analysis string) string {
	return r.key(messages.FindingsDirectory, analysis+".failed.json")
}

// jobName returns namespace/name and uid from the URL of a job's store, …/<namespace>/<name>/<uid>.
func jobName(url string) (name, uid string) {
	parts := strings.Split(strings.TrimRight(url, "/"), "/")
	if len(parts) < 3 {
		return url, ""
	}
	parts = parts[len(parts)-3:]
	return fmt.Sprintf("%s/%s", parts[0], parts[1]), parts[2]
}

// openJobTrace opens the trace of a run in a job's store. A missing or unreadable trace is bad
// data.
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
