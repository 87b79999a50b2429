package plant

import "github.com/cairn-mpi/cairn/analyzer/verdict"

// A Truth is what may be said of a plant, and what must be.
type Truth struct {
	// Planted are its problems, the one that costs most first; none in a control.
	Planted []Planted
	// May are the kinds that a control may be blamed on, besides nobody, as long as no rank is named.
	May []verdict.Kind
	// RunSeconds is what the run takes, LossSeconds how much shorter it is without all that was planted. Both are exact for
	// simulated plants, and 0 for real ones, whose mended run tells.
	RunSeconds  float64
	LossSeconds float64
}

// Loss is the planted loss as a share of the run.
func (t Truth) Loss() float64 {
	if t.RunSeconds == 0 {
		return 0
	}
	return t.LossSeconds / t.RunSeconds
}

// A Planted is one problem.
type Planted struct {
	Kind     string     // the plant's
	Accepted []Expected // it is named rightly by any of these
	// LossSeconds is by how much the run is shorter without this problem alone; 0 if that is not known.
	LossSeconds float64
}

// An Expected is a cause that names a problem rightly.
type Expected struct {
	Kind  verdict.Kind
	Forms []verdict.Form // any of these; nil: any at all
	// Who is whom it has to name; nil: nobody in particular, whoever is named. Exact: just these, else one or more of them
	// and nobody else.
	Who   []int
	Exact bool
}

// excess accepts that ranks compute longer, just these.
func excess(who []int, forms ...verdict.Form) Expected {
	return just(who, verdict.Excess, forms...)
}

// just accepts a kind that names just these ranks.
func just(who []int, kind verdict.Kind, forms ...verdict.Form) Expected {
	return Expected{Kind: kind, Forms: forms, Who: who, Exact: true}
}

// anybody accepts a kind, whoever is named.
func anybody(kind verdict.Kind, forms ...verdict.Form) Expected {
	return Expected{Kind: kind, Forms: forms}
}

// among accepts a kind that names some of the ranks.
func among(who []int, kind verdict.Kind, forms ...verdict.Form) Expected {
	return Expected{Kind: kind, Forms: forms, Who: who}
}
