package match

import "sort"

// A Leftover is a kind of operation that found no partner, at one call site of one rank.
type Leftover struct {
	What     What
	Row      int // index into Trace.Ranks
	Function uint16
	Site     uint32
	Count    int
}

// What says how an operation was left over.
type What string

// The ways in which an operation can be left without a partner.
const (
	Sent       What = "send without receive"
	Received   What = "receive without send"
	Collected  What = "collective that some ranks never entered"
	Untold     What = "wildcard receive whose sender is not known"
	Confused   What = "collective entered twice by one rank"
	Lonely     What = "one-sided epoch that the other side never had"
	sentAway   What = "send to a rank that the trace lacks"
	fromAbsent What = "receive from a rank that the trace lacks"
)

// leftovers counts them.
type leftovers map[Leftover]int

func (l *leftovers) add(what What, at *Point) {
	if *l == nil {
		*l = leftovers{}
	}
	(*l)[Leftover{What: what, Row: at.Row, Function: at.Function, Site: at.Site}]++
}

func (l *leftovers) absent(at *Point, what What) {
	if what == Sent {
		l.add(sentAway, at)
	} else {
		l.add(fromAbsent, at)
	}
}

func (l *leftovers) untold(at *Point) { l.add(Untold, at) }

func (l *leftovers) confused(at *Point) { l.add(Confused, at) }

func (l leftovers) sorted() []Leftover {
	list := make([]Leftover, 0, len(l))
	for k, n := range l {
		k.Count = n
		list = append(list, k)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if a.What != b.What {
			return a.What < b.What
		}
		if a.Row != b.Row {
			return a.Row < b.Row
		}
		if a.Function != b.Function {
			return a.Function < b.Function
		}
		return a.Site < b.Site
	})
	return list
}
