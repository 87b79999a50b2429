package main

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

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

// jobName is namespace/name and uid from a job's store URL, …/<namespace>/<name>/<uid>.
func jobName(url string) (name, uid string) {
	parts := strings.Split(strings.TrimRight(url, "/"), "/")
	if len(parts) < 3 {
		return url, ""
	}
	parts = parts[len(parts)-3:]
	return fmt.Sprintf("%s/%s", parts[0], parts[1]), parts[2]
}
