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

// Columns of a row, of an instance and of a thread. Times and counts are codes of rounded numbers. CPU time is there as what is
// missing of the wall time: that is most often nothing, and is what matters. The code of the time off the CPU is there as what
// it is less than that of the wall time, and that of the run delay as what it is less than the former: these are much alike.
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
		wall, off, delay := timesOf(e.WallNS, e.CPUNS, e.RunDelayNS)
		t.rows.add(rowColumns, t.place(e.EvidencePlace), roundedCode(int64(e.Count)), wall, off, delay,
			roundedNS(e.OtherCPUNS), roundedCode(e.IOBytes), roundedCode(e.IOCalls), roundedNS(e.DataNS))
	}
	t.rows.end(rowColumns)
	before := int64(0)
	for i := range r.Outliers {
		e := &r.Outliers[i]
		begin := (e.BeginNS + instanceUnit/2) / instanceUnit
		wall, off, delay := timesOf(e.WallNS, e.CPUNS, e.RunDelayNS)
		t.instances.add(instanceColumns, int64(e.Row), begin-before, wall, off, delay, roundedCode(e.IOBytes))
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
		t.usages.add(usageColumns, flags, t.names.index(u.Name), int64(u.TID-r.PID), roundedNS(u.CPUNS), roundedNS(u.RunDelayNS))
	}
	t.usages.end(usageColumns)
}

// timesOf are the columns of a wall time, a CPU time and a run delay.
func timesOf(wall, cpu, delay int64) (wallCode, off, delayed int64) {
	wallCode = roundedNS(wall)
	offCode := roundedNS(wall - cpu)
	return wallCode, wallCode - offCode, offCode - roundedNS(delay)
}

// timesFrom are these times.
func timesFrom(wallCode, off, delayed int64) (wall, cpu, delay int64) {
	offCode := wallCode - off
	wall = unroundedNS(wallCode)
	return wall, wall - unroundedNS(offCode), unroundedNS(offCode - delayed)
}

