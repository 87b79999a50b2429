package clock

// Findings describe how the clocks of the run were synchronized.
type Findings struct {
	Domains []Domain `json:"domains"` // nodes, each with its own clock
	// Violations counts matched pairs in which the effect still precedes its cause by more than the
	// rounding errors. WorstSeconds is the largest.
	Violations   int     `json:"violations"`
	WorstSeconds float64 `json:"worst_violation_seconds"`
	// WithinRounding counts those within the rounding errors. They do not indicate a clock error.
	WithinRounding int `json:"within_rounding"`
	// Steps counts how often a clock was moved forward because no offset and rate could place an
	// effect after its cause. LargestStepSeconds is the largest step.
	Steps              int     `json:"steps"`
	LargestStepSeconds float64 `json:"largest_step_seconds"`
	// ErrorSeconds bounds the error of the offset of any node relative to the first, as far as
	// messages determine it; null if there are no messages in both directions.
	ErrorSeconds *float64 `json:"error_seconds"`
}

// Domain is a set of ranks that share a clock.
type Domain struct {
	BootID        string  `json:"boot_id"`
	Ranks         string  `json:"ranks"`
	OffsetSeconds float64 `json:"offset_seconds"` // to the first domain's clock
	GuessSeconds  float64 `json:"guess_seconds"`  // offset by the wall clocks
	// correction of its rate relative to the first domain's clock: 1e-6 is 1 µs/s
	Rate         float64 `json:"rate"`
	Steps        int     `json:"steps"`
	ErrorSeconds float64 `json:"error_seconds"` // half of the range that messages leave; −1: unbounded
}
