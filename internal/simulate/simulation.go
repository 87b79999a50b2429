package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A Simulation is a program that has run. Without the replay, each rank runs when it is requested.
type Simulation struct {
	config  *Config
	program func(r *Rank)

	// for the replay
	now         int64
	end         int64
	events      events
	ranks       []*Rank
	collectives map[instanceKey]*collectiveInstance
}

// errStopped unwinds waiting ranks after the replay has failed.
var errStopped = errors.New("simulate: the replay has ended")

// New prepares a simulation, and replays it unless the configuration disables that.
func New(config Config) (*Simulation, error) {
	if err := config.defaults(); err != nil {
		return nil, err
	}
	pattern, err := patternByName(config.Pattern)
	if err != nil {
		return nil, err
	}
	s := &Simulation{config: &config}
	if s.program, err = pattern.program(s.config); err != nil {
		return nil, err
	}
	if !config.NoReplay {
		err = s.replay()
	}
	return s, err
}

// NewOf is New for a program of the caller: what every rank does between MPI_Init and MPI_Finalize.
// Config.Pattern is its name.
func NewOf(config Config, program func(r *Rank)) (*Simulation, error) {
	if err := config.defaults(); err != nil {
		return nil, err
	}
	s := &Simulation{config: &config, program: program}
	if config.NoReplay {
		return s, nil
	}
	return s, s.replay()
}

// Config returns the configuration with its defaults.
func (s *Simulation) Config() Config { return *s.config }

// Ranks returns the number of ranks.
func (s *Simulation) Ranks() int { return s.config.Ranks }

// Rank returns the trace of one rank, from its recorder. It is safe to call concurrently for
// different ranks.
func (s *Simulation) Rank(i int) (*trace.Content, error) {
	var r *Rank
	switch {
	case i < 0 || i >= s.config.Ranks:
		return nil, fmt.Errorf("simulate: no rank %d of %d", i, s.config.Ranks)
	case s.config.NoReplay:
		r = s.newRank(i)
		s.run(r)
	default:
		r = s.ranks[i]
	}
	r.encode()
	skew := s.skew(i)
	for _, at := range []int64{0, r.now} {
		r.rec.Sample(timing.ClockSample{Ticks: BootNS + at + skew, MonotonicNS: BootNS + at + skew, RealtimeNS: epochNS + at + skew})
	}
	c, err := r.rec.Content()
	if err != nil {
		return nil, err
	}
	node := i / s.config.RanksPerNode
	c.Ranks.Change(0, func(r *trace.Rank) {
		r.Pod, r.Node = fmt.Sprintf("%s-worker-%d", s.config.Pattern, node), fmt.Sprintf("node%d", node)
	})
	for k := range c.Sites {
		site := &c.Sites[k]
		site.Function, site.File, site.Line = "main", s.config.Pattern+".c", int(site.Offset)
	}
	if s.config.Evidence {
		r.writeEvidence(c)
	}
	return c, nil
}

// Contents returns the traces of all ranks, created on all processors.
func (s *Simulation) Contents() ([]*trace.Content, error) {
	contents := make([]*trace.Content, s.config.Ranks)
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for k := range errs {
		wg.Go(func() {
			for i := k; i < len(contents) && errs[k] == nil; i += len(errs) {
				contents[i], errs[k] = s.Rank(i)
			}
		})
	}
	wg.Wait()
	return contents, errors.Join(errs...)
}

// Waits returns all waits of the replay, by rank and call. They are exact.
func (s *Simulation) Waits() []Wait {
	var waits []Wait
	for _, r := range s.ranks {
		waits = append(waits, r.waits...)
	}
	slices.SortStableFunc(waits, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Call, b.Call))
	})
	return waits
}

// End returns when the last rank left MPI_Finalize, in ns since the start, if the program was
// replayed.
func (s *Simulation) End() int64 { return s.end }

const (
	// BootNS is CLOCK_MONOTONIC at the start, without Config.Skew.
	BootNS  = 1_000_000_000_000
	epochNS = 1_700_000_000_000_000_000 // CLOCK_REALTIME at the start
)

// skew returns how far a rank's clock is ahead, in ns.
func (s *Simulation) skew(rank int) int64 {
	if len(s.config.Skew) == 0 {
		return 0
	}
	return s.config.Skew[rank/s.config.RanksPerNode%len(s.config.Skew)].Nanoseconds()
}

func (s *Simulation) newRank(i int) *Rank {
	return &Rank{sim: s, rank: i, world: &Comm{id: 1, raw: rawCommWorld, size: s.config.Ranks, own: i}}
}

// run makes all calls of a rank.
func (s *Simulation) run(r *Rank) {
	defer func() {
		if p := recover(); p != nil && p != errStopped { //nolint:errorlint // it is a value of panic, never wrapped
			panic(p)
		}
	}()
	r.At(10).initialize()
	s.program(r)
	r.At(90).finalize()
}

// process returns what the tracer would record about a rank's process.
func (s *Simulation) process(rank int) record.Process {
	node := rank / s.config.RanksPerNode
	return record.Process{
		Format: 1, Hostname: fmt.Sprintf("%s-worker-%d", s.config.Pattern, node), PID: 100 + rank%s.config.RanksPerNode,
		Executable: "/app/" + s.config.Pattern, StartRealtimeNS: epochNS, BootID: fmt.Sprintf("boot-%d", node),
		ABI: "mpich", LibraryVersion: "MPICH Version:\t4.0.2",
		LaunchID:  fmt.Sprintf("%s-%d", s.config.Pattern, s.config.Ranks),
		Clock:     record.ProcessClock{Kind: "monotonic"},
		Modules:   []record.Module{{Path: "/app/" + s.config.Pattern, BuildID: "51ab", Base: codeBase, Limit: codeLimit}},
		CallSites: s.config.CallSites, Timing: s.config.Timing, Constants: constants,
	}
}
