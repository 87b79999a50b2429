package examine

import "fmt"

// A Gain is the predicted gain for a real plant, with the gain that its mended runs show.
type Gain struct {
	Run, Predicted, Real float64 // seconds: duration of the run, predicted gain, measured gain
	Spread               float64 // of the mended runs, in seconds
	// it is labeled as an estimate: it comes from a rule of thumb, not from the replay alone
	Estimate bool
}

// Gain returns the gain of a plant with correctly named cause and ranks. ok is false if there is
// none to compare.
func (r *Result) Gain() (g Gain, ok bool) {
	if len(r.Mended) == 0 || !r.Cause || !r.Who || !r.Plant.Comparable() {
		return g, false
	}
	// in a combination all problems are mended; the gains of its causes add up, since each is
	// relative to the previous ones
	causes := r.Causes[:min(len(r.Causes), len(r.Truth.Planted))]
	for i := range causes {
		if causes[i].GainSeconds == nil {
			return g, false
		}
		g.Predicted += *causes[i].GainSeconds
		g.Estimate = g.Estimate || causes[i].Estimate
	}
	g.Run, g.Real, g.Spread = r.Truth.RunSeconds, r.Truth.LossSeconds, r.Mended[len(r.Mended)-1]-r.Mended[0]
	return g, true
}

// The tolerated error of a gain is the largest of these and of the spread.
const (
	offOfRun  = 0.02
	offOfGain = 0.1
)

// Right reports whether the measured gain is as predicted: within 2% of the run, 10% of the gain,
// or the spread of the mended runs.
func (g Gain) Right() bool {
	return max(g.Predicted-g.Real, g.Real-g.Predicted) <= max(offOfRun*g.Run, offOfGain*g.Real, g.Spread)
}

// String returns a row of the table of gains.
func (g Gain) String() string {
	mark := "pass"
	if !g.Right() {
		mark = "MISS"
	}
	if g.Estimate {
		mark += ", estimate"
	}
	return fmt.Sprintf("%8.3f s %8.3f s %8.3f s %8.3f s  %s", g.Run, g.Predicted, g.Real, g.Spread, mark)
}
