package simulate

import (
	"fmt"
	"strings"
	"time"

	"github.com/cairn-mpi/cairn/trace/timing"
)

// A Config is what to simulate. A field with its zero value gets the default.
type Config struct {
	Pattern    string // one of Patterns; default "ring"
	Ranks      int    // default 4
	Iterations int    // default 10
	Bytes      int    // of a message; default 1024
	Grid       []int  // ranks per dimension, for patterns with a grid; default as even as possible
	Periodic   bool   // the grid is periodic in all dimensions
	Points     int    // of a stencil: 5 or 9 in two dimensions, 7 or 27 in three; default the smaller one
	Cartesian  bool   // a stencil creates a communicator with MPI_Cart_create
	Reduce     int    // a stencil reduces after this many iterations; default 10, −1: never
	Steps      int    // planes of a wavefront; default 4
	Regrid     int    // an irregular program changes its neighbors after this many iterations; default 5
	Variety    int    // different steps of a random program; default 1000

	Compute   time.Duration // of one rank in one iteration; default 100 µs
	Imbalance Imbalance
	Model     Model
	Seed      uint64

	RanksPerNode int             // default 64
	Skew         []time.Duration // how far the clock of each node is ahead; the list repeats for further nodes
	CallSites    string          // "caller" or "none"; default "caller"
	Timing       string          // "lossless", "lossy 5" (percent) or "aggregated"; default "lossless"
	Evidence     bool            // the traces have evidence for CPU and kernel, and samples of the context
	NoReplay     bool            // every rank by itself: ranks never wait, and wildcard receives are not possible
}

// Imbalance is which ranks compute longer than Config.Compute.
type Imbalance struct {
	SlowRank        int     // computes longer by SlowPercent
	SlowPercent     float64 //
	SlowNode        int     // the ranks of this node compute longer by SlowNodePercent
	SlowNodePercent float64
	// the last rank computes longer by this percentage, the first does not, the
	// others in proportion
	Linear float64
	Noise  float64 // maximum percentage, drawn for each rank and iteration
	// Factor is the factor of a rank's computation in an iteration, for cases that the other fields
	// cannot describe; nil: 1.
	Factor func(rank, iteration int) float64
}

// Model is how long calls take, in nanoseconds.
//
//   - A message arrives Latency after its send was entered, plus PerByte for every byte.
//   - A message of more than Eager bytes begins to be transferred when its receive is posted, and
//     its send ends on arrival.
//   - A collective ends Collective after its last rank has entered (or after what it waits for).
type Model struct {
	Call       int64   // minimum duration of every call; default 200
	Latency    int64   // default 2000
	Between    int64   // additional latency of a message to another node; default 0
	PerByte    float64 // default 0.1
	Eager      int     // default 65536
	Collective int64   // default 5000
}

func (c *Config) defaults() error {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	if c.Pattern == "" {
		c.Pattern = "ring"
	}
	set(&c.Ranks, 4)
	set(&c.Iterations, 10)
	set(&c.Bytes, 1024)
	set(&c.Reduce, 10)
	set(&c.Steps, 4)
	set(&c.Regrid, 5)
	set(&c.Variety, 1000)
	set(&c.RanksPerNode, 64)
	set(&c.Model.Eager, 64<<10)
	if c.Compute == 0 {
		c.Compute = 100 * time.Microsecond
	}
	for field, value := range map[*int64]int64{&c.Model.Call: 200, &c.Model.Latency: 2000, &c.Model.Collective: 5000} {
		if *field == 0 {
			*field = value
		}
	}
	if c.Model.PerByte == 0 {
		c.Model.PerByte = 0.1
	}
	if c.CallSites == "" {
		c.CallSites = "caller"
	}
	if _, err := timing.ParseSettings(c.Timing); err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	switch {
	case c.Ranks < 1 || c.Ranks > maxRanks:
		return fmt.Errorf("simulate: %d ranks: 1 to %d are possible", c.Ranks, maxRanks)
	case c.Iterations < 0 || c.Bytes < 0 || c.Steps < 1 || c.Regrid < 1 || c.Variety < 1 || c.RanksPerNode < 1:
		return fmt.Errorf("simulate: iterations, bytes, steps, regrid, variety and ranks per node must not be negative")
	case c.Compute < 0 || c.Model.Call < 1 || c.Model.Latency < 0 || c.Model.Between < 0 || c.Model.PerByte < 0 || c.Model.Collective < 0:
		return fmt.Errorf("simulate: times must not be negative, and a call takes 1 ns at least")
	case c.CallSites != "caller" && c.CallSites != "none":
		return fmt.Errorf("simulate: call sites %q: caller or none", c.CallSites)
	}
	return nil
}

const maxRanks = 1 << 24

// A Pattern is a kind of program.
type Pattern struct {
	Name, About string
	// program checks the part of the configuration that concerns the pattern and returns what every
	// rank does between MPI_Init and MPI_Finalize.
	program func(c *Config) (func(r *Rank), error)
}

// Patterns lists all programs that can be simulated.
var Patterns = []Pattern{
	{"stencil2d", "halo exchange on a 2-D grid, 5 or 9 points", stencil2D},
	{"stencil3d", "halo exchange on a 3-D grid, 7 or 27 points", stencil3D},
	{"ring", "MPI_Sendrecv with the next and the previous rank", ring},
	{"all-to-all", "MPI_Alltoall", allToAll},
	{"pairwise", "all-to-all by point-to-point messages, one distance after the other", pairwise},
	{"master-worker", "rank 0 hands out tasks to whoever is ready (MPI_ANY_SOURCE)", masterWorker},
	{"butterfly", "MPI_Sendrecv with the ranks that differ in one bit, bit by bit", butterfly},
	{"tree", "reduction to rank 0 and back by a binomial tree of messages", tree},
	{"hypercube", "non-blocking exchange with all ranks that differ in one bit", hypercube},
	{"transpose", "like NPB CG: sums over the rows of a grid by recursive halving, exchange with the transposed rank", transpose},
	{"irregular", "like adaptive mesh refinement: neighbors and sizes by chance, changed now and then", irregular},
	{"wavefront", "like NPB LU: pipelined sweeps over a 2-D grid, forth and back", wavefront},
	{"multigrid", "like NPB MG: V-cycles on a periodic 3-D grid, faces exchanged on each level", multigrid},
	{"multipartition", "like NPB BT: sweeps in three directions over cells that lie diagonally, on a square number of ranks", multipartition},
	{"random", "point-to-point and collective calls of all kinds by chance, in loops that are never quite the same", random},
	{"two-phase", "a halo exchange in rows, then transposes in columns, on communicators of their own", twoPhase},
}

// Names returns the names of all patterns.
func Names() []string {
	names := make([]string, len(Patterns))
	for i := range Patterns {
		names[i] = Patterns[i].Name
	}
	return names
}

func patternByName(name string) (*Pattern, error) {
	for i := range Patterns {
		if Patterns[i].Name == name {
			return &Patterns[i], nil
		}
	}
	return nil, fmt.Errorf("simulate: no pattern %q: %s", name, strings.Join(Names(), ", "))
}
