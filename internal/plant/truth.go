package plant

import "github.com/cairn-mpi/cairn/analyzer/verdict"

// A Truth is what a report may and must say about a plant.
type Truth struct {
	// Planted are its problems, the most expensive one first. A control has none.
	Planted []Planted
	// May are the kinds that a control may be blamed on, as long as no rank is named. Blaming
	// nothing is always right.
	May []verdict.Kind
	// RunSeconds is the duration of the run, LossSeconds how much shorter it is without all planted
	// problems. Both are exact for simulated plants, and 0 for real ones, for which a mended run
	// measures the loss.
	RunSeconds  float64
	LossSeconds float64
}

// Loss returns the planted loss as a share of the run.
func (t Truth) Loss() float64 {
	if t.RunSeconds == 0 {
		return 0
	}
	return t.LossSeconds / t.RunSeconds
}

// A Planted is one problem.
type Planted struct {
	Kind     string     // the plant's
	Accepted []Expected // any of these names it correctly
	// LossSeconds is how much shorter the run is without this problem alone; 0 if not known.
	LossSeconds float64
}

// An Expected is a cause that names a problem correctly.
type Expected struct {
	Kind  verdict.Kind
	Forms []verdict.Form // any of these; nil: any
	// Who are the ranks that it must name; nil: any. Exact: exactly these, otherwise at least one
	// of them and no others.
	Who   []int
	Exact bool
}

// excess accepts that exactly these ranks compute longer.
func excess(who []int, forms ...verdict.Form) Expected {
	return just(who, verdict.Excess, forms...)
}

// just accepts a kind that names exactly these ranks.
func just(who []int, kind verdict.Kind, forms ...verdict.Form) Expected {
	return Expected{Kind: kind, Forms: forms, Who: who, Exact: true}
}

// anybody accepts a kind with any ranks.
func anybody(kind verdict.Kind, forms ...verdict.Form) Expected {
	return Expected{Kind: kind, Forms: forms}
}

// among accepts a kind that names some of the ranks and no others.
func among(who []int, kind verdict.Kind, forms ...verdict.Form) Expected {
	return Expected{Kind: kind, Forms: forms, Who: who}
}
