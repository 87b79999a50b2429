package trace

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// The evidence of all ranks by column, rounded: ranks with equal numbers take no memory, and next to no bytes.
type evidenceTable struct {
	places    []EvidencePlace // distinct, in order of first use
	ids       map[EvidencePlace]int64
	names     stringDictionary // of threads
	rows      ragged
	instances ragged
	usages    ragged
}

// Columns of a row, of an instance and of a thread. CPU time is written as what is missing of the wall time: that is most
// often nothing, and is what matters.
const (
	rowPlace = iota
	rowCount
	rowWall
	rowOffCPU
	rowRunDelay
	rowOtherCPU
	rowIOBytes
	rowIOCalls
	rowData
	rowColumns
)

const (
	instanceRow = iota
	instanceBegin
	instanceWall
	instanceOffCPU
	instanceRunDelay
	instanceIOBytes
	instanceColumns
)

const (
	usageTID = iota
	usageName
	usageCPU
	usageRunDelay
	usageFlags
	usageColumns
)

const (
	usageCallsMPI = 1 << iota
	usageTool
	usageFlagsEnd
)

// instanceUnit is in which steps of ns the beginning of an instance is known.
const instanceUnit = 1 << 16

func (t *evidenceTable) begin(ranks int) {
	t.rows.begin(rowColumns)
	t.rows.first.PushRun(0, 0, ranks)
	t.instances.begin(instanceColumns)
	t.instances.first.PushRun(0, 0, ranks)
	t.usages.begin(usageColumns)
	t.usages.first.PushRun(0, 0, ranks)
}

func (t *evidenceTable) place(p EvidencePlace) int64 {
	id, known := t.ids[p]
	if known {
		return id
	}
	if t.ids == nil {
		t.ids = map[EvidencePlace]int64{}
		for i, have := range t.places { // a reader's
			t.ids[have] = int64(i)
		}
		return t.place(p)
	}
	id = int64(len(t.places))
	t.places = append(t.places, p)
	t.ids[p] = id
	return id
}

func (t *evidenceTable) append(r *Rank) {
	for i := range r.Evidence {
		e := &r.Evidence[i]
		t.rows.add(rowColumns, t.place(e.EvidencePlace), int64(e.Count), roundedCode(e.WallNS), roundedCode(e.WallNS-e.CPUNS),
			roundedCode(e.RunDelayNS), roundedCode(e.OtherCPUNS), roundedCode(e.IOBytes), roundedCode(e.IOCalls), roundedCode(e.DataNS))
	}
	t.rows.end(rowColumns)
	before := int64(0)
	for i := range r.Outliers {
		e := &r.Outliers[i]
		begin := (e.BeginNS + instanceUnit/2) / instanceUnit
		t.instances.add(instanceColumns, int64(e.Row), begin-before, roundedCode(e.WallNS), roundedCode(e.WallNS-e.CPUNS),
			roundedCode(e.RunDelayNS), roundedCode(e.IOBytes))
		before = begin
	}
	t.instances.end(instanceColumns)
	for i := range r.Threads {
		u := &r.Threads[i]
		flags := int64(0)
		if u.CallsMPI {
			flags |= usageCallsMPI
		}
		if u.Tool {
			flags |= usageTool
		}
		t.usages.add(usageColumns, int64(u.TID-r.PID), t.names.index(u.Name), roundedCode(u.CPUNS), roundedCode(u.RunDelayNS), flags)
	}
	t.usages.end(usageColumns)
}

