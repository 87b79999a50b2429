package stopped

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// seen describes the end of a run of which nothing else is known: whether calls went on until the
// end, otherwise where the ranks were since the last of them, and why it is not known whether they
// could proceed.
func (s *search) seen() *verdict.Stop {
	acted := s.begin
	for i := range s.states {
		acted = max(acted, s.states[i].acted)
	}
	stop := &verdict.Stop{Seconds: seconds(s.ended - s.begin)}
	if s.ended-acted < longEnough {
		return stop
	}
	stop.Waited = seconds(s.ended - acted)
	stop.Others = s.waiting(func(*state) bool { return true })
	stop.Named = s.outside(func(*state) bool { return true })
	stop.Doubts = s.doubts()
	return stop
}

// outside groups the ranks that count, and are in no call, by the last one and what they did.
func (s *search) outside(counts func(*state) bool) []verdict.Who {
	type key struct {
		function uint16
		site     uint32
		missed   bool
		activity verdict.Activity
	}
	rows := map[key][]int{}
	for i := range s.states {
		if r := &s.states[i]; r.open == nil && !r.finished && r.last.there && counts(r) {
			k := key{r.last.function, r.last.site, r.last.missed, r.activity}
			rows[k] = append(rows[k], i)
		}
	}
	list := []verdict.Who{}
	for k, set := range rows {
		w := verdict.Who{Ranks: s.list(set), Count: len(set), After: s.call(k.function, k.site), Tests: k.missed, Activity: k.activity}
		for i, row := range set {
			r := &s.states[row]
			if lasted := seconds(max(0, r.died-r.last.exit)); i == 0 || lasted < w.Seconds {
				w.Seconds = lasted
			}
		}
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b verdict.Who) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Ranks, b.Ranks))
	})
	return list
}

// doubts lists what is not known about ranks, by what is not known.
func (s *search) doubts() []verdict.Doubt {
	rows := map[string][]int{}
	for i := range s.states {
		if s.abilities[i] != unknown {
			continue
		}
		if why := s.doubt(&s.states[i]); why != "" {
			rows[why] = append(rows[why], i)
		}
	}
	list := []verdict.Doubt{}
	for why, set := range rows {
		list = append(list, verdict.Doubt{Ranks: s.list(set), Count: len(set), What: why})
	}
	slices.SortFunc(list, func(a, b verdict.Doubt) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Ranks, b.Ranks))
	})
	return list
}
