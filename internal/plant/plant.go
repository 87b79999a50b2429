package plant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/trace"
)

// A Plant is a program with a problem in it. Kind, Seed and Real determine everything else.
type Plant struct {
	Kind string
	Seed uint64
	Real bool // a C program that runs on this machine; otherwise a simulated one

	Ranks      int
	PerNode    int // ranks per node, if simulated
	Iterations int
	Program    Program       // around the problem, if simulated; "": only Pattern
	Pattern    string        // of package simulate
	Work       time.Duration // computation of a rank in an iteration, without the problem
	Noise      float64       // maximum additional computation, relative to Work, drawn for each rank and iteration
	Phases     int           // parts of the run with separate call sites; 1: none

	// Severity is the planted cost, as a share of the run without it. The actual cost is the loss
	// of a Truth.
	Severity float64
	Who      []int     // ranks that have the problem, ascending; nil: none in particular
	Region   int       // the program's computation with the problem, 0 to 2
	Every    int       // the problem is in every so many iterations; 0 if that has no meaning
	Phase    int       // which of Phases, or which third of the run
	Count    int       // calls, blocks or tasks, depending on the kind
	Degrees  []float64 // by rank, the factor of its computation; nil: all equal
	Device   bool      // real plants: those that wait in turn, or take turns, wait for a device instead of computing
	With     []*Plant  // a combination's two problems, in this program
}

// Program is what a simulated plant does around the problem.
type Program string

// The programs. Each has three regions of computation in an iteration, and communication after
// each.
const (
	// nonblocking exchange with neighbors, then a ring; a reduction in every fifth iteration
	Halo     Program = "halo"
	Lockstep Program = "lockstep" // a collective after each region
	Exchange Program = "exchange" // partners exchange, a root broadcasts and reduces
	Grid     Program = "grid"     // halo exchange on a 2-D grid, then a reduction
)

// shares are the parts of an iteration's computation in the three regions.
var shares = [...]float64{0.5, 0.3, 0.2}

// Random draws a plant of a kind.
func Random(kind string, seed uint64, real bool) (*Plant, error) {
	k, err := KindOf(kind)
	if err != nil {
		return nil, err
	}
	if real && !k.Real || !real && !k.HasSimulated() {
		return nil, fmt.Errorf("plant: kind %q has no such form: simulated %v, real %v", kind, k.HasSimulated(), k.Real)
	}
	p := &Plant{Kind: kind, Seed: seed, Real: real, Phases: 1}
	r := rand.New(rand.NewPCG(seed, xxhash.Sum64String(kind)))
	if real {
		p.drawReal(r)
	} else {
		p.drawSimulated(r)
	}
	k.draw(p, r)
	return p, nil
}

// drawSimulated draws the parameters of all simulated plants.
func (p *Plant) drawSimulated(r *rand.Rand) {
	p.Ranks = between(r, 4, 256)
	if r.IntN(32) == 0 {
		p.Ranks = between(r, 257, 1024)
	}
	p.PerNode = []int{4, 8, 16, 32}[r.IntN(4)]
	p.Iterations = min(20+r.IntN(41), max(12, maxSteps/p.Ranks))
	p.Program = []Program{Halo, Lockstep, Exchange, Grid}[r.IntN(4)]
	p.Work = time.Duration(1000+r.IntN(4000)) * time.Microsecond
	p.Noise = 0.02 + 0.03*r.Float64()
	p.Region = r.IntN(len(shares))
	p.Severity = severity(r)
}

// maxSteps limits ranks times iterations, so that hundreds of plants take minutes.
const maxSteps = 8192

// drawReal draws the parameters of all real plants: twice as many ranks as cores.
func (p *Plant) drawReal(r *rand.Rand) {
	p.Ranks = 2 * cores()
	p.Iterations = 100 + r.IntN(61)
	p.Work = time.Duration(2000+r.IntN(2000)) * time.Microsecond
	p.Noise = 0.02
	p.Region = r.IntN(len(shares))
	p.Severity = realSeverity(r)
	p.Device = r.IntN(2) == 0
}

