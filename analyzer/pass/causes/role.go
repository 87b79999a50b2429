package causes

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
func (a *search) roles(all []worker) [][]worker {
	byRole := map[string][]worker{}
	for _, w := range all {
		key := a.roleOf(w.row)
		byRole[key] = append(byRole[key], w)
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

// roleOf is a key of a rank's role: the places of its computation.
func (a *search) roleOf(row int) string {
	if a.roleKeys == nil {
		a.roleKeys = make([]string, len(a.Ranks))
	}
	if a.roleKeys[row] != "" {
		return a.roleKeys[row]
	}
	account, sum := &a.Each[a.MainOf[row]], int64(0)
	for what, t := range account.Tallies {
		if what.Computes() {
			sum += t.Ns
		}
	}
	key := []byte{'r'} // never empty
	for _, p := range account.Activities() {
		if t := account.Tallies[p]; p.Computes() && float64(t.Ns) >= inRole*float64(sum) {
			key = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(key, p.Function), p.Next)
			key = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(key, p.Site), p.NextSite)
		}
	}
	a.roleKeys[row] = string(key)
	return a.roleKeys[row]
}