// lookup gives a function that fills in the evidence of the rank in row i.
func (t *evidenceTable) lookup() func(i int, r *Rank) {
	rows, instances, usages := t.rows.lookup(), t.instances.lookup(), t.usages.lookup()
	return func(i int, r *Rank) {
		if from, to := rows.rows(i); to > from {
			r.Evidence = make([]EvidenceRow, to-from)
			for k := range r.Evidence {
				at := func(column int) int64 { return rows.at(column, from+k) }
				e := &r.Evidence[k]
				e.EvidencePlace, e.Count = t.places[at(rowPlace)], uint64(unrounded(at(rowCount)))
				e.WallNS, e.CPUNS, e.RunDelayNS = timesFrom(at(rowWall), at(rowOffCPU), at(rowRunDelay))
				e.OtherCPUNS, e.IOBytes, e.IOCalls = unroundedNS(at(rowOtherCPU)), unrounded(at(rowIOBytes)), unrounded(at(rowIOCalls))
				e.DataNS = unroundedNS(at(rowData))
			}
		}
		if from, to := instances.rows(i); to > from {
			r.Outliers = make([]EvidenceInstance, to-from)
			begin := int64(0)
			for k := range r.Outliers {
				at := func(column int) int64 { return instances.at(column, from+k) }
				begin += at(instanceBegin)
				e := &r.Outliers[k]
				e.Row, e.BeginNS, e.IOBytes = int(at(instanceRow)), begin*instanceUnit, unrounded(at(instanceIOBytes))
				e.WallNS, e.CPUNS, e.RunDelayNS = timesFrom(at(instanceWall), at(instanceOffCPU), at(instanceRunDelay))
			}
		}
		if from, to := usages.rows(i); to > from {
			r.Threads = make([]ThreadUsage, to-from)
			for k := range r.Threads {
				at := func(column int) int64 { return usages.at(column, from+k) }
				r.Threads[k] = ThreadUsage{
					TID: r.PID + int(at(usageTID)), Name: t.names.list[at(usageName)], CPUNS: unroundedNS(at(usageCPU)),
					RunDelayNS: unroundedNS(at(usageRunDelay)), CallsMPI: at(usageFlags)&usageCallsMPI != 0, Tool: at(usageFlags)&usageTool != 0,
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
	order, number := t.sortedPlaces()
	n := len(order)
	s.number(uint64(n))
	s.column(n, func(i int) int64 { return int64(order[i].Thread) })
	for _, call := range []func(p *EvidencePlace) *CallPlace{
		func(p *EvidencePlace) *CallPlace { return &p.After }, func(p *EvidencePlace) *CallPlace { return &p.Before },
	} {
		s.column(n, func(i int) int64 { return int64(call(&order[i]).Function) })
		s.column(n, func(i int) int64 { return int64(call(&order[i]).Site) })
	}
	s.number(uint64(c.Ranks.Len()))
	s.sequence(t.rows.counts())
	if t.rows.n > 0 {
		places := t.rows.columns[rowPlace].Values(nil)
		for i := range places {
			places[i] = number[places[i]]
		}
		first := t.rows.starts()
		s.column(t.rows.n, func(i int) int64 {
			if first[i] {
				return places[i]
			}
			return places[i] - places[i-1] - 1
		})
		s.measuredFrom(&t.rows, rowPlace+1, groupRows(places))
	}
	s.sequence(t.instances.counts())
	if t.instances.n > 0 {
		s.numbers(&t.instances.columns[instanceRow])
		s.measuredFrom(&t.instances, instanceBegin, groupRows(c.Ranks.momentGroups(&t.instances)))
	}
	s.sequence(t.usages.counts())
	if t.usages.n > 0 {
		s.numbers(&t.usages.columns[usageFlags])
		s.textNumbers(&t.usages.columns[usageName], t.names.list)
		s.measuredFrom(&t.usages, usageTID, groupRows(t.usages.columns[usageFlags].Values(nil)))
	}
	return s.bytes()
}

// sortedPlaces are the places in order, so that those of a rank's rows most often follow each other, and the new number of each.
func (t *evidenceTable) sortedPlaces() (sorted []EvidencePlace, number []int64) {
	old := make([]int, len(t.places))
	for i := range old {
		old[i] = i
	}
	slices.SortFunc(old, func(a, b int) int { return t.places[a].Compare(t.places[b]) })
	number = make([]int64, len(old))
	for i, k := range old {
		sorted = append(sorted, t.places[k])
		number[k] = int64(i)
	}
	return sorted, number
}

// measuredFrom writes the columns of a table from one on.
func (s *sectionWriter) measuredFrom(table *ragged, first int, g grouping) {
	for k := first; k < len(table.columns); k++ {
		s.measured(&table.columns[k], &g)
	}
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
	if t.rows = d.raggedCounts(c.Ranks.Len(), rowColumns); t.rows.n > 0 {
		t.rows.columns[rowPlace] = d.places(&t.rows)
		d.measuredFrom(&t.rows, rowPlace+1, d.grouping(t.rows.n, func() []int64 { return t.rows.columns[rowPlace].Values(nil) }))
	}
	if t.instances = d.raggedCounts(c.Ranks.Len(), instanceColumns); t.instances.n > 0 {
		t.instances.columns[instanceRow] = d.numbers(t.instances.n)
		d.measuredFrom(&t.instances, instanceBegin, d.grouping(t.instances.n, func() []int64 { return c.Ranks.momentGroups(&t.instances) }))
	}
	if t.usages = d.raggedCounts(c.Ranks.Len(), usageColumns); t.usages.n > 0 {
		t.usages.columns[usageFlags], t.usages.columns[usageName] = d.numbers(t.usages.n), d.textNumbers(t.usages.n)
		d.measuredFrom(&t.usages, usageTID, d.grouping(t.usages.n, func() []int64 { return t.usages.columns[usageFlags].Values(nil) }))
	}
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

// places reads the places of rows, each of which is most often the one after that of the rank's row before.
func (d *decoder) places(rows *ragged) (places Numbers) {
	if !d.temporary(int64(rows.n)) {
		return places
	}
	first, place := rows.starts(), int64(0)
	for i, step := range d.column(rows.n) {
		if d.err != nil {
			break
		}
		if place += step + 1; first[i] {
			place = step
		}
		places.Push(place)
	}
	if !d.budget.take(places.bytes()) {
		d.fail(errMemory)
	}
	return places
}

// measuredFrom reads what sectionWriter.measuredFrom wrote; the numbers are still to be checked.
func (d *decoder) measuredFrom(table *ragged, first int, g *grouping) {
	for k := first; k < len(table.columns); k++ {
		table.columns[k] = d.measured(g, math.MinInt64, math.MaxInt64)
	}
}

// check checks all numbers that refer to something or are read as codes.
func (t *evidenceTable) check() error {
	within := func(g *ragged, low, end int64, columns ...int) bool {
		return !slices.ContainsFunc(columns, func(k int) bool { return !g.columns[k].Within(low, end) })
	}
	if !within(&t.rows, 0, int64(len(t.places)), rowPlace) || !within(&t.rows, 1, maxRounded+1, rowCount) ||
		!within(&t.rows, Unknown, maxRounded+1, rowIOBytes, rowIOCalls) || !within(&t.rows, Unknown, maxRoundedNS+1, rowOtherCPU, rowData) ||
		!timesWithin(&t.rows, rowWall, rowOffCPU, rowRunDelay) {
		return errEvidence
	}
	if !within(&t.instances, -maxInstanceBegin, maxInstanceBegin, instanceBegin) || !within(&t.instances, Unknown, maxRounded+1, instanceIOBytes) ||
		!timesWithin(&t.instances, instanceWall, instanceOffCPU, instanceRunDelay) {
		return errEvidence
	}
	if !within(&t.usages, -math.MaxInt32, math.MaxInt32, usageTID) || !within(&t.usages, 0, int64(len(t.names.list)), usageName) ||
		!within(&t.usages, 0, usageFlagsEnd, usageFlags) || !within(&t.usages, Unknown, maxRoundedNS+1, usageCPU, usageRunDelay) {
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

// timesWithin reports whether columns of times are such as timesOf gives.
func timesWithin(g *ragged, wall, off, delayed int) bool {
	const most = maxRoundedNS + 1
	if !g.columns[wall].Within(0, most) || !g.columns[off].Within(-most, most) || !g.columns[delayed].Within(-most, most) {
		return false
	}
	walls, offs, delays := g.columns[wall].Lookup(), g.columns[off].Lookup(), g.columns[delayed].Lookup()
	for i := range g.n {
		offCode := walls(i) - offs(i)
		if delay := offCode - delays(i); offCode < 0 || offCode >= most || delay < Unknown || delay >= most {
			return false
		}
	}
	return true
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
