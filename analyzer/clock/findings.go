package clock

// Findings say how the clocks of the run were laid over one another.
type Findings struct {
	Domains []Domain `json:"domains"` // the nodes, each with a clock of its own
	// Violations are matched pairs in which the effect still comes before its cause, by more than rounded times may say;
	// WorstSeconds is the largest.
	Violations   int     `json:"violations"`
	WorstSeconds float64 `json:"worst_violation_seconds"`
	// WithinRounding are those by no more than that: they say nothing about the clocks.
	WithinRounding int `json:"within_rounding"`
	// Steps is how often a clock was moved forward because neither offset nor rate could bring an effect behind its cause,
	// LargestStepSeconds by how much at most.
	Steps              int     `json:"steps"`
	LargestStepSeconds float64 `json:"largest_step_seconds"`
	// ErrorSeconds bounds how far the offset of any node from the first can be off, as far as messages tell; null where
	// no messages in both directions tell.
	ErrorSeconds *float64 `json:"error_seconds"`
}

// Domain is a set of ranks that share a clock.
type Domain struct {
	BootID        string  `json:"boot_id"`
	Ranks         string  `json:"ranks"`
	OffsetSeconds float64 `json:"offset_seconds"` // to the first domain's clock
	GuessSeconds  float64 `json:"guess_seconds"`  // what the wall clocks say
	Rate          float64 `json:"rate"`           // how much faster than the first domain's clock it is made to go: 1e-6 is 1 µs/s
	Steps         int     `json:"steps"`
	ErrorSeconds  float64 `json:"error_seconds"` // half the range that messages leave; −1: unbounded
}
