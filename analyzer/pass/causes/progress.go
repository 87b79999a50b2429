package causes

// Run returns for how long the run made progress, in ns. A run that hung gains nothing from a
// change of the time for which it hung.
func (e *evidence) Run() int64 { return e.Progressed - e.Start }

// Share returns ns as a fraction of Run.
func (e *evidence) Share(ns int64) float64 {
	if e.Run() <= 0 {
		return 0
	}
	return float64(ns) / float64(e.Run())
}
