package inspect

import (
	"fmt"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
)

// generalizedCalls are calls that the trace has without some of their arguments, texts or call
// sites, because a recorder reached its memory limit.
type generalizedCalls struct {
	Function   string `json:"function"`
	Signatures int    `json:"signatures"`
	Calls      uint64 `json:"calls"`
}

// addGeneralized adds the functions that have such calls, in the order of the trace's functions.
func (i *Information) addGeneralized(f *tracefile.File) {
	i.Generalized = []generalizedCalls{}
	signatures := f.Signatures()
	of, count := map[uint16]int{}, map[uint16]uint64{}
	for k := range signatures {
		if signatures[k].Generalized {
			of[signatures[k].Function]++
		}
	}
	if len(of) == 0 {
		return
	}
	threads := map[int]uint64{} // by root rule
	for _, root := range f.Threads().Roots().All() {
		threads[int(root)]++
	}
	grammar := f.Grammar()
	for root, n := range threads {
		for _, o := range grammar.Counts(root) {
			if s := &signatures[o.Terminal]; s.Generalized {
				count[s.Function] += n * o.Count
			}
		}
	}
	for _, function := range f.Functions() {
		if of[function.ID] > 0 {
			i.Generalized = append(i.Generalized, generalizedCalls{function.Name, of[function.ID], count[function.ID]})
		}
	}
}

// generalizedRows prints which calls lack something.
func (i *Information) generalizedRows(row func(name string, value any)) {
	for _, g := range i.Generalized {
		row("generalized", fmt.Sprintf("%d calls of %s (%d signatures) lack arguments, texts or call sites: the recorder's memory limit",
			g.Calls, g.Function, g.Signatures))
	}
}
