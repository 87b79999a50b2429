package trace

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// An evidenceTable has the evidence of all ranks by column, rounded. Ranks with equal numbers take
// no memory, and almost no bytes.
type evidenceTable struct {
	keys      []EvidenceKey // distinct, in order of first use
	ids       map[EvidenceKey]int64
	names     codec.StringDictionary // of threads
	rows      codec.Ragged
	instances codec.Ragged
	usages    codec.Ragged
}

// Columns of a row, of an instance and of a thread. Times and counts are codes of rounded numbers.
// CPU time is stored as its difference to the wall time, which is mostly zero and is what matters.
// The code of the time off the CPU is stored as its difference to that of the wall time, and the
// code of the run delay as its difference to that of the time off the CPU: they are similar.
const (
	rowKey = iota
	rowCount
	rowWall
	rowOffCPU
	rowRunDelay
	rowOtherCPU
	rowIOBytes
	rowIOCalls
	rowData
	rowUsage   // the first of usageCounts columns, which are in the section of usage
	rowColumns = rowUsage + usageCounts
)

const (
	instanceRow = iota
	instanceBegin
	instanceWall
	instanceOffCPU
	instanceRunDelay
	instanceIOBytes
	instanceUsage
	instanceColumns = instanceUsage + usageCounts
)

const (
	usageFlags = iota
	usageName
	usageTID
	usageCPU
	usageRunDelay
	usageColumns
)

const (
	usageCallsMPI = 1 << iota
	usageTool
	usageFlagsEnd
)

// instanceUnit is the resolution in ns of the beginning of an instance.
const instanceUnit = 1 << 16

func (t *evidenceTable) begin(ranks int) {
	t.rows.Begin(rowColumns)
	t.rows.First.PushRun(0, 0, ranks)
	t.instances.Begin(instanceColumns)
	t.instances.First.PushRun(0, 0, ranks)
	t.usages.Begin(usageColumns)
	t.usages.First.PushRun(0, 0, ranks)
}

func (t *evidenceTable) id(p EvidenceKey) int64 {
	id, known := t.ids[p]
	if known {
		return id
	}
	if t.ids == nil {
		t.ids = map[EvidenceKey]int64{}
		for i, key := range t.keys { // keys was filled by a reader
			t.ids[key] = int64(i)
		}
		return t.id(p)
	}
	id = int64(len(t.keys))
	t.keys = append(t.keys, p)
	t.ids[p] = id
	return id
}

func (t *evidenceTable) append(r *Rank) {
	for i := range r.Evidence {
		e := &r.Evidence[i]
		wall, off, delay := timesOf(e.WallNS, e.CPUNS, e.RunDelayNS)
		t.rows.Add(rowColumns, append([]int64{
			t.id(e.EvidenceKey), codec.RoundedCode(int64(e.Count)), wall, off, delay,
			codec.RoundedNSCode(e.OtherCPUNS), codec.RoundedCode(e.IOBytes), codec.RoundedCode(e.IOCalls), codec.RoundedNSCode(e.DataNS),
		}, e.Usage.codes()...)...)
	}
	t.rows.End(rowColumns)
	before := int64(0)
	for i := range r.Outliers {
		e := &r.Outliers[i]
		begin := (e.BeginNS + instanceUnit/2) / instanceUnit
		wall, off, delay := timesOf(e.WallNS, e.CPUNS, e.RunDelayNS)
		t.instances.Add(instanceColumns, append([]int64{
			int64(e.Row), begin - before, wall, off, delay, codec.RoundedCode(e.IOBytes),
		}, e.Usage.codes()...)...)
		before = begin
	}
	t.instances.End(instanceColumns)
	for i := range r.Threads {
		u := &r.Threads[i]
		flags := int64(0)
		if u.CallsMPI {
			flags |= usageCallsMPI
		}
		if u.Tool {
			flags |= usageTool
		}
		t.usages.Add(usageColumns, flags, t.names.Index(u.Name), int64(u.TID-r.PID), codec.RoundedNSCode(u.CPUNS), codec.RoundedNSCode(u.RunDelayNS))
	}
	t.usages.End(usageColumns)
}

// timesOf codes a wall time, a CPU time and a run delay.
func timesOf(wall, cpu, delay int64) (wallCode, off, delayed int64) {
	wallCode = codec.RoundedNSCode(wall)
	offCode := codec.RoundedNSCode(wall - cpu)
	return wallCode, wallCode - offCode, offCode - codec.RoundedNSCode(delay)
}

// timesFrom is the inverse of timesOf.
func timesFrom(wallCode, off, delayed int64) (wall, cpu, delay int64) {
	offCode := wallCode - off
	wall = codec.UnroundedNS(wallCode)
	return wall, wall - codec.UnroundedNS(offCode), codec.UnroundedNS(offCode - delayed)
}

