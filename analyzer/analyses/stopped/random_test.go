package stopped

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// A step is one operation of a random program.
type step struct {
	name      string // MPI_Bsend, MPI_Ssend, MPI_Recv, MPI_Barrier, MPI_Allreduce, MPI_Finalize; MPI_Test and MPI_Iprobe: polled for
	peer, tag int    // −1: any
}

// A letter is a message under way.
type letter struct {
	from, tag int
	taken     bool
}

// machine executes programs one event at a time: a rank enters a step, or completes one. It is the
// oracle: it knows nothing of traces.
type machine struct {
	programs [][]step
	at       []int // by rank: the current step
	inside   []bool
	letters  [][]*letter // by receiver, in the order of sending
	sent     []*letter   // by rank: of the MPI_Ssend that it is in
	arrived  []map[int]string
	passed   []int // by rank: collectives entered before the current step
}

func newMachine(programs [][]step) *machine {
	n := len(programs)
	m := &machine{programs: programs, at: make([]int, n), inside: make([]bool, n), letters: make([][]*letter, n), sent: make([]*letter, n), arrived: make([]map[int]string, n), passed: make([]int, n)}
	for i := range n {
		m.arrived[i] = map[int]string{}
	}
	return m
}

func (m *machine) done(rank int) bool { return m.at[rank] == len(m.programs[rank]) }

// enter begins the current step of a rank.
func (m *machine) enter(rank int) {
	s := m.programs[rank][m.at[rank]]
	m.inside[rank] = true
	switch s.name {
	case "MPI_Bsend", "MPI_Ssend":
		l := &letter{from: rank, tag: s.tag}
		m.letters[s.peer] = append(m.letters[s.peer], l)
		m.sent[rank] = l
	case "MPI_Barrier", "MPI_Allreduce", "MPI_Finalize":
		m.arrived[rank][m.passed[rank]] = s.name
	}
}

// find returns the first message that a receive matches.
func (m *machine) find(rank int, s step) *letter {
	for _, l := range m.letters[rank] {
		if !l.taken && (s.peer < 0 || l.from == s.peer) && (s.tag < 0 || l.tag == s.tag) {
			return l
		}
	}
	return nil
}

// complete ends the step that a rank is in, if it can end. It returns the message that it received.
func (m *machine) complete(rank int) (*letter, bool) {
	s := m.programs[rank][m.at[rank]]
	var got *letter
	switch s.name {
	case "MPI_Ssend":
		if !m.sent[rank].taken {
			return nil, false
		}
	case "MPI_Recv", "MPI_Test", "MPI_Iprobe":
		if got = m.find(rank, s); got == nil {
			return nil, false
		}
		got.taken = s.name != "MPI_Iprobe"
	case "MPI_Barrier", "MPI_Allreduce", "MPI_Finalize":
		for i := range m.programs {
			if m.arrived[i][m.passed[rank]] != s.name {
				return nil, false
			}
		}
		m.passed[rank]++
	}
	m.inside[rank] = false
	m.at[rank]++
	return got, true
}

// forever returns the ranks that never leave the step that they are in, whatever the order of
// events: with no wildcards, one order shows it.
func (m *machine) forever() []bool {
	before := append([]int{}, m.at...)
	for moved := true; moved; {
		moved = false
		for rank := range m.programs {
			if m.done(rank) {
				continue
			}
			if !m.inside[rank] {
				m.enter(rank)
				moved = true
			} else if _, ended := m.complete(rank); ended {
				moved = true
			}
		}
	}
	stays := make([]bool, len(before))
	for rank := range before {
		stays[rank] = !m.done(rank) && m.at[rank] == before[rank]
	}
	return stays
}

// randomPrograms returns programs of some ranks; about half of them can come to their end.
func randomPrograms(random *rand.Rand, ranks int) [][]step {
	programs := make([][]step, ranks)
	add := func(rank int, s step) { programs[rank] = append(programs[rank], s) }
	for range 1 + random.IntN(5) {
		a := random.IntN(ranks)
		b := (a + 1 + random.IntN(ranks-1)) % ranks
		tag := random.IntN(2)
		switch random.IntN(4) {
		case 0:
			name := []string{"MPI_Barrier", "MPI_Allreduce"}[random.IntN(2)]
			for rank := range ranks {
				if random.IntN(12) > 0 {
					add(rank, step{name: name})
				}
			}
		default:
			send := []string{"MPI_Bsend", "MPI_Ssend"}[random.IntN(2)]
			receive := []string{"MPI_Recv", "MPI_Test", "MPI_Iprobe"}[random.IntN(3)]
			if random.IntN(8) > 0 {
				add(a, step{send, b, tag})
			}
			if random.IntN(8) == 0 {
				tag = 1 - tag
			}
			add(b, step{receive, a, tag})
			if receive == "MPI_Iprobe" {
				add(b, step{"MPI_Recv", a, tag})
			}
		}
	}
	for rank := range programs {
		if p := programs[rank]; random.IntN(4) == 0 && len(p) > 1 {
			i := random.IntN(len(p) - 1)
			p[i], p[i+1] = p[i+1], p[i]
		}
		add(rank, step{name: "MPI_Finalize"})
	}
	return programs
}

