package export

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/export/otf2"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/internal/version"
)

var otf2Exporter = exporter{
	format: "otf2",
	about: `otf2: a directory with an archive of the Open Trace Format 2, for Vampir, Scalasca and Cube: MPI calls with their
messages, collective and one-sided operations and files, and the functions that made them. Open traces.otf2 in it.
A message with only one exported side is left out, and so is a collective operation that the time range cuts. Their
calls are exported. If rounded times or clocks show a message as received before it was sent, the receive is moved
after the send. The summary and the archive's property CAIRN::CAUSALITY report how often, and by how much at most.
This needs the command cairn-otf2, which has OTF2's library: make bin/cairn-otf2.`,
	needs:     "an OTF2 archive",
	elsewhere: startOTF2,
	write:     exportOTF2,
}

// anchor is the file of an archive that other tools open.
const anchor = "traces.otf2"

// exportOTF2 writes an archive completely or not at all: until it is complete it has a temporary
// name.
func exportOTF2(ctx context.Context, r exportRequest) (string, error) {
	if entries, err := os.ReadDir(r.Out); err == nil && len(entries) > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", cli.UsageError(fmt.Errorf("%s is not empty: an OTF2 archive needs a directory of its own", r.Out))
	}
	only := ""
	if r.Leads != nil {
		if r.Ranks == nil {
			r.Ranks = r.Leads
			only = fmt.Sprintf("; only the lead ranks (%s), which have times of their own", tracefile.ListRanks(r.Leads))
		}
		for _, rank := range r.Ranks {
			if !slices.Contains(r.Leads, rank) {
				return "", cli.UsageError(fmt.Errorf("rank %d has no times of its own in this trace of lead ranks %s: export the trace that it was made from", rank, tracefile.ListRanks(r.Leads)))
			}
		}
	}
	partial := filepath.Clean(r.Out) + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return "", err
	}
	o := otf2.Options{From: r.From, To: r.To, Ranks: r.Ranks, Clock: r.Clock, Creator: "Cairn " + version.Version}
	summary, err := writeOTF2(ctx, partial, r.Trace, o)
	if err == nil && summary.Calls == 0 && r.Part {
		err = errNothingToExport
	}
	if err == nil {
		os.Remove(r.Out) // if it is an empty folder
		err = os.Rename(partial, r.Out)
	}
	if err != nil {
		os.RemoveAll(partial)
		return "", err
	}
	return fmt.Sprintf("%s%s; open %s", summary.Text(), only, filepath.Join(r.Out, anchor)), nil
}