// lookup returns a function that sets the evidence of the rank in row i.
func (t *evidenceTable) lookup() func(i int, r *Rank) {
	rows, instances, usages := t.rows.Lookup(), t.instances.Lookup(), t.usages.Lookup()
	return func(i int, r *Rank) {
		if from, to := rows.Rows(i); to > from {
			r.Evidence = make([]EvidenceRow, to-from)
			for k := range r.Evidence {
				at := func(column int) int64 { return rows.At(column, from+k) }
				e := &r.Evidence[k]
				e.EvidenceKey, e.Count = t.keys[at(rowKey)], uint64(codec.Unrounded(at(rowCount)))
				e.WallNS, e.CPUNS, e.RunDelayNS = timesFrom(at(rowWall), at(rowOffCPU), at(rowRunDelay))
				e.OtherCPUNS, e.IOBytes, e.IOCalls = codec.UnroundedNS(at(rowOtherCPU)), codec.Unrounded(at(rowIOBytes)), codec.Unrounded(at(rowIOCalls))
				e.DataNS = codec.UnroundedNS(at(rowData))
				e.Usage = usageOf(at, rowUsage)
			}
		}
		if from, to := instances.Rows(i); to > from {
			r.Outliers = make([]EvidenceInstance, to-from)
			begin := int64(0)
			for k := range r.Outliers {
				at := func(column int) int64 { return instances.At(column, from+k) }
				begin += at(instanceBegin)
				e := &r.Outliers[k]
				e.Row, e.BeginNS, e.IOBytes = int(at(instanceRow)), begin*instanceUnit, codec.Unrounded(at(instanceIOBytes))
				e.WallNS, e.CPUNS, e.RunDelayNS = timesFrom(at(instanceWall), at(instanceOffCPU), at(instanceRunDelay))
				e.Usage = usageOf(at, instanceUsage)
			}
		}
		if from, to := usages.Rows(i); to > from {
			r.Threads = make([]ThreadUsage, to-from)
			for k := range r.Threads {
				at := func(column int) int64 { return usages.At(column, from+k) }
				r.Threads[k] = ThreadUsage{
					TID: r.PID + int(at(usageTID)), Name: t.names.List[at(usageName)], CPUNS: codec.UnroundedNS(at(usageCPU)),
					RunDelayNS: codec.UnroundedNS(at(usageRunDelay)), CallsMPI: at(usageFlags)&usageCallsMPI != 0, Tool: at(usageFlags)&usageTool != 0,
				}
			}
		}
	}
}

// EvidenceCalls yields the calls that the evidence of ranks refers to, possibly repeatedly.
func (t *RankTable) EvidenceCalls() iter.Seq[CallSite] {
	return func(yield func(CallSite) bool) {
		for _, p := range t.evidence.keys {
			for _, call := range []CallSite{p.After, p.Before} {
				if call.Function != 0 && !yield(call) {
					return
				}
			}
		}
	}
}

// ReplaceSites replaces every call site that ranks refer to. replace is called with 1 + the index
// of a site, and returns the new value.
func (t *RankTable) ReplaceSites(replace func(uint32) uint32) {
	t.evidence.keys = slices.Clone(t.evidence.keys)
	for i := range t.evidence.keys {
		t.evidence.keys[i].replaceSites(replace)
	}
	t.evidence.ids = nil
}

// ReplaceSites replaces the call sites of one rank. It does not change the slices of the former
// Evidence.
func (r *Rank) ReplaceSites(replace func(uint32) uint32) {
	r.Evidence = slices.Clone(r.Evidence)
	for i := range r.Evidence {
		r.Evidence[i].replaceSites(replace)
	}
}

func (p *EvidenceKey) replaceSites(replace func(uint32) uint32) {
	for _, c := range []*CallSite{&p.After, &p.Before} {
		if c.Site > 0 {
			c.Site = replace(c.Site)
		}
	}
}

func hasEvidence(c *Content) bool {
	t := &c.Ranks.evidence
	return t.rows.N+t.instances.N+t.usages.N > 0
}

