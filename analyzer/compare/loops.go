package compare

import (
	"regexp"

	"github.com/cairn-mpi/cairn/analyzer/phases"
)

// A loop is a loop of a run, on all ranks.
type loop struct {
	phase  string // its name
	nth    int    // index among those of that name
	anchor string
}

func loopOf(k *phases.Key) loop { return loop{k.Phase, k.Nth, k.Anchor} }

// loops lists the loops of a run, in order.
func (r *run) loops() []loop {
	var list []loop
	seen := map[loop]bool{}
	for i := range r.samples {
		l := loopOf(&r.samples[i].Key)
		if !seen[l] {
			seen[l] = true
			list = append(list, l)
		}
	}
	return list
}

// nameLoopsAs renames loops that o lacks to o's names, if they are the same except for line
// numbers, in order. A loop's name changes when lines move, or when a call is added at its begin or
// end.
func (r *run) nameLoopsAs(o *run) {
	own, others := map[loop]bool{}, map[loop]bool{}
	for _, l := range r.loops() {
		own[l] = true
	}
	free := map[string][]loop{} // loops of o that r lacks
	for _, l := range o.loops() {
		others[l] = true
		if !own[l] {
			name := withoutLines(l.phase)
			free[name] = append(free[name], l)
		}
	}
	renamed := map[loop]loop{}
	for _, l := range r.loops() {
		if name := withoutLines(l.phase); !others[l] && len(free[name]) > 0 {
			renamed[l], free[name] = free[name][0], free[name][1:]
		}
	}
	for i := range r.samples {
		key := &r.samples[i].Key
		if l, there := renamed[loopOf(key)]; there {
			key.Phase, key.Nth, key.Anchor = l.phase, l.nth, l.anchor
		}
	}
	seen := map[string]int{}
	for i := range r.phases {
		p := &r.phases[i]
		l := loop{p.Name, seen[p.Name], p.Anchor}
		seen[p.Name]++
		if to, there := renamed[l]; there {
			p.Name = to.phase
		}
	}
}

// lines are one or two line numbers after the name of a file, as in "loop stencil.c:70–95".
var lines = regexp.MustCompile(`:\d+(–\d+)?`)

func withoutLines(name string) string { return lines.ReplaceAllString(name, "") }
