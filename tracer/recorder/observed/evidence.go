package observed

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// The shim's measurements of long computations and calls, and its list of the process's threads
// (format: tracer/shim/evidence).
const evidenceInside = math.MaxUint16 // replaces the function before: the measurement is inside of the call

// evidence is the decoded file, with call sites instead of addresses.
type evidence struct {
	rows      []trace.EvidenceRow
	all       []int64                  // by row: ticks of all long instances, measured or not
	instances []trace.EvidenceInstance // BeginNS is in ticks
	threads   []trace.ThreadUsage
}

// decodeEvidence decodes the evidence, nil if the format is unknown. site returns the call site for
// the word of a record.
func decodeEvidence(b []byte, site func(word uint64) int32) *evidence {
	var f rawlayout.Evidence
	if _, err := binary.Decode(b, binary.NativeEndian, &f); err != nil || string(f.Magic[:]) != rawlayout.EvidenceMagic ||
		f.Rows > rawlayout.EvidenceRows {
		return nil
	}
	e := &evidence{}
	index := map[trace.EvidenceKey]int{}
	rowOf := make([]int, f.Rows) // −1: no measurement
	for i := range f.Rows {
		r := &f.Row[i]
		rowOf[i] = -1
		if r.Which < 1 || r.Which > 2 || !plausibleSums(&r.Sums[r.Which-1]) {
			continue
		}
		call := func(function uint16, caller uint64) trace.CallSite {
			return trace.CallSite{Function: function, Site: uint32(site(caller))}
		}
		key := trace.EvidenceKey{Thread: int(r.Thread), Before: call(r.Before, r.BeforeCaller)}
		if r.After != evidenceInside {
			key.After = call(r.After, r.AfterCaller)
		}
		k, known := index[key]
		if !known { // without call sites, two addresses can share a row
			k = len(e.rows)
			index[key] = k
			e.rows = append(e.rows, trace.EvidenceRow{EvidenceKey: key})
			e.all = append(e.all, 0)
		}
		rowOf[i] = k
		e.all[k] += int64(r.Ticks & (1<<56 - 1))
		addSums(&e.rows[k], &r.Sums[r.Which-1])
	}
	e.addInstances(&f, rowOf)
	if n, table := f.Threads&math.MaxUint32, f.Threads>>32; n <= rawlayout.EvidenceThreads && table < 2 {
		for i := range f.Thread[table][:n] {
			t := &f.Thread[table][i]
			if t.TID < 0 || t.TID > math.MaxInt32 {
				continue
			}
			name, _, _ := bytes.Cut(t.Name[:], []byte{0})
			e.threads = append(e.threads, trace.ThreadUsage{
				TID: int(t.TID), Name: record.Printable(name), CPUNS: t.CPU, RunDelayNS: t.Delay, CallsMPI: t.Flags&1 != 0,
			})
		}
	}
	return e
}

// plausibleSums reports whether sums can be those of real instances. A damaged disk
// can leave anything.
func plausibleSums(s *rawlayout.EvidenceSums) bool {
	return s.Count > 0 && s.Count < maxEvidence && s.Wall > 0 && s.Wall < maxEvidence && s.CPU >= 0 && s.CPU <= s.Wall
}

const maxEvidence = 1 << 56

func addSums(row *trace.EvidenceRow, s *rawlayout.EvidenceSums) {
	row.Count += s.Count
	row.WallNS += s.Wall
	row.CPUNS += s.CPU
	addUsage(&row.Usage, s.Usage)
	for _, sum := range []struct {
		to *int64
		of int64
	}{
		{&row.RunDelayNS, s.Delay}, {&row.OtherCPUNS, s.Other}, {&row.IOBytes, ofBlocked(s, s.IOBytes)},
		{&row.IOCalls, ofBlocked(s, s.IOCalls)}, {&row.DataNS, ofBlocked(s, s.Data)},
	} {
		if *sum.to < 0 || sum.of < 0 {
			*sum.to = trace.Unknown
		} else {
			*sum.to += sum.of
		}
	}
}

// addUsage adds what was counted in other instances.
func addUsage(to *trace.Usage, of rawlayout.EvidenceUsage) {
	add := func(sum *int64, n int64) {
		if *sum = max(*sum, trace.Unknown); *sum >= 0 && n >= 0 {
			*sum += min(n, maxEvidence)
		} else {
			*sum = trace.Unknown
		}
	}
	add(&to.MinorFaults, of.MinorFaults)
	add(&to.MajorFaults, of.MajorFaults)
	add(&to.VoluntarySwitches, of.Voluntary)
	add(&to.InvoluntarySwitches, of.Involuntary)
	add(&to.SystemNS, of.System)
}

// ofBlocked scales the I/O of the measured blocked instances to all blocked instances.
func ofBlocked(s *rawlayout.EvidenceSums, sum int64) int64 {
	switch {
	case sum < 0 || s.Blocked > 0 && s.Seen <= 0:
		return trace.Unknown
	case s.Blocked == 0:
		return 0
	}
	return int64(float64(sum) * float64(s.Blocked) / float64(s.Seen))
}

// addInstances adds the largest instances of both kinds, each once.
func (e *evidence) addInstances(f *rawlayout.Evidence, rowOf []int) {
	for _, list := range f.Instances {
		for i := range list {
			in := &list[i]
			if in.Size <= 0 || in.Row >= uint64(len(rowOf)) || rowOf[in.Row] < 0 || in.Wall <= 0 || in.CPU < 0 || in.CPU > in.Wall {
				continue
			}
			one := trace.EvidenceInstance{
				Row: rowOf[in.Row], BeginNS: int64(in.Begin), WallNS: in.Wall, CPUNS: in.CPU, RunDelayNS: in.Delay, IOBytes: in.IO,
			}
			addUsage(&one.Usage, in.Usage)
			if !slices.Contains(e.instances, one) {
				e.instances = append(e.instances, one)
			}
		}
	}
}

// AddTo adds the evidence to the rank of c. It skips functions and call sites that are not in c,
// since the observations of a living process may be ahead of its records.
func (e *evidence) AddTo(c *trace.Content) {
	if e == nil {
		return
	}
	c.Ranks.Change(0, func(r *trace.Rank) {
		first, last := int64(math.MaxInt64), int64(math.MinInt64)
		for _, t := range c.Threads.All() {
			if t.Calls > 0 {
				first, last = min(first, t.FirstTick), max(last, t.EndTick)
			}
		}
		known := func(p trace.CallSite) bool {
			return int(p.Site) <= len(c.Sites) && (p.Function == 0 || slices.ContainsFunc(c.Functions, func(f trace.Function) bool { return f.ID == p.Function }))
		}
		at := r.Clock.Nanoseconds()
		run := at(last) - at(first)
		for i := range e.rows {
			if row := &e.rows[i]; known(row.After) && known(row.Before) {
				e.all[i] = int64(float64(e.all[i]) * float64(run) / float64(max(last-first, 1)))
			} else {
				e.all[i] = 0
			}
		}
		ChooseEvidence(r, e.rows, e.all, slices.DeleteFunc(e.instances, func(in trace.EvidenceInstance) bool {
			return in.BeginNS < first || in.BeginNS > last
		}), run)
		for i := range r.Outliers {
			r.Outliers[i].BeginNS = at(r.Outliers[i].BeginNS)
		}
		r.Threads = e.threads
	})
}