func appendEvidence(c *Content) []byte {
	t := &c.Ranks.evidence
	s := newSection()
	order, number := t.sortedKeys()
	n := len(order)
	s.Number(uint64(n))
	s.Column(n, func(i int) int64 { return int64(order[i].Thread) })
	for _, call := range []func(p *EvidenceKey) *CallSite{
		func(p *EvidenceKey) *CallSite { return &p.After }, func(p *EvidenceKey) *CallSite { return &p.Before },
	} {
		s.Column(n, func(i int) int64 { return int64(call(&order[i]).Function) })
		s.Column(n, func(i int) int64 { return int64(call(&order[i]).Site) })
	}
	s.Number(uint64(c.Ranks.Len()))
	s.Sequence(t.rows.Counts())
	if t.rows.N > 0 {
		keys := t.rows.Columns[rowKey].Values(nil)
		for i := range keys {
			keys[i] = number[keys[i]]
		}
		first := t.rows.Starts()
		s.Column(t.rows.N, func(i int) int64 {
			if first[i] {
				return keys[i]
			}
			return keys[i] - keys[i-1] - 1
		})
		s.measuredBetween(&t.rows, rowKey+1, rowUsage, codec.GroupRows(keys))
	}
	s.Sequence(t.instances.Counts())
	if t.instances.N > 0 {
		s.Numbers(&t.instances.Columns[instanceRow])
		s.measuredBetween(&t.instances, instanceBegin, instanceUsage, codec.GroupRows(c.Ranks.momentGroups(&t.instances)))
	}
	s.Sequence(t.usages.Counts())
	if t.usages.N > 0 {
		s.Numbers(&t.usages.Columns[usageFlags])
		s.TextNumbers(&t.usages.Columns[usageName], t.names.List)
		s.measuredFrom(&t.usages, usageTID, codec.GroupRows(t.usages.Columns[usageFlags].Values(nil)))
	}
	return s.Bytes()
}

// sortedKeys returns the keys in order, so that those of a rank's rows are mostly consecutive, and
// the new number of each.
func (t *evidenceTable) sortedKeys() (sorted []EvidenceKey, number []int64) {
	old := make([]int, len(t.keys))
	for i := range old {
		old[i] = i
	}
	slices.SortFunc(old, func(a, b int) int { return t.keys[a].Compare(t.keys[b]) })
	number = make([]int64, len(old))
	for i, k := range old {
		sorted = append(sorted, t.keys[k])
		number[k] = int64(i)
	}
	return sorted, number
}

// measuredFrom writes the columns of a table from first on.
func (s *sectionWriter) measuredFrom(table *codec.Ragged, first int, g codec.Grouping) {
	s.measuredBetween(table, first, len(table.Columns), g)
}

// measuredBetween writes the columns of a table from first to the one before end.
func (s *sectionWriter) measuredBetween(table *codec.Ragged, first, end int, g codec.Grouping) {
	for k := first; k < end; k++ {
		s.Measured(&table.Columns[k], &g)
	}
}

// evidence reads what appendEvidence wrote. Ranks must have been read.
func (d *decoder) evidence(c *Content) {
	var t evidenceTable
	t.names.List = d.Strings
	n := d.Rows(24)
	threads := d.Column(n)
	var calls [2][]CallSite
	for k := range calls {
		functions, sites := d.Column(n), d.Column(n)
		calls[k] = make([]CallSite, n)
		for i := range calls[k] {
			if uint64(functions[i]) > math.MaxUint16 || uint64(sites[i]) > math.MaxUint32 {
				d.Fail(codec.ErrNumber)
				return
			}
			calls[k][i] = CallSite{uint16(functions[i]), uint32(sites[i])}
		}
	}
	for i := range n {
		if threads[i] < 0 || threads[i] > math.MaxInt32 {
			d.Fail(codec.ErrNumber)
			return
		}
		t.keys = append(t.keys, EvidenceKey{int(threads[i]), calls[0][i], calls[1][i]})
	}
	if d.Uvarint() != uint64(c.Ranks.Len()) {
		d.Fail(codec.ErrNumber)
		return
	}
	if t.rows = d.RaggedCounts(c.Ranks.Len(), rowColumns); t.rows.N > 0 {
		t.rows.Columns[rowKey] = d.evidenceKeys(&t.rows)
		d.measuredBetween(&t.rows, rowKey+1, rowUsage, d.Grouping(t.rows.N, func() []int64 { return t.rows.Columns[rowKey].Values(nil) }))
	}
	if t.instances = d.RaggedCounts(c.Ranks.Len(), instanceColumns); t.instances.N > 0 {
		t.instances.Columns[instanceRow] = d.Numbers(t.instances.N)
		d.measuredBetween(&t.instances, instanceBegin, instanceUsage, d.Grouping(t.instances.N, func() []int64 { return c.Ranks.momentGroups(&t.instances) }))
	}
	if t.usages = d.RaggedCounts(c.Ranks.Len(), usageColumns); t.usages.N > 0 {
		t.usages.Columns[usageFlags], t.usages.Columns[usageName] = d.Numbers(t.usages.N), d.TextNumbers(t.usages.N)
		d.measuredFrom(&t.usages, usageTID, d.Grouping(t.usages.N, func() []int64 { return t.usages.Columns[usageFlags].Values(nil) }))
	}
	if d.Err != nil {
		return
	}
	t.forgetUsage()
	if err := t.check(); err != nil {
		d.Fail(err)
		return
	}
	c.Ranks.evidence = t
}

