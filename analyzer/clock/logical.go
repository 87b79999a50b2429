package clock

import (
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// tolerance is the time, in nanoseconds, by which an effect may precede its cause without a step:
// the time for reading a clock.
const tolerance = 100

// maxSteps bounds the steps of one domain.
const maxSteps = 1 << 16

// logical is a controlled logical clock per domain. It receives causes and effects nearly in order
// of time and moves a domain forward where an effect would precede its cause.
type logical struct {
	clocks  *timeline.Clocks
	steps   int
	largest int64
}

// before requires that cause is not later than effect; both are on the common clock without steps.
func (l *logical) before(from int, cause int64, to int, effect int64) {
	cause += l.shift(from, cause)
	late := cause - effect - l.shift(to, effect)
	if late <= tolerance {
		return
	}
	k := &l.clocks.Domains[to]
	if n := len(k.Steps); n == maxSteps || n > 0 && k.Steps[n-1].At > effect {
		return // too many, or out of order: it remains and is counted as a violation
	}
	k.Steps = append(k.Steps, timeline.Step{At: effect, Shift: l.shift(to, effect) + late})
	l.steps++
	l.largest = max(l.largest, late)
}

// shift returns a domain's correction at a time on the common clock without steps.
func (l *logical) shift(domain int, t int64) int64 {
	steps := timeline.Clock{Steps: l.clocks.Domains[domain].Steps}
	return steps.Time(t) - t
}

// onOwnClocks converts the times of steps from the common clock to the domain's own.
func (l *logical) onOwnClocks() {
	for d := range l.clocks.Domains {
		k := &l.clocks.Domains[d]
		for i := range k.Steps {
			k.Steps[i].At = k.Own(k.Steps[i].At)
		}
	}
}
