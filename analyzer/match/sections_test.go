package match_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// found is the result of a matching pass: by location what it waited for and the event log, and the
// results that belong to no location.
type found struct {
	waits, calls [][]string // by location
	all          string
}

// inSections matches a trace in sections, with their shapes or call by call.
func inSections(t *testing.T, tr timeline.Trace, shapes bool) (f found, shaped bool) {
	t.Helper()
	f = find(t, tr, func(h match.Handler, see func(*match.Call), cuts *match.Cuts) (left []match.Leftover, err error) {
		if shapes {
			return match.InSections(t.Context(), tr, nil, h, cuts, see, nil)
		}
		left, shaped, err = match.CallByCall(t.Context(), tr, h, cuts, see)
		return left, err
	})
	return f, shaped
}

// inOrder matches a trace in the order of time.
func inOrder(t *testing.T, tr timeline.Trace) found {
	t.Helper()
	return find(t, tr, func(h match.Handler, see func(*match.Call), _ *match.Cuts) ([]match.Leftover, error) {
		return match.All(t.Context(), tr, nil, h, see)
	})
}

func find(t *testing.T, tr timeline.Trace, pass func(match.Handler, func(*match.Call), *match.Cuts) ([]match.Leftover, error)) found {
	t.Helper()
	locations := timeline.Locations(tr)
	f := found{waits: make([][]string, len(locations)), calls: make([][]string, len(locations))}
	finder := waitstate.NewFinder(tr, func(s *waitstate.State) {
		f.waits[s.Call.Location] = append(f.waits[s.Call.Location], fmt.Sprint(
			s.Call.Enter, s.Call.Exit, tr.Function(s.Call.Function).Name, s.Kind, s.Begin, s.End, s.Came, s.Error, s.Cause))
	})
	r := eventlog.NewRecorder(tr)
	cuts := new(match.Cuts)
	left, err := pass(match.Together(finder, r), r.See, cuts)
	require.NoError(t, err)
	j := r.Finish()
	defer j.Close()
	// of collectives, in the order in which they are met: any numbers will do
	numbers := map[uint64]int{}
	number := func(n uint64) int {
		if _, met := numbers[n]; !met {
			numbers[n] = len(numbers)
		}
		return numbers[n]
	}
	for i := range locations {
		read := j.Read(i)
		for range j.Slabs {
			for read.Next() {
				text := fmt.Sprint(read.Record.Index, read.Record.Enter, read.Record.Exit, read.Terminal, read.Poll, read.Posted, read.Completes)
				for _, e := range read.Entries {
					text += fmt.Sprint(" enters ", number(e.Number), *e.Shape, e.Part, e.Bytes)
				}
				if read.Posted {
					text += fmt.Sprint(" for ", read.Dependents())
				}
				if read.Completes {
					begin, depends := read.Completion()
					var list []string
					for _, d := range depends {
						if d.On.Ordinal == 0 {
							d.Number = uint64(number(d.Number))
						}
						list = append(list, fmt.Sprint(d))
					}
					slices.Sort(list)
					text += fmt.Sprint(" since ", begin, list)
				}
				f.calls[i] = append(f.calls[i], text)
			}
		}
		require.NoError(t, read.Err())
	}
	f.all = fmt.Sprint(finder.Violations, finder.WrongOrder, left, j.Handshakes(), cuts.List())
	return f
}

// assertSame compares what two passes have found.
func assertSame(t *testing.T, want, got found, what string) {
	t.Helper()
	for i := range want.waits {
		for k := range want.waits[i] {
			if k >= len(got.waits[i]) || want.waits[i][k] != got.waits[i][k] {
				require.Equal(t, want.waits[i][k:], got.waits[i][k:], "%s: waits of location %d", what, i)
			}
		}
		require.Len(t, got.waits[i], len(want.waits[i]), what)
		for k := range want.calls[i] {
			if k >= len(got.calls[i]) || want.calls[i][k] != got.calls[i][k] {
				require.Equal(t, want.calls[i][k:min(k+3, len(want.calls[i]))], got.calls[i][k:min(k+3, len(got.calls[i]))], "%s: calls of location %d from %d on", what, i, k)
			}
		}
		require.Len(t, got.calls[i], len(want.calls[i]), what)
	}
	require.Equal(t, want.all, got.all, what)
}

