package plant

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// A Kind is a kind of plant, with its ground truth.
type Kind struct {
	Name, About string
	Class       Class
	Real        bool // there is a C program for it
	draw        func(p *Plant, r *rand.Rand)
	accepted    func(p *Plant) []Expected     // nil: for a control
	may         func(p *Plant) []verdict.Kind // what a control may be blamed on; nil: nothing
	// effect is the problem in a simulated program. It is nil if there is none.
	effect func(p *Plant, mended bool) effect
}

// A Class is the purpose of a kind of plants.
type Class int

// The classes.
const (
	Problem Class = iota // a run that is slow
	Control              // a run without a problem
	Failure              // a run that hangs or crashes
)

// HasSimulated reports whether simulated plants of the kind exist.
func (k *Kind) HasSimulated() bool { return k.effect != nil }

// Kinds lists all kinds: problems, controls, failures.
var Kinds = slices.Concat(computations, waits, calls, system, []Kind{combination}, controls, failures)

// combination is declared here because it refers to the other kinds.
var combination = Kind{
	Name: "combination", Real: true,
	About: "two problems in one run: one of calls or of ranks that wait, and one of ranks that compute longer",
	draw:  (*Plant).drawCombination,
	accepted: func(*Plant) []Expected {
		return nil // see its two problems
	},
	effect: func(*Plant, bool) effect { return effect{} },
}

// KindOf returns the kind with a name.
func KindOf(name string) (*Kind, error) {
	names := make([]string, len(Kinds))
	for i := range Kinds {
		if Kinds[i].Name == name {
			return &Kinds[i], nil
		}
		names[i] = Kinds[i].Name
	}
	return nil, fmt.Errorf("plant: no kind %q: %s", name, strings.Join(names, ", "))
}

// Of returns the kinds of a class that have real or, if real is false, simulated plants.
func Of(class Class, real bool) []*Kind {
	var kinds []*Kind
	for i := range Kinds {
		if k := &Kinds[i]; k.Class == class && (real && k.Real || !real && k.HasSimulated()) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// Problems that can be in one program: the first changes which calls are made, the second which
// ranks compute for how long.
var (
	firstOfTwo  = []string{"chain", "serial", "late-receiver", "many-messages", "large-messages", "many-collectives", "end"}
	secondOfTwo = []string{"slow-rank", "few-slow-ranks", "slow-node", "sometimes", "blocked", "gradient", "classes", "moving"}
	// second problems for real runs with four ranks
	secondOfTwoReal = []string{"slow-rank", "sometimes", "blocked", "moving"}
)

// drawCombination draws two problems, both with the same ranks and iterations, which these kinds do
// not change.
func (p *Plant) drawCombination(r *rand.Rand) {
	second := secondOfTwo
	if p.Real {
		second = secondOfTwoReal
	} else {
		p.restrict(r, 12, 32)
	}
	names := []string{firstOfTwo[r.IntN(len(firstOfTwo))], second[r.IntN(len(second))]}
	p.Severity = 0
	for _, name := range names {
		one := *p
		one.Kind, one.Severity, one.With = name, severity(r), nil
		if p.Real {
			one.Severity = realSeverity(r)
		}
		for i := range problems() {
			if k := &problems()[i]; k.Name == name {
				k.draw(&one, r)
			}
		}
		p.Iterations, p.Work, p.PerNode, p.Program = one.Iterations, one.Work, one.PerNode, one.Program
		p.Severity += one.Severity
		p.With = append(p.With, &one)
	}
	for _, w := range p.With {
		w.Iterations, w.Work, w.PerNode = p.Iterations, p.Work, p.PerNode
	}
}

// problems returns the kinds that a combination may have.
func problems() []Kind { return slices.Concat(computations, waits, calls) }
