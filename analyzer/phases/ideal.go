package phases

import (
	"slices"
	"sort"
)

// Serialization and transfer of a part of the run require its duration on an ideal network (package
// predict). A rank's ideal time in a part is the time between the same points of its program there.
// The part takes as long as that of the slowest rank, but not longer than measured.

// Marks returns the times of the run at which a location's parts begin and end, in order.
func (p *Plan) Marks(location int) []int64 {
	t := p.trackers[location]
	if t == nil || !t.began {
		return nil
	}
	var marks []int64
	for i := range windows + 1 {
		marks = append(marks, p.start+int64(i)*p.window())
	}
	for _, number := range t.order {
		marks = append(marks, t.parts[number].start, t.parts[number].end)
	}
	slices.Sort(marks)
	return slices.Compact(marks)
}

// Ideal sets the times of a location's marks on an ideal network.
func (p *Plan) Ideal(location int, at []int64) {
	if t := p.trackers[location]; t != nil && len(at) > 0 {
		t.marks, t.ideal = p.Marks(location), at
	}
}

// passes returns the ideal duration between two marks, 0 if it is not known.
func (t *Tracker) passes(from, to int64) int64 {
	if len(t.ideal) == 0 {
		return 0
	}
	at := func(mark int64) int64 {
		i := sort.Search(len(t.marks), func(i int) bool { return t.marks[i] >= mark })
		return t.ideal[min(i, len(t.ideal)-1)]
	}
	return max(0, at(to)-at(from))
}

// divide splits the communication efficiency of a part with the given measured and ideal durations.
func (e *Efficiency) divide(ideal, most, length float64) {
	ideal = max(min(ideal, length), most)
	if ideal > 0 && length > 0 {
		e.IdealSeconds, e.Serialization, e.Transfer = ideal, most/ideal, ideal/length
	}
}

// onPath adds a piece of the critical path that the rank was on.
func (t *Tracker) onPath(from, to int64) {
	for _, number := range t.order {
		part := &t.parts[number]
		if a, b := max(from, part.start), min(to, part.end); a < b {
			part.path += b - a
		}
	}
}