// TestShapesFindTheSame: shapes give the same results as matching call by call, for all simulated
// programs with few and many ranks, rounded and exact times, small and large messages.
func TestShapesFindTheSame(t *testing.T) {
	for n, pattern := range simulate.Names() {
		for i, c := range []simulate.Config{
			{Ranks: 16, Iterations: 12, Bytes: 100},
			{Ranks: 16, Iterations: 12, Bytes: 100_000, Timing: "lossy 5"},
			{Ranks: 64, Iterations: 5, Bytes: 10_000, Timing: "lossy 5"},
		} {
			if testing.Short() && n%3 != i { // each of these with some patterns
				continue
			}
			c.Pattern, c.Imbalance = pattern, simulate.Imbalance{SlowRank: 3, SlowPercent: 40, Noise: 30}
			what := fmt.Sprintf("%s, %d ranks, %d bytes", pattern, c.Ranks, c.Bytes)
			tr := timeline.Of(tracetest.Open(t, tracetest.Simulated(t, c)))
			with, _ := inSections(t, tr, true)
			without, _ := inSections(t, tr, false)
			assertSame(t, without, with, what)
		}
	}
}

// TestShapesOfRandomPrograms: shapes give the same results as matching call by call for random
// loops, in which messages stay pending for some iterations, requests stay open, wildcards come now
// and then, ranks begin in the middle of the body or stop early, polls fail, and calls take no time
// or are nested.
func TestShapesOfRandomPrograms(t *testing.T) {
	shaped, inOrderToo, seeds := 0, 0, uint64(400)
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		b, simple := randomProgram(seed)
		tr := timeline.Of(b.Open(t))
		with, _ := inSections(t, tr, true)
		without, any := inSections(t, tr, false)
		what := fmt.Sprintf("seed %d", seed)
		assertSame(t, without, with, what)
		if any {
			shaped++
		}
		if simple { // small messages vote, and those of a section count after it
			inOrderToo++
			ordered := inOrder(t, tr)
			for i := range ordered.waits {
				require.Equal(t, ordered.waits[i], with.waits[i], what)
			}
		}
	}
	assert.Greater(t, shaped, int(seeds/2))
	assert.Greater(t, inOrderToo, int(seeds/4))
}

// TestRareCallsInSections: what sections do not support is matched as in the order of time, and
// does not disturb the sections around it.
func TestRareCallsInSections(t *testing.T) {
	any := func(r *tracetest.Rank, at float64, source int) {
		r.Call("MPI_Recv", at, at+3, args{"source": "MPI_ANY_SOURCE", "status": tracetest.Status{Source: source, Bytes: 1 << 20}})
	}
	for name, body := range map[string]func(b *tracetest.Builder, r *tracetest.Rank, i int, at float64){
		"persistent collectives": func(_ *tracetest.Builder, r *tracetest.Rank, i int, at float64) {
			q := args{"request": tracetest.Request(0)}
			r.Call("MPI_Barrier_init", at, at+1, q).Call("MPI_Start", at+1+float64(i), at+1.5+float64(i), q).
				Call("MPI_Wait", at+2+float64(i), at+5, args{"request": tracetest.Request(0), "status": tracetest.Status{Source: -1}}).
				Call("MPI_Request_free", at+5.5, at+6, q)
		},
		"a rank that is not in the trace": func(_ *tracetest.Builder, r *tracetest.Rank, i int, at float64) {
			switch i {
			case 0:
				any(r, at, 3)
				any(r, at+4, 1)
			case 1:
				r.Send(at+6, at+6.5, 0)
			case 3:
				r.Send(at, at+1, 0)
			}
		},
		"a message to itself": func(_ *tracetest.Builder, r *tracetest.Rank, i int, at float64) {
			self := tracetest.Status{Source: i, Bytes: 1 << 20}
			r.Irecv(at, at+1, i, 1).Isend(at+1, at+2, i, 2).Waitall(at+3, at+4, tracetest.Requests{1, 2}, self).
				Call("MPI_Irecv", at+4, at+5, args{"source": "MPI_ANY_SOURCE", "request": tracetest.Request(1)}).
				Isend(at+5, at+6, i, 2).Waitall(at+7, at+8, tracetest.Requests{2, 1}, tracetest.Status{Source: -1}, self)
		},
	} {
		b := tracetest.New(4)
		b.Ranks(func(i int, r *tracetest.Rank) {
			r.Init(0, 0.5)
			for trip := range 6 {
				at := 1 + 20*float64(trip)
				r.Call("MPI_Allreduce", at+float64((i+trip)%4), at+4, nil)
				body(b, r, i, at+5)
			}
			r.Finalize(200, 201)
		})
		if name == "a rank that is not in the trace" {
			b.Without(3)
		}
		tr := timeline.Of(b.Open(t))
		want := inOrder(t, tr)
		for _, shapes := range []bool{true, false} {
			got, _ := inSections(t, tr, shapes)
			got.all, want.all = "", "" // in the order of time there are no cuts
			assertSame(t, want, got, name)
		}
	}
}

