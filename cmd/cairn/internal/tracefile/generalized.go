package tracefile

// GeneralizedCalls are calls of a function that the trace has without some of their arguments,
// texts or call sites, because a recorder reached its memory limit.
type GeneralizedCalls struct {
	Function   string `json:"function"`
	Signatures int    `json:"signatures"`
	Calls      uint64 `json:"calls"`
}

// GeneralizedCalls returns the functions that have such calls, in the order of the trace's
// functions.
func (f *File) GeneralizedCalls() []GeneralizedCalls {
	list := []GeneralizedCalls{}
	signatures := f.Signatures()
	of, count := map[uint16]int{}, map[uint16]uint64{}
	for k := range signatures {
		if signatures[k].Generalized {
			of[signatures[k].Function]++
		}
	}
	if len(of) == 0 {
		return list
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
			list = append(list, GeneralizedCalls{function.Name, of[function.ID], count[function.ID]})
		}
	}
	return list
}