// lookup gives a function that fills in the evidence of the rank in row i.
func (t *evidenceTable) lookup() func(i int, r *Rank) {
	rows, instances, usages := t.rows.lookup(), t.instances.lookup(), t.usages.lookup()
	return func(i int, r *Rank) {
		if from, to := rows.rows(i); to > from {
			r.Evidence = make([]EvidenceRow, to-from)
			for k := range r.Evidence {
				at := func(column int) int64 { return rows.at(column, from+k) }
				wall := unrounded(at(rowWall))
				r.Evidence[k] = EvidenceRow{
					EvidencePlace: t.places[at(rowPlace)], Count: uint64(at(rowCount)), WallNS: wall, CPUNS: wall - unrounded(at(rowOffCPU)),
					RunDelayNS: unrounded(at(rowRunDelay)), OtherCPUNS: unrounded(at(rowOtherCPU)), IOBytes: unrounded(at(rowIOBytes)),
					IOCalls: unrounded(at(rowIOCalls)), DataNS: unrounded(at(rowData)),
				}
			}
		}
		if from, to := instances.rows(i); to > from {
			r.Outliers = make([]EvidenceInstance, to-from)
			begin := int64(0)
			for k := range r.Outliers {
				at := func(column int) int64 { return instances.at(column, from+k) }
				begin += at(instanceBegin)
				wall := unrounded(at(instanceWall))
				r.Outliers[k] = EvidenceInstance{
					Row: int(at(instanceRow)), BeginNS: begin * instanceUnit, WallNS: wall, CPUNS: wall - unrounded(at(instanceOffCPU)),
					RunDelayNS: unrounded(at(instanceRunDelay)), IOBytes: unrounded(at(instanceIOBytes)),
				}
			}
		}
		if from, to := usages.rows(i); to > from {
			r.Threads = make([]ThreadUsage, to-from)
			for k := range r.Threads {
				at := func(column int) int64 { return usages.at(column, from+k) }
				r.Threads[k] = ThreadUsage{
					TID: r.PID + int(at(usageTID)), Name: t.names.list[at(usageName)], CPUNS: unrounded(at(usageCPU)),
					RunDelayNS: unrounded(at(usageRunDelay)), CallsMPI: at(usageFlags)&usageCallsMPI != 0, Tool: at(usageFlags)&usageTool != 0,
				}
			}
		}
	}
}

// EvidenceCalls goes through the calls that the evidence of ranks refers to: some come more than once.
func (t *RankTable) EvidenceCalls() iter.Seq[CallPlace] {
	return func(yield func(CallPlace) bool) {
		for _, p := range t.evidence.places {
			for _, call := range []CallPlace{p.After, p.Before} {
				if call.Function != 0 && !yield(call) {
					return
				}
			}
		}
	}
}

// ReplaceSites replaces every call site that ranks refer to. replace is given 1 + the index of a site, and returns what stands
// in its place.
func (t *RankTable) ReplaceSites(replace func(uint32) uint32) {
	t.evidence.places = slices.Clone(t.evidence.places)
	for i := range t.evidence.places {
		t.evidence.places[i].replaceSites(replace)
	}
	t.evidence.ids = nil
}

// ReplaceSites is that of a RankTable, for one rank. What Evidence was before is left as it is.
func (r *Rank) ReplaceSites(replace func(uint32) uint32) {
	r.Evidence = slices.Clone(r.Evidence)
	for i := range r.Evidence {
		r.Evidence[i].replaceSites(replace)
	}
}

func (p *EvidencePlace) replaceSites(replace func(uint32) uint32) {
	for _, c := range []*CallPlace{&p.After, &p.Before} {
		if c.Site > 0 {
			c.Site = replace(c.Site)
		}
	}
}

func hasEvidence(c *Content) bool {
	t := &c.Ranks.evidence
	return t.rows.n+t.instances.n+t.usages.n > 0
}

func appendEvidence(c *Content) []byte {
	t := &c.Ranks.evidence
	s := newSection()
	n := len(t.places)
	s.number(uint64(n))
	s.column(n, func(i int) int64 { return int64(t.places[i].Thread) })
	for _, call := range []func(p *EvidencePlace) *CallPlace{
		func(p *EvidencePlace) *CallPlace { return &p.After }, func(p *EvidencePlace) *CallPlace { return &p.Before },
	} {
		s.column(n, func(i int) int64 { return int64(call(&t.places[i]).Function) })
		s.column(n, func(i int) int64 { return int64(call(&t.places[i]).Site) })
	}
	s.number(uint64(c.Ranks.Len()))
	for _, table := range []*ragged{&t.rows, &t.instances, &t.usages} {
		s.b = AppendSequence(s.b, table.counts())
		for k := range table.columns {
			if table == &t.usages && k == usageName {
				s.textNumbers(&table.columns[k], t.names.list)
			} else {
				s.numbers(&table.columns[k])
			}
		}
	}
	return s.bytes()
}