// cores is the number of cores that real plants use. More than eight would not reveal other causes.
func cores() int { return min(8, max(2, runtime.NumCPU())) }

// realSeverity draws a severity for ranks that share cores. If all compute, sharing alone costs
// half of the run: the planted problem must cost at least one and a half times as much, or else the
// lack of CPUs would be the truth.
func realSeverity(r *rand.Rand) float64 { return 0.75 + 0.75*r.Float64() }

// severity draws the cost of a problem, relative to the run without it: usually 15 to 45% of the
// run with it, in one of eight plants less than 15%.
func severity(r *rand.Rand) float64 {
	loss := 0.17 + 0.28*r.Float64()
	if r.IntN(8) == 0 {
		loss = 0.06 + 0.08*r.Float64()
	}
	return loss / (1 - loss)
}

// between draws from low to high with a uniformly distributed logarithm, so that small and large
// numbers are equally frequent.
func between(r *rand.Rand, low, high int) int {
	x := math.Exp(math.Log(float64(low)) + r.Float64()*math.Log(float64(high+1)/float64(low)))
	return min(high, max(low, int(x)))
}

// some draws n different ranks, ascending.
func (p *Plant) some(r *rand.Rand, n int) []int {
	who := r.Perm(p.Ranks)[:n]
	slices.Sort(who)
	return who
}

// restrict limits the number of ranks, and therefore the ranks that are drawn later.
func (p *Plant) restrict(r *rand.Rand, low, high int) {
	if high < low {
		high = 4 * low
	}
	if p.Ranks < low || p.Ranks > high {
		p.Ranks = between(r, low, high)
	}
}

// String returns everything that was drawn, in one line.
func (p *Plant) String() string {
	form := "simulated"
	if p.Real {
		form = "real"
	}
	s := fmt.Sprintf("%s, seed %d, %s: %d ranks, %d iterations of %v, severity %.2f", p.Kind, p.Seed, form, p.Ranks, p.Iterations,
		p.Work, p.Severity)
	if p.Pattern != "" {
		s += fmt.Sprintf(", pattern %s, noise %.0f%%", p.Pattern, 100*p.Noise)
	}
	if p.Program != "" {
		s += fmt.Sprintf(", program %s, %d ranks a node, noise %.0f%%", p.Program, p.PerNode, 100*p.Noise)
	}
	s += p.details()
	for _, w := range p.With {
		s += fmt.Sprintf("; %s, severity %.2f%s", w.Kind, w.Severity, w.details())
	}
	return s
}

// details returns what only some kinds draw.
func (p *Plant) details() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if len(p.With) > 0 {
		return ""
	}
	add("region %d", p.Region)
	if p.Who != nil {
		add("who %s", trace.NewRankList(p.Who))
	}
	if p.Every > 0 {
		add("in each %d", p.Every)
	}
	if p.Kind == "phase" {
		add("third %d, %d phases", p.Phase, p.Phases)
	}
	if p.Count > 0 {
		add("count %d", p.Count)
	}
	if p.Device && p.takesTurns() {
		add("on devices")
	}
	if p.Degrees != nil {
		add("%.2f to %.2f times as long", slices.Min(p.Degrees), slices.Max(p.Degrees))
	}
	return ", " + strings.Join(parts, ", ")
}

// chance returns a number from 0 to 1 that depends only on its arguments.
func (p *Plant) chance(what ...int) float64 {
	b := make([]byte, 0, 64)
	for _, x := range append([]int{int(p.Seed)}, what...) {
		for i := range 8 {
			b = append(b, byte(uint64(x)>>(8*i)))
		}
	}
	return float64(xxhash.Sum64(b)>>11) / (1 << 53)
}
