package rootcauses

// Costly returns the delays that caused at least one percent of all waiting, costliest first.
func (f Findings) Costly() []Delay {
	if f.RootCauses == nil {
		return nil
	}
	const minShare = 0.01
	var list []Delay
	for _, d := range f.RootCauses.Delays {
		if d.ShortTerm+d.LongTerm >= minShare*f.RootCauses.WaitingSeconds && d.ShortTerm+d.LongTerm > 0 {
			list = append(list, d)
		}
	}
	return list
}
