package simgrid

import (
	"cmp"
	"maps"
	"slices"
)

// An Omission is something that could not be written.
type Omission struct {
	What  string
	Count uint64
}

type omissions map[string]uint64

func (o omissions) add(what string, n uint64) {
	if n > 0 {
		o[what] += n
	}
}

// list returns the omissions, most frequent first.
func (o omissions) list() []Omission {
	var list []Omission
	for _, what := range slices.Sorted(maps.Keys(o)) {
		list = append(list, Omission{what, o[what]})
	}
	slices.SortStableFunc(list, func(a, b Omission) int { return cmp.Compare(b.Count, a.Count) })
	return list
}
