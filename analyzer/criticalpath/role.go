package criticalpath

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A master that hands out work computes nothing beside its workers, and among such ranks nobody stands out. So ranks are
// also compared with those of the same role alone: those whose computation is in the same places.

// inRole is the share of a rank's computation from which on a place belongs to its role, minRole how many ranks a role
// needs to compare them.
const (
	inRole  = 0.05
	minRole = 4
)

// roles gives all workers and, where there are several roles, those of each that has enough.
func (a *analysis) roles(all []worker) [][]worker {
	byRole := map[string][]worker{}
	for _, w := range all {
		tallies := a.accounts[a.mainOf[w.row]].tallies
		sum := int64(0)
		for what, t := range tallies {
			if what.computes() {
				sum += t.ns
			}
		}
		var places []activity
		for what, t := range tallies {
			if what.computes() && float64(t.ns) >= inRole*float64(sum) {
				places = append(places, what)
			}
		}
		slices.SortFunc(places, func(x, y activity) int {
			return cmp.Or(cmp.Compare(x.function, y.function), cmp.Compare(x.site, y.site), cmp.Compare(x.next, y.next), cmp.Compare(x.nextSite, y.nextSite))
		})
		var key []byte
		for _, p := range places {
			key = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(key, p.function), p.next)
			key = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(key, p.site), p.nextSite)
		}
		byRole[string(key)] = append(byRole[string(key)], w)
	}
	groups := [][]worker{all}
	if len(byRole) == 1 {
		return groups
	}
	for _, group := range byRole {
		if len(group) >= minRole {
			groups = append(groups, group)
		}
	}
	slices.SortFunc(groups[1:], func(x, y []worker) int { return cmp.Compare(x[0].row, y[0].row) })
	return groups
}