// evidence reads what appendEvidence wrote; ranks are there.
func (d *decoder) evidence(c *Content) {
	var t evidenceTable
	t.names.list = d.strings
	n := d.rows(24)
	threads := d.column(n)
	var calls [2][]CallPlace
	for k := range calls {
		functions, sites := d.column(n), d.column(n)
		calls[k] = make([]CallPlace, n)
		for i := range calls[k] {
			if uint64(functions[i]) > math.MaxUint16 || uint64(sites[i]) > math.MaxUint32 {
				d.fail(errNumber)
				return
			}
			calls[k][i] = CallPlace{uint16(functions[i]), uint32(sites[i])}
		}
	}
	for i := range n {
		if threads[i] < 0 || threads[i] > math.MaxInt32 {
			d.fail(errNumber)
			return
		}
		t.places = append(t.places, EvidencePlace{int(threads[i]), calls[0][i], calls[1][i]})
	}
	if d.uvarint() != uint64(c.Ranks.Len()) {
		d.fail(errNumber)
		return
	}
	t.rows = d.ragged(c.Ranks.Len(), rowColumns)
	t.instances = d.ragged(c.Ranks.Len(), instanceColumns)
	t.usages = d.ragged(c.Ranks.Len(), usageColumns)
	if d.err != nil {
		return
	}
	if err := t.check(); err != nil {
		d.fail(err)
		return
	}
	c.Ranks.evidence = t
}

var errEvidence = errors.New("evidence: a number is out of range")

// check checks all numbers that refer to something or are read as codes.
func (t *evidenceTable) check() error {
	rounded := func(g *ragged, columns ...int) bool {
		return !slices.ContainsFunc(columns, func(k int) bool { return !g.columns[k].Within(Unknown, maxRounded+1) })
	}
	if !t.rows.columns[rowPlace].Within(0, int64(len(t.places))) || !t.rows.columns[rowCount].Within(1, math.MaxInt64) ||
		!t.rows.columns[rowWall].Within(0, maxRounded+1) || !t.rows.columns[rowOffCPU].Within(0, maxRounded+1) ||
		!rounded(&t.rows, rowRunDelay, rowOtherCPU, rowIOBytes, rowIOCalls, rowData) {
		return errEvidence
	}
	if !t.instances.columns[instanceWall].Within(0, maxRounded+1) || !t.instances.columns[instanceOffCPU].Within(0, maxRounded+1) ||
		!t.instances.columns[instanceBegin].Within(-maxInstanceBegin, maxInstanceBegin) ||
		!rounded(&t.instances, instanceRunDelay, instanceIOBytes) {
		return errEvidence
	}
	if !t.usages.columns[usageTID].Within(-math.MaxInt32, math.MaxInt32) || !t.usages.columns[usageName].Within(0, int64(len(t.names.list))) ||
		!t.usages.columns[usageFlags].Within(0, usageFlagsEnd) || !rounded(&t.usages, usageCPU, usageRunDelay) {
		return errEvidence
	}
	// an instance is of one of the rank's own rows
	rows, instances := t.rows.first.Lookup(), t.instances.first.Lookup()
	row := t.instances.columns[instanceRow].Lookup()
	for i := range t.rows.first.Len() - 1 {
		for k := instances(i); k < instances(i+1); k++ {
			if v := row(int(k)); v < 0 || v >= rows(i+1)-rows(i) {
				return errEvidence
			}
		}
	}
	return nil
}

// maxInstanceBegin bounds the differences of beginnings, so that sums do not overflow.
const maxInstanceBegin = math.MaxInt64 / instanceUnit / (MaxInstances + 1)

// validateEvidence checks what evidence refers to.
func (c *Content) validateEvidence() error {
	t := &c.Ranks.evidence
	if t.rows.columns != nil {
		if err := t.check(); err != nil {
			return fmt.Errorf("trace: %w", err)
		}
	}
	for _, p := range t.places {
		for _, call := range []CallPlace{p.After, p.Before} {
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