var errEvidence = errors.New("evidence: a number is out of range")

// evidenceKeys reads the key numbers of rows. Each is mostly the successor of that of the rank's
// previous row.
func (d *decoder) evidenceKeys(rows *codec.Ragged) (keys codec.Numbers) {
	if !d.Temporary(int64(rows.N)) {
		return keys
	}
	first, key := rows.Starts(), int64(0)
	for i, step := range d.Column(rows.N) {
		if d.Err != nil {
			break
		}
		if key += step + 1; first[i] {
			key = step
		}
		keys.Push(key)
	}
	if !d.Budget.Take(keys.Bytes()) {
		d.Fail(codec.ErrMemory)
	}
	return keys
}

// measuredFrom reads what sectionWriter.measuredFrom wrote. It does not check the numbers.
func (d *decoder) measuredFrom(table *codec.Ragged, first int, g *codec.Grouping) {
	d.measuredBetween(table, first, len(table.Columns), g)
}

// measuredBetween reads what sectionWriter.measuredBetween wrote.
func (d *decoder) measuredBetween(table *codec.Ragged, first, end int, g *codec.Grouping) {
	for k := first; k < end; k++ {
		table.Columns[k] = d.Measured(g, math.MinInt64, math.MaxInt64)
	}
}

// check checks all numbers that are references or codes.
func (t *evidenceTable) check() error {
	within := func(g *codec.Ragged, low, end int64, columns ...int) bool {
		return !slices.ContainsFunc(columns, func(k int) bool { return !g.Columns[k].Within(low, end) })
	}
	if !within(&t.rows, 0, int64(len(t.keys)), rowKey) || !within(&t.rows, 1, codec.MaxRounded+1, rowCount) ||
		!within(&t.rows, Unknown, codec.MaxRounded+1, rowIOBytes, rowIOCalls) || !within(&t.rows, Unknown, codec.MaxRoundedNS+1, rowOtherCPU, rowData) ||
		!timesWithin(&t.rows, rowWall, rowOffCPU, rowRunDelay) {
		return errEvidence
	}
	if !within(&t.instances, -maxInstanceBegin, maxInstanceBegin, instanceBegin) || !within(&t.instances, Unknown, codec.MaxRounded+1, instanceIOBytes) ||
		!timesWithin(&t.instances, instanceWall, instanceOffCPU, instanceRunDelay) {
		return errEvidence
	}
	if !within(&t.usages, -math.MaxInt32, math.MaxInt32, usageTID) || !within(&t.usages, 0, int64(len(t.names.List)), usageName) ||
		!within(&t.usages, 0, usageFlagsEnd, usageFlags) || !within(&t.usages, Unknown, codec.MaxRoundedNS+1, usageCPU, usageRunDelay) {
		return errEvidence
	}
	// an instance must belong to a row of the same rank
	rows, instances := t.rows.First.Lookup(), t.instances.First.Lookup()
	row := t.instances.Columns[instanceRow].Lookup()
	for i := range t.rows.First.Len() - 1 {
		for k := instances(i); k < instances(i+1); k++ {
			if v := row(int(k)); v < 0 || v >= rows(i+1)-rows(i) {
				return errEvidence
			}
		}
	}
	return nil
}

// timesWithin reports whether columns of times are valid results of timesOf.
func timesWithin(g *codec.Ragged, wall, off, delayed int) bool {
	const most = codec.MaxRoundedNS + 1
	if !g.Columns[wall].Within(0, most) || !g.Columns[off].Within(-most, most) || !g.Columns[delayed].Within(-most, most) {
		return false
	}
	walls, offs, delays := g.Columns[wall].Lookup(), g.Columns[off].Lookup(), g.Columns[delayed].Lookup()
	for i := range g.N {
		offCode := walls(i) - offs(i)
		if delay := offCode - delays(i); offCode < 0 || offCode >= most || delay < Unknown || delay >= most {
			return false
		}
	}
	return true
}

// maxInstanceBegin bounds the differences of beginnings, so that sums do not overflow.
const maxInstanceBegin = math.MaxInt64 / instanceUnit / (MaxInstances + 1)

// validateEvidence checks the references of evidence.
func (c *Content) validateEvidence() error {
	t := &c.Ranks.evidence
	if t.rows.Columns != nil {
		if err := t.check(); err != nil {
			return fmt.Errorf("trace: %w", err)
		}
	}
	for _, p := range t.keys {
		for _, call := range []CallSite{p.After, p.Before} {
			if call.Function != 0 && c.function(call.Function) == nil {
				return fmt.Errorf("trace: evidence: no function %d", call.Function)
			}
			if int(call.Site) > len(c.Sites) {
				return fmt.Errorf("trace: evidence: no call site %d", call.Site)
			}
		}
	}
	return nil
}