// TestSectionsEndWithTheirContext: matching ends with the error of its context.
func TestSectionsEndWithTheirContext(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.Init(0, 1).Finalize(2, 3) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := match.InSections(ctx, timeline.Of(b.Open(t)), nil, &recorder{}, nil, nil, nil)
	require.ErrorIs(t, err, context.Canceled)
}

// randomProgram returns a program of a few loops that may be erroneous. simple reports that no
// small message is sent.
func randomProgram(seed uint64) (b *tracetest.Builder, simple bool) {
	random := rand.New(rand.NewPCG(seed, 7))
	ranks := 2 + random.IntN(5)
	b = tracetest.New(ranks)
	if random.IntN(3) == 0 {
		b.Lossy(5)
	}
	p := &program{random: random, builder: b, ranks: ranks, clocks: make([]float64, ranks), open: make([][]tracetest.Request, ranks), coarse: random.IntN(3) == 0}
	p.bytes = []int{0, 5000, 100_000}[random.IntN(3)]
	if random.IntN(4) == 0 {
		p.bytes = 100
	}
	p.all(func(r int) { p.call(r, "MPI_Init", tracetest.Args{"argc": 0}) })
	p.all(func(r int) {
		p.call(r, "MPI_Send_init", tracetest.Args{"dest": (r + 1) % ranks, "tag": 7, "request": tracetest.Request(100)})
		p.call(r, "MPI_Recv_init", tracetest.Args{"source": (r + ranks - 1) % ranks, "tag": 7, "request": tracetest.Request(101)})
	})
	for range 1 + random.IntN(3) {
		body := make([]func(r, trip int), 1+random.IntN(4))
		for i := range body {
			body[i] = p.operation(i)
		}
		trips := 3 + random.IntN(12)
		rotated := random.IntN(4) == 0
		for r := range ranks {
			own, from := trips, 0
			if random.IntN(30) == 0 {
				own += random.IntN(3) - 1 // somebody stops early, or goes on
			}
			if rotated && r%2 == 1 {
				from = random.IntN(len(body))
			}
			for k := from; k < own*len(body); k++ {
				body[k%len(body)](r, k/len(body))
			}
		}
	}
	p.all(func(r int) {
		if len(p.open[r]) > 0 {
			p.waitall(r, p.open[r])
		}
		p.call(r, "MPI_Finalize", nil)
	})
	return b, p.bytes != 100
}

// A program adds calls of each rank one after the other, with independent times.
type program struct {
	random  *rand.Rand
	builder *tracetest.Builder
	ranks   int
	bytes   int
	clocks  []float64
	coarse  bool // many times are the same
	open    [][]tracetest.Request
}

func (p *program) all(f func(r int)) {
	for r := range p.ranks {
		f(r)
	}
}

// time returns a random time of about the given size.
func (p *program) time(size float64) float64 {
	if p.coarse {
		return float64(p.random.IntN(3)) * size
	}
	return p.random.ExpFloat64() * size
}

func (p *program) call(r int, name string, args tracetest.Args) {
	enter := p.clocks[r] + p.time(0.2)
	exit := enter + p.time(0.3)
	if p.random.IntN(400) == 0 {
		enter, exit = p.clocks[r]-0.01, p.clocks[r] // inside the call before: a callback's
	}
	p.clocks[r] = max(p.clocks[r], exit)
	p.builder.Rank(r).Call(name, enter, exit, args)
}

func (p *program) status(from, tag int) tracetest.Status {
	return tracetest.Status{Source: from, Tag: tag, Bytes: p.bytes}
}

func (p *program) waitall(r int, requests []tracetest.Request) {
	var statuses []tracetest.Status
	for _, q := range requests {
		if tag := int(q); q%2 == 0 { // receives have even numbers, that of the operation twice
			statuses = append(statuses, p.status((r+p.ranks-1)%p.ranks, tag/2))
		} else {
			statuses = append(statuses, tracetest.Status{Source: -1})
		}
	}
	p.call(r, "MPI_Waitall", tracetest.Args{"count": len(requests), "array_of_requests": tracetest.Requests(requests), "array_of_statuses": statuses})
	p.open[r] = nil
}

