package scaling

import (
	"fmt"
	"math"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// worthSaying is the minimum growth of a share, in per cent of the run, that is reported.
const worthSaying = 2

// hurtsFirst finds the region whose share grows most up to the last target.
func (f *Findings) hurtsFirst() {
	largest := float64(worthSaying)
	for i := range f.Regions {
		r := &f.Regions[i]
		if !f.isAtLargest(r) || r.Seconds.Model == nil {
			continue
		}
		if grown := r.Predicted[len(f.Targets)-1].Share - r.Measured[len(r.Measured)-1].Share; grown >= largest {
			largest, f.HurtsFirst = grown, &i
		}
	}
}

// largest returns the largest size with runs.
func (f *Findings) largest() *Size { return &f.Sizes[len(f.Sizes)-1] }

// leastModeled is the minimum share of the largest runs' time, in per cent, that must have models
// for a prediction of the whole.
const leastModeled = 50

// isAtLargest reports whether the largest runs have the region.
func (f *Findings) isAtLargest(r *Region) bool {
	return r.Measured[len(r.Measured)-1].Ranks == f.largest().Ranks
}

// seconds returns the time of a region at a number of ranks.
func (f *Findings) seconds(r *Region, p float64) float64 {
	switch {
	case !f.isAtLargest(r):
		return 0
	case r.Seconds.Model != nil:
		return max(0, r.Seconds.Model.choice.at(p))
	}
	return r.Measured[len(r.Measured)-1].Seconds
}

// passes finds the number of ranks from which on a region is the largest of all, and that from
// which on it is half of the run, between the largest run and the last target; 0: it does not reach
// that.
func (f *Findings) passes(one *Region) (largest, half float64) {
	const steps = 8 // per factor of two
	last := float64(f.Targets[len(f.Targets)-1])
	for i := 0; ; i++ {
		p := min(last, float64(f.largest().Ranks)*math.Exp2(float64(i)/steps))
		own, total, others := f.seconds(one, p), 0.0, 0.0
		for k := range f.Regions {
			s := f.seconds(&f.Regions[k], p)
			total += s
			if &f.Regions[k] != one {
				others = max(others, s)
			}
		}
		if largest == 0 && own > others {
			largest = p
		}
		if half == 0 && own > total/2 {
			half = p
		}
		if p >= last || largest > 0 && half > 0 {
			return largest, half
		}
	}
}

// modeled returns the share of the largest runs' time that has models.
func (f *Findings) modeled() (percent float64) {
	for i := range f.Regions {
		if r := &f.Regions[i]; r.Seconds.Model != nil && f.isAtLargest(r) {
			percent += r.Measured[len(r.Measured)-1].Share
		}
	}
	return percent
}

// sentences returns the summary.
func (f *Findings) sentences() string {
	sizes := len(f.Sizes)
	if sizes < minTimeSizes {
		return fmt.Sprintf("%d sizes do not say how times grow: that takes %d. Calls and bytes are exact, and have models already.", sizes, minTimeSizes)
	}
	target := f.Targets[len(f.Targets)-1]
	text := ""
	switch {
	case f.modeled() < leastModeled:
		text = fmt.Sprintf("No prediction: only %.0f%% of the time at %d ranks has a model, the rest varies too much or is in fewer than %d sizes. Repeat the runs: longer ones, several of each size, or more sizes.", f.modeled(), f.largest().Ranks, minTimeSizes)
	case f.HurtsFirst == nil:
		text = fmt.Sprintf("Nothing is seen to hurt up to %d ranks: no part's share of the time grows by %d%% or more.", target, worthSaying)
	default:
		text = f.hurting(&f.Regions[*f.HurtsFirst])
	}
	switch f.Kind {
	case "strong":
		text += " It looks like strong scaling: the computation of all ranks together stays about the same."
	case "weak":
		text += " It looks like weak scaling: the computation of each rank stays about the same."
	}
	if left := 100 - f.modeled(); left >= worthSaying && left <= 100-leastModeled {
		text += fmt.Sprintf(" No model has %.0f%% of the time at %d ranks: that is taken to stay as long as it is.", left, f.largest().Ranks)
	}
	if far := float64(target) / float64(f.largest().Ranks); far >= farAway {
		text += fmt.Sprintf(" %d ranks are %.3g times as many as were run: take it as a direction.", target, far)
	}
	return text
}

// farAway is the ratio to the largest run from which on a prediction is far away: see
// docs/decisions/0097-scaling.md for the errors.
const farAway = 8

// hurting describes which region hurts first, and when.
func (f *Findings) hurting(r *Region) string {
	now, then, model := r.Measured[len(r.Measured)-1], r.Predicted[len(f.Targets)-1], r.Seconds.Model
	why := "as it stays as long as it is while the rest shrinks"
	if len(model.Terms) > 0 {
		if lead := model.lead(); lead.grows() {
			why = "as it grows with " + lead.String()
		} else if then.Seconds < now.Seconds {
			why = "as it shrinks less than the rest"
		}
	}
	within := ""
	if low, high := wording.Duration(*then.Low), wording.Duration(*then.High); low != high {
		within = fmt.Sprintf(", between %s and %s", low, high)
	}
	will := "will"
	if len(model.Terms) > 0 && model.lead().grows() && *then.Low <= now.Seconds {
		will = "may" // it may also not grow
	}
	text := fmt.Sprintf("%s %s hurt first: %.0f%% of the time at %d ranks, %.0f%% at %d (%s of a rank%s), %s.",
		capital(r.Name), will, now.Share, now.Ranks, then.Share, then.Ranks, wording.Duration(then.Seconds), within, why)
	largest, half := f.passes(r)
	already := float64(now.Ranks)
	switch {
	case largest > already && half > 0:
		text += fmt.Sprintf(" It is the largest part from about %s ranks on, and half of the time from about %s on.", about(largest), about(half))
	case largest > already:
		text += fmt.Sprintf(" It is the largest part from about %s ranks on.", about(largest))
	case largest > 0 && half > already:
		text += fmt.Sprintf(" It is the largest part already, and half of the time from about %s ranks on.", about(half))
	}
	if now.Waiting != nil && *now.Waiting > now.Seconds/2 {
		text += fmt.Sprintf(" Of its time at %d ranks, %.0f%% is waiting for other ranks.", now.Ranks, 100**now.Waiting/now.Seconds)
	}
	return text
}

// lead returns the term that grows fastest.
func (m *Model) lead() Term {
	lead := m.Terms[0].Term
	for _, t := range m.Terms[1:] {
		if t.Exponent() > lead.Exponent() || t.Exponent() == lead.Exponent() && t.Log > lead.Log {
			lead = t.Term
		}
	}
	return lead
}

// about returns a number of ranks with two significant digits.
func about(p float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(p))-1)
	return fmt.Sprintf("%.0f", math.Round(p/max(1, unit))*max(1, unit))
}

// capital makes the first letter a capital.
func capital(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}