// A scribe writes the trace of a machine.
type scribe struct {
	builder *tracetest.Builder
	since   []float64 // by rank: entry of the step that it is in
}

func (w *scribe) entered(rank int, s step, now float64) {
	w.since[rank] = now
	if s.name == "MPI_Test" {
		a := receive(s.peer, s.tag)
		a["request"] = tracetest.Request(1)
		w.builder.Rank(rank).Call("MPI_Irecv", now, now+0.1, a)
		w.since[rank] = now + 0.2
	}
}

func (w *scribe) completed(rank int, s step, got *letter, now float64) {
	a := s.args()
	if got != nil {
		a["status"], a["flag"] = tracetest.Status{Source: got.from, Tag: got.tag, Bytes: 4}, 1
	}
	enter := w.since[rank]
	if got != nil && s.name != "MPI_Recv" {
		enter = now - 0.1
	}
	w.builder.Rank(rank).Call(s.name, enter, now, a)
}

func (s step) args() args {
	switch s.name {
	case "MPI_Bsend", "MPI_Ssend":
		return send(s.peer, s.tag)
	case "MPI_Recv", "MPI_Iprobe":
		return receive(s.peer, s.tag)
	case "MPI_Test":
		return args{"request": tracetest.Request(1)}
	case "MPI_Allreduce":
		return args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"}
	}
	return args{}
}

// ended writes the state of a rank at the end of the run.
func (w *scribe) ended(rank int, s *step, now, end float64) {
	r := w.builder.Rank(rank)
	switch {
	case s == nil: // it computes
		r.Call("MPI_Comm_rank", end-2, end-1, args{"rank": rank}).Ended("after MPI_Comm_rank", end)
	case s.name == "MPI_Test", s.name == "MPI_Iprobe":
		poll(r, s.name, max(now, w.since[rank]), end, s.args())
		r.Ended("after "+s.name, end)
	default:
		r.Unfinished(s.name, w.since[rank], end, s.args())
	}
}

// run executes programs in a random order, up to a number of events, and writes the trace. For a
// second after the last event all ranks stay as they are.
func run(random *rand.Rand, programs [][]step, events int) (*machine, *tracetest.Builder) {
	n := len(programs)
	m := newMachine(programs)
	w := &scribe{builder: tracetest.New(n).Ranks(func(_ int, r *tracetest.Rank) { r.Call("MPI_Init", 0, 10, nil) }), since: make([]float64, n)}
	now := 20.0
	for idle := 0; events > 0 && idle < 50*n; {
		rank := random.IntN(n)
		if idle++; m.done(rank) {
			continue
		}
		s := programs[rank][m.at[rank]]
		if !m.inside[rank] {
			m.enter(rank)
			w.entered(rank, s, now)
		} else if got, ended := m.complete(rank); ended {
			w.completed(rank, s, got, now)
		} else {
			continue
		}
		now, events, idle = now+1, events-1, 0
	}
	for rank := range n {
		switch {
		case m.done(rank):
		case m.inside[rank]:
			w.ended(rank, &programs[rank][m.at[rank]], now, now+1000)
		default:
			w.ended(rank, nil, now, now+1000)
		}
	}
	return m, w.builder
}

// TestRandomPrograms: no rank that can go on is taken to be stuck, and if no rank can go on, the
// run is a hang of all that have not come to their end.
func TestRandomPrograms(t *testing.T) {
	hangs, others := 0, 0
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 33))
		programs := randomPrograms(random, 2+random.IntN(3))
		events := 1000
		if random.IntN(2) == 0 {
			events = 1 + random.IntN(12)
		}
		m, b := run(random, programs, events)
		o, err := observe(context.Background(), timeline.Of(b.Open(t)), nil)
		require.NoError(t, err)
		s := &search{observation: o}
		s.play(overdue, unknown)
		computes := false
		for rank := range programs {
			computes = computes || !m.done(rank) && !m.inside[rank]
		}
		unfinished, all := 0, true
		inside := append([]bool{}, m.inside...)
		for rank, stays := range m.forever() {
			if s.stuck(rank) {
				require.True(t, stays && inside[rank], "seed %d: rank %d can go on: %v", seed, rank, programs)
			}
			if inside[rank] {
				unfinished++
				all = all && stays
			}
		}
		f := endOf(t, b)
		if unfinished > 0 && all && !computes {
			hangs++
			require.Equal(t, verdict.Hang, f.Kind, "seed %d: %v", seed, programs)
			for rank := range programs {
				require.Equal(t, inside[rank], s.stuck(rank), "seed %d: rank %d", seed, rank)
			}
		} else if others++; f != nil && f.Kind == verdict.Hang {
			require.NotEmpty(t, f.Named, "seed %d", seed)
		}
	}
	require.Greater(t, hangs, 200)
	require.Greater(t, others, 200)
}
