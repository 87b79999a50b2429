package delays

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"math"
	"slices"
)

// MaxRecords bounds the memory: if there are more records, the costs of the older half are
// finalized, and what later waits would propagate to them is lost.
var MaxRecords = 1 << 19

// A delayRecord is the attribution of one wait.
type delayRecord struct {
	begin, end int64
	cause      int32
	order      int     // order of attribution: after all waits that it is attributed to
	from, to   int     // waits of the cause in the interval, as indices from its first wait
	share      float64 // cost per nanosecond of delay
	delays     []delayPart
	long       float64 // cost propagated to this wait, in nanoseconds
}

type delayPart struct {
	activity int32
	ns       float64
}

// backwardRecords is a heap of locations by the order of their next record, backward. The end of
// the wait is not suitable as key: because of rounding a wait can seem to end before one that it is
// attributed to.
type backwardRecords struct {
	pasts []past
	queue []backwardRecord
}

type backwardRecord struct{ location, next int }

func (h *backwardRecords) record(i int) *delayRecord {
	return &h.pasts[h.queue[i].location].records[h.queue[i].next]
}
func (h *backwardRecords) Len() int { return len(h.queue) }
func (h *backwardRecords) Less(i, j int) bool {
	a, b := h.record(i), h.record(j)
	return a.order > b.order
}
func (h *backwardRecords) Swap(i, j int) { h.queue[i], h.queue[j] = h.queue[j], h.queue[i] }
func (h *backwardRecords) Push(x any)    { h.queue = append(h.queue, x.(backwardRecord)) }
func (h *backwardRecords) Pop() any {
	last := h.queue[len(h.queue)-1]
	h.queue = h.queue[:len(h.queue)-1]
	return last
}

// propagate processes the records backward and adds up their costs: of all records, or of the older
// half.
func (d *Delays) propagate(all bool) {
	cut := int64(math.MaxInt64)
	if !all {
		ends := make([]int64, 0, d.records)
		for i := range d.pasts {
			for k := range d.pasts[i].records {
				ends = append(ends, d.pasts[i].records[k].end)
			}
		}
		slices.Sort(ends)
		cut = ends[len(ends)/2]
	}
	h := &backwardRecords{pasts: d.pasts}
	for i := range d.pasts {
		if n := len(d.pasts[i].records); n > 0 {
			h.queue = append(h.queue, backwardRecord{i, n - 1})
		}
	}
	heap.Init(h)
	for len(h.queue) > 0 {
		d.attribute(h.record(0), cut)
		if h.queue[0].next--; h.queue[0].next >= 0 {
			heap.Fix(h, 0)
		} else {
			heap.Pop(h)
		}
	}
	for i := range d.pasts {
		p := &d.pasts[i]
		n := 0
		for n < len(p.records) && p.records[n].end <= cut {
			n++
		}
		p.records = slices.Delete(p.records, 0, n)
		p.dropped += n
		d.records -= n
		for k := range p.records {
			p.records[k].long = 0
		}
	}
}

// attribute distributes the cost of a wait.
func (d *Delays) attribute(r *delayRecord, cut int64) {
	short, long := float64(r.end-r.begin)*r.share, r.long*r.share
	if r.end <= cut {
		for _, part := range r.delays {
			origin := Origin{r.cause, part.activity}
			c := d.Costs[origin]
			if c == nil {
				c = new(Cost)
				d.Costs[origin] = c
			}
			c.Short += short * part.ns
			c.Long += long * part.ns
		}
	}
	cause := &d.pasts[r.cause]
	for i := max(r.from, cause.dropped); i < r.to; i++ {
		if q := &cause.records[i-cause.dropped]; q.order < r.order {
			q.long += (short + long) * float64(q.end-q.begin)
		}
	}
}

// finish processes all remaining records.
func (d *Delays) finish() {
	for i := range d.pasts {
		d.settle(i, math.MaxInt64)
	}
	d.propagate(true)
}

// Notes returns remarks on waits whose interval was cut by the bounds of work.
func (d *Delays) Notes() []string {
	if d.shortened == 0 {
		return nil
	}
	return []string{fmt.Sprintf("The causes of %d of %d waits were searched only in the latest part of the time since both ranks were last in step: that time has more activities than the limit, %d for each call of the run.",
		d.shortened, d.explained, spansPerCall)}
}

// Origins returns the origins of all delays in a fixed order, so that sums are reproducible.
func (d *Delays) Origins() []Origin {
	return slices.SortedFunc(maps.Keys(d.Costs), func(x, y Origin) int {
		return cmp.Or(cmp.Compare(x.Location, y.Location), cmp.Compare(x.Activity, y.Activity))
	})
}

// ByRow returns the costs by rank, in seconds.
func (d *Delays) ByRow(ranks int) []float64 {
	if d == nil {
		return nil
	}
	list := make([]float64, ranks)
	for _, x := range d.Costliest() {
		list[d.forward.Locations[x.Location].Row] += (x.Short + x.Long) / 1e9
	}
	return list
}

// A CostAt is the cost of an origin.
type CostAt struct {
	Origin
	Cost
}

// Costliest returns the costs of all origins, largest first.
func (d *Delays) Costliest() []CostAt {
	var rows []CostAt
	for origin, cost := range d.Costs {
		rows = append(rows, CostAt{origin, *cost})
	}
	slices.SortFunc(rows, func(x, y CostAt) int {
		return cmp.Or(-cmp.Compare(x.Short+x.Long, y.Short+y.Long), cmp.Compare(x.Location, y.Location), cmp.Compare(x.Activity, y.Activity))
	})
	return rows
}
