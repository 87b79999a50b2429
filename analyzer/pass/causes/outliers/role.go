package outliers

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A master that hands out work computes nothing compared with its workers, and as one of them it
// keeps any other rank from standing out. Therefore ranks are also compared within roles: ranks
// that compute in the same regions.

// inRole is the minimum fraction of a rank's computation for a region to count for its role;
// MinRole is the minimum number of ranks of a role to be compared.
const (
	inRole  = 0.05
	MinRole = 4
)

// Roles returns all workers and, if there are several roles, the workers of each role with at least
// MinRole ranks.
func (a *Comparison) Roles(all []Worker) [][]Worker {
	byRole := map[string][]Worker{}
	for _, w := range all {
		key := a.roleOf(w.Row)
		byRole[key] = append(byRole[key], w)
	}
	groups := [][]Worker{all}
	if len(byRole) == 1 {
		return groups
	}
	for _, group := range byRole {
		if len(group) >= MinRole {
			groups = append(groups, group)
		}
	}
	slices.SortFunc(groups[1:], func(x, y []Worker) int { return cmp.Compare(x[0].Row, y[0].Row) })
	return groups
}

// roleOf returns a key of a rank's role: the regions of its computation.
func (a *Comparison) roleOf(row int) string {
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
