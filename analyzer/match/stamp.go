package match

// A Stamp is a moment in a run, and by how much it may be off because times are rounded (trace.Event.EnterError). All
// comparisons of moments of different threads that decide whether something happened go by it.
type Stamp struct{ At, Error int64 }

// After reports whether s is clearly later than o: by more than rounding explains.
func (s Stamp) After(o Stamp) bool { return s.At-o.At > s.Error+o.Error }

// Later is the later one of two, s where they are equal.
func (s Stamp) Later(o Stamp) Stamp {
	if o.At > s.At {
		return o
	}
	return s
}

// EnterStamp is when the call was entered.
func (p *Point) EnterStamp() Stamp { return Stamp{p.Enter, p.EnterError} }

// ExitStamp is when the call was left.
func (p *Point) ExitStamp() Stamp { return Stamp{p.Exit, p.ExitError} }

// ProgressStamp is Progress.
func (e *End) ProgressStamp() Stamp { return Stamp{e.Progress, e.ProgressError} }
