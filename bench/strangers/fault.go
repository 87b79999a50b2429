package strangers

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/cairn-mpi/cairn/internal/plant"
)

// A Class is a kind of examination.
type Class string

// The classes are explained in the package's documentation.
const (
	Evidence Class = "A"
	Place    Class = "B"
	Crowd    Class = "C"
)

// A Fault is a problem that comes from outside.
type Fault struct {
	Class Class
	Name  string
	About string
	// Weakest and Strongest limit the strengths that are drawn. 0 is no fault.
	Weakest, Strongest float64
	Ends               bool // the run ends early: it has no cost to compare
	// Prepare does what must be done before the ranks start, with the fault and without it; nil:
	// nothing. The returned function undoes it.
	Prepare func(j *Job, ranks int) (end func(), err error)
	// Touched returns the ranks that suffer if rank is drawn; nil: all alike.
	Touched func(rank int) []int
	// Possible returns why this machine cannot inject it; nil: it can.
	Possible func() error
	// Begin starts the fault in a job. The returned function ends it, and returns its effect as far
	// as that was measured.
	Begin func(j *Job, touched []int, strength float64) (end func() (effect float64), err error)
	// Effect says what is measured. A run with less than Least of it has no fault and is discarded.
	Effect string
	Least  float64
	// Expected are the causes that name it correctly. None: nobody may be blamed.
	Expected func(touched []int) []plant.Expected
}

// Faults are all faults.
var Faults = slices.Concat(evidence, place, crowd)

// FaultOf returns the fault with a name in a class.
func FaultOf(class Class, name string) (*Fault, error) {
	for i := range Faults {
		if Faults[i].Class == class && Faults[i].Name == name {
			return &Faults[i], nil
		}
	}
	return nil, fmt.Errorf("strangers: class %s has no fault %s", class, name)
}

// one is the Touched of faults of one rank.
func one(rank int) []int { return []int{rank} }

// everyone is the Touched of faults that all ranks suffer from.
func everyone(int) []int { return nil }

// A Case is what is drawn.
type Case struct {
	Index    int     `json:"index"`
	Class    Class   `json:"class"`
	Program  string  `json:"program"`
	MPI      string  `json:"mpi"`
	Ranks    int     `json:"ranks"`
	Fault    string  `json:"fault"`
	Rank     int     `json:"rank"`
	Begin    float64 `json:"begin"`    // as a part of the duration of a run without the fault
	Strength float64 `json:"strength"` // see the fault
}

func (c *Case) String() string {
	return fmt.Sprintf("case %d: class %s, %s under %s, %s of rank %d of %d, strength %.2f, from %.0f%%", c.Index,
		c.Class, c.Program, c.MPI, c.Fault, c.Rank, c.Ranks, c.Strength, 100*c.Begin)
}

// A Subject is a program of the corpus under one MPI.
type Subject struct {
	Program, MPI string
	Ranks        int // of its command
}

// Drawing is what cases are drawn from.
type Drawing struct {
	Seed     uint64
	Classes  []Class
	Subjects []Subject
	Faults   []string // nil: all
}

// latest is the latest begin of a fault.
const latest = 0.4

// Case draws a case: the same seed and index give the same case.
func (d *Drawing) Case(index int) (*Case, error) {
	if len(d.Classes) == 0 || len(d.Subjects) == 0 {
		return nil, fmt.Errorf("strangers: there is nothing to draw from")
	}
	r := rand.New(rand.NewPCG(d.Seed, uint64(index)))
	c := &Case{Index: index, Class: d.Classes[r.IntN(len(d.Classes))]}
	var faults []*Fault
	for i := range Faults {
		f := &Faults[i]
		if f.Class == c.Class && (d.Faults == nil || slices.Contains(d.Faults, f.Name)) {
			faults = append(faults, f)
		}
	}
	if len(faults) == 0 {
		return nil, fmt.Errorf("strangers: class %s has none of the faults %v", c.Class, d.Faults)
	}
	subjects := slices.DeleteFunc(slices.Clone(d.Subjects), func(s Subject) bool { return !suits(c.Class, s) })
	if len(subjects) == 0 {
		return nil, fmt.Errorf("strangers: class %s has no program", c.Class)
	}
	s, f := subjects[r.IntN(len(subjects))], faults[r.IntN(len(faults))]
	c.Program, c.MPI, c.Fault, c.Ranks = s.Program, s.MPI, f.Name, ranksOf(c.Class, s.Ranks)
	c.Rank = r.IntN(c.Ranks)
	c.Begin = latest * r.Float64()
	c.Strength = f.Weakest + (f.Strongest-f.Weakest)*r.Float64()
	return c, nil
}

// suits reports whether a class has a program. In class A each of several ranks has its own core.
// Class B re-executes runs of Open MPI.
func suits(class Class, s Subject) bool {
	switch class {
	case Evidence:
		return s.Ranks > 1 && s.Ranks <= runtime.NumCPU()
	case Place:
		return s.Ranks > 1 && s.MPI == "openmpi"
	}
	return s.Ranks > 1
}

// ranksOf returns the number of ranks of a case. own is that of the program's command.
func ranksOf(class Class, own int) int {
	switch class {
	case Place:
		return placeRanks
	case Crowd:
		return 2 * own
	}
	return own
}