// operation returns the i-th operation of each iteration.
func (p *program) operation(i int) func(r, trip int) {
	left := func(r int) int { return (r + p.ranks - 1) % p.ranks }
	right := func(r int) int { return (r + 1) % p.ranks }
	in, out := tracetest.Request(2*i), tracetest.Request(2*i+1)
	receive := func(r int, source any) tracetest.Args {
		return tracetest.Args{"source": source, "tag": i, "request": in}
	}
	send := func(r int) tracetest.Args { return tracetest.Args{"dest": right(r), "tag": i, "request": out} }
	every := 2 + p.random.IntN(6)
	switch p.random.IntN(12) {
	case 0:
		return func(r, _ int) {
			p.call(r, "MPI_Sendrecv", tracetest.Args{"dest": right(r), "sendtag": i, "source": left(r), "recvtag": i, "status": p.status(left(r), i)})
		}
	case 1, 2: // of which some receive with a wildcard, now and then
		wild := p.random.IntN(2) == 0
		return func(r, trip int) {
			var source any = left(r)
			if wild && trip%every == 1 {
				source = "MPI_ANY_SOURCE"
			}
			p.call(r, "MPI_Irecv", receive(r, source))
			p.call(r, "MPI_Isend", send(r))
			p.waitall(r, []tracetest.Request{in, out})
		}
	case 3: // a receive that stays open until the next trip
		return func(r, trip int) {
			if slices.Contains(p.open[r], in) {
				p.call(r, "MPI_Wait", tracetest.Args{"request": in, "status": p.status(left(r), i)})
				p.open[r] = slices.DeleteFunc(p.open[r], func(q tracetest.Request) bool { return q == in })
			}
			p.call(r, "MPI_Irecv", receive(r, left(r)))
			p.open[r] = append(p.open[r], in)
			p.call(r, "MPI_Send", tracetest.Args{"dest": right(r), "tag": i})
		}
	case 4: // messages that wait for their receives for some trips
		return func(r, trip int) {
			p.call(r, "MPI_Send", tracetest.Args{"dest": right(r), "tag": i})
			if trip%every == every-1 {
				for range every {
					p.call(r, "MPI_Recv", tracetest.Args{"source": left(r), "tag": i, "status": p.status(left(r), i)})
				}
			}
		}
	case 5:
		return func(r, _ int) { p.call(r, "MPI_Allreduce", nil) }
	case 6:
		return func(r, trip int) {
			p.call(r, "MPI_Bcast", tracetest.Args{"root": trip % 2})
			p.call(r, "MPI_Reduce", tracetest.Args{"root": 0})
		}
	case 7:
		return func(r, _ int) {
			p.call(r, "MPI_Ibarrier", tracetest.Args{"request": out})
			p.call(r, "MPI_Wtime", nil)
			p.call(r, "MPI_Wait", tracetest.Args{"request": out, "status": tracetest.Status{Source: -1}})
		}
	case 8: // polls, some in vain
		return func(r, trip int) {
			p.call(r, "MPI_Irecv", receive(r, left(r)))
			p.call(r, "MPI_Send", tracetest.Args{"dest": right(r), "tag": i})
			for range trip % every {
				p.call(r, "MPI_Test", tracetest.Args{"request": in, "flag": 0})
			}
			p.call(r, "MPI_Test", tracetest.Args{"request": in, "flag": 1, "status": p.status(left(r), i)})
		}
	case 9: // persistent requests
		return func(r, _ int) {
			p.call(r, "MPI_Startall", tracetest.Args{"count": 2, "array_of_requests": tracetest.Requests{100, 101}})
			p.call(r, "MPI_Waitall", tracetest.Args{"count": 2, "array_of_requests": tracetest.Requests{100, 101},
				"array_of_statuses": []tracetest.Status{{Source: -1}, p.status(left(r), 7)}})
		}
	case 10: // what stands behind a wildcard that is completed last
		return func(r, _ int) {
			p.call(r, "MPI_Irecv", receive(r, "MPI_ANY_SOURCE"))
			p.call(r, "MPI_Irecv", tracetest.Args{"source": left(r), "tag": i, "request": out})
			p.call(r, "MPI_Send", tracetest.Args{"dest": right(r), "tag": i})
			p.call(r, "MPI_Send", tracetest.Args{"dest": right(r), "tag": i})
			p.call(r, "MPI_Wait", tracetest.Args{"request": out, "status": p.status(left(r), i)})
			p.call(r, "MPI_Wait", tracetest.Args{"request": in, "status": p.status(left(r), i)})
		}
	}
	return func(r, _ int) { // only some
		if r < 2 {
			p.call(r, "MPI_Ssend", tracetest.Args{"dest": 1 - r, "tag": i})
			p.call(r, "MPI_Recv", tracetest.Args{"source": 1 - r, "tag": i, "status": p.status(1-r, i)})
		}
	}
}
