package examine

import "fmt"

// A Gain is what the verdict promises of a real plant, beside what its mended runs show.
type Gain struct {
	Run, Predicted, Real float64 // seconds: of the run, and of how much shorter it would be and was
	Spread               float64 // of the mended runs, in seconds
	Estimate             bool    // it is labeled as one: a rule of thumb, and not the replay alone
}

// Gain is the gain of a plant whose cause and ranks are named rightly; ok is false where there is none to compare.
func (r *Result) Gain() (g Gain, ok bool) {
	if len(r.Mended) == 0 || !r.Cause || !r.Who || !r.Plant.Comparable() {
		return g, false
	}
	// of a combination all is mended: the gains of its causes add up, since each is given those before it
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

// What a gain may be wrong by: the largest of these, and of the spread.
const (
	offOfRun  = 0.02
	offOfGain = 0.1
)

// Right reports whether the gain is as promised: within 2% of the run, 10% of the gain, or the mended runs' own spread.
func (g Gain) Right() bool {
	return max(g.Predicted-g.Real, g.Real-g.Predicted) <= max(offOfRun*g.Run, offOfGain*g.Real, g.Spread)
}

// String is a row of the table of gains.
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
