package verdict

// tracer is about the tracer itself.
type tracer struct{ *Cause }

func (tracer) sentence() string { return "the tracer itself makes this job slow" }

func (tracer) short() string { return "the tracer" }

func (tracer) advice(Neighbors) []string {
	return []string{"Trace less: without call paths, in another mode, or without the groups of calls that you do not need (spec.tracer)."}
}
