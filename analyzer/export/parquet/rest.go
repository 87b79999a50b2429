package parquet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// path writes the critical path.
func (e *export) path() error {
	to, err := newTable[pathRow](&e.to, "path")
	if err != nil {
		return err
	}
	start := e.found.RunStartNS
	for i, s := range e.found.Path.Segments {
		if start+s.EndNS < e.from || start+s.StartNS >= e.until {
			continue
		}
		to.add(pathRow{
			Segment: int32(i), Rank: int32(s.Rank), StartNS: s.StartNS, EndNS: s.EndNS, DurationNS: s.EndNS - s.StartNS,
			Kind: string(s.Kind), Function: s.Function, CallSite: s.CallSite, Merged: int32(s.Merged),
		})
		e.summary.Segments++
	}
	if n := e.found.Path.MergedSegments; n > 0 {
		e.leave(fmt.Sprintf("%d short segments of the critical path were merged with others: see column merged_segments", n))
	}
	return to.err
}

// ledger writes the time accounting of the whole run, and of each rank.
func (e *export) ledger() error {
	l := e.found.Ledger
	if l == nil {
		return nil
	}
	to, err := newTable[ledgerRow](&e.to, "ledger")
	if err != nil {
		return err
	}
	for _, row := range l.Rows {
		to.add(ledgerRow{What: row.What, Label: row.Label, TimeNS: row.NS})
	}
	for _, rank := range l.ByRank {
		for k, ns := range rank.NS {
			to.add(ledgerRow{Rank: to.nullable.int32(int32(rank.Rank)), What: l.Rows[k].What, Label: l.Rows[k].Label, TimeNS: ns})
		}
	}
	if n := e.trace.Ranks().Len(); len(l.ByRank) < n {
		e.leave(fmt.Sprintf("the ledger lists %d of %d ranks individually", len(l.ByRank), n))
	}
	return to.err
}

// ranks writes the location of each rank, and how it spent its time.
func (e *export) ranks() error {
	to, err := newTable[rankRow](&e.to, "ranks")
	if err != nil {
		return err
	}
	threads, calls := make([]int32, len(e.found.Ranks)), make([]int64, len(e.found.Ranks))
	for i, th := range e.trace.Threads().All() {
		threads[e.locations[i].Row]++
		calls[e.locations[i].Row] += int64(th.Calls)
	}
	for row, r := range e.trace.Ranks().All() {
		f := &e.found.Ranks[row]
		to.add(rankRow{
			Rank: int32(r.Rank), Host: r.Host, Pod: r.Pod, Node: r.Node, Executable: r.Executable, Threads: threads[row], Calls: calls[row],
			ComputationNS: *nanoseconds(to, &f.Computation), MPINS: *nanoseconds(to, &f.MPI), WaitingNS: nanoseconds(to, f.Waiting),
			CausedWaitingNS: nanoseconds(to, f.CausedWaiting), PathNS: nanoseconds(to, f.Path), SlackNS: nanoseconds(to, f.Slack),
			InitializationNS: *nanoseconds(to, &f.Initialization), FinalizationNS: *nanoseconds(to, &f.Finalization),
			EndedEarly: r.EndedEarly,
		})
	}
	return to.err
}

func nanoseconds[T any](of *table[T], seconds *float64) *int64 {
	if seconds == nil {
		return nil
	}
	return of.nullable.int64(int64(math.Round(*seconds * 1e9)))
}

// communicators writes the members of each communicator.
func (e *export) communicators() error {
	to, err := newTable[communicatorRow](&e.to, "communicators")
	if err != nil {
		return err
	}
	for i := range e.trace.Communicators() {
		c := &e.trace.Communicators()[i]
		to.add(communicatorRow{
			CommID: int32(i), Name: c.GlobalName, Label: c.Label, Size: int32(c.Members.Len()),
			Members: numbers(c.Members.Ranks()), Remote: numbers(c.Remote.Ranks()),
		})
		to.flush() // it may have many members
	}
	return to.err
}

func numbers(list []int) []int32 {
	out := make([]int32, len(list))
	for i, v := range list {
		out[i] = int32(v)
	}
	return out
}

// callSites writes the sites from which MPI was called, and those on the call paths.
func (e *export) callSites() error {
	to, err := newTable[siteRow](&e.to, "sites")
	if err != nil {
		return err
	}
	sites := e.trace.Sites()
	for i := range sites {
		s := &sites[i]
		row := siteRow{
			SiteID: int32(i + 1), CallSite: e.sites[i], File: s.File, Function: s.Function, Module: s.Module, BuildID: s.BuildID,
			Offset: int64(s.Offset),
		}
		if s.File != "" && s.Line > 0 {
			row.Line = to.nullable.int32(int32(s.Line))
		}
		for caller := s.Caller; caller > 0; caller = sites[caller-1].Caller {
			row.Path = append(row.Path, e.sites[caller-1])
		}
		to.add(row)
	}
	return to.err
}

// metadata returns the key-value metadata of every file.
func (e *export) metadata() ([][2]string, error) {
	m, o := e.trace.Meta(), e.options
	notes, err := json.Marshal(slices.Concat([]string{}, e.summary.Left, e.found.Notes))
	if err != nil {
		return nil, err
	}
	list := [][2]string{
		{"cairn.schema_version", strconv.Itoa(SchemaVersion)},
		{"cairn.world", m.World},
		{"cairn.world_size", strconv.Itoa(m.WorldSize)},
		{"cairn.implementation", m.Implementation + " " + m.Version},
		{"cairn.created_by", m.CreatedBy},
		{"cairn.call_sites", m.CallSites},
		{"cairn.timing", m.Timing.String()},
		{"cairn.moment_error_ns", strconv.FormatInt(int64(e.found.Timing.MomentSeconds*1e9), 10)},
		{"cairn.run_start_ns", strconv.FormatInt(e.found.RunStartNS, 10)},
		{"cairn.run_ns", strconv.FormatInt(int64(math.Round(e.found.RunSeconds*1e9)), 10)},
		{"cairn.notes", string(notes)},
	}
	if e.summary.Repairs != nil {
		list = append(list, [2]string{"cairn.causality", e.summary.Repairs.Text()})
	}
	if o.part() {
		list = append(list, [2]string{"cairn.part", fmt.Sprintf("from %v to %v of the run, ranks %v", o.From, o.To, o.Ranks)})
	}
	return list, nil
}

// names are the names of all tables.
var names = []string{"calls", "messages", "waits", "path", "ledger", "ranks", "communicators", "sites"}

// removeOld removes the tables of an earlier export.
func (d *directory) removeOld() error {
	for _, name := range names {
		if err := os.Remove(filepath.Join(d.path, name+".parquet")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
