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
	Real        bool // there is a C program of it
	draw        func(p *Plant, r *rand.Rand)
	accepted    func(p *Plant) []Expected     // nil: of a control
	may         func(p *Plant) []verdict.Kind // that a control may be blamed on; nil: nothing
	// effect is the problem in a simulated program; nil: there is none.
	effect func(p *Plant, mended bool) effect
}

// A Class is what plants of a kind are there for.
type Class int

// The classes.
const (
	Problem Class = iota // a run that is slow
	Control              // a run that nothing makes slow
	Failure              // a run that hangs or dies
)

// HasSimulated reports whether there are simulated plants of the kind.
func (k *Kind) HasSimulated() bool { return k.effect != nil }

// Kinds are all kinds: problems, controls, failures.
var Kinds = slices.Concat(computations, waits, calls, system, []Kind{combination}, controls, failures)

// combination is declared here, since it draws from the others.
var combination = Kind{
	Name: "combination", Real: true,
	About: "two problems in one run: one of calls or of ranks that wait, and one of ranks that compute longer",
	draw:  (*Plant).drawCombination,
	accepted: func(*Plant) []Expected {
		return nil // its problems' own
	},
	effect: func(*Plant, bool) effect { return effect{} },
}

// KindOf is the kind of this name.
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

// Of are the kinds of a class that have a form: a real one or a simulated one.
func Of(class Class, real bool) []*Kind {
	var kinds []*Kind
	for i := range Kinds {
		if k := &Kinds[i]; k.Class == class && (real && k.Real || !real && k.HasSimulated()) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// Problems that can be in one program: the first changes what is called, the second who computes for how long.
var (
	firstOfTwo  = []string{"chain", "serial", "late-receiver", "many-messages", "large-messages", "many-collectives", "end"}
	secondOfTwo = []string{"slow-rank", "few-slow-ranks", "slow-node", "sometimes", "blocked", "gradient", "classes", "moving"}
	// a second problem of four ranks
	secondOfTwoReal = []string{"slow-rank", "sometimes", "blocked", "moving"}
)

// drawCombination draws two problems. Both are drawn with the same ranks and iterations, which those kinds do not change.
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

// problems are the kinds that a combination may have.
func problems() []Kind { return slices.Concat(computations, waits, calls) }
