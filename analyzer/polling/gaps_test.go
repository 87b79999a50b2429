package polling_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// A poller is a program of one rank that polls, with the counters of an operating system. Times are
// in units of a millisecond.
type poller struct {
	rank                   *tracetest.Rank
	now                    float64
	cpu                    float64
	voluntary, involuntary int
	sampled                float64
	inTest                 func() // what MPI_Test does besides; nil: nothing
}

func newPoller(r *tracetest.Rank) *poller {
	p := &poller{rank: r}
	p.sample()
	r.Init(0, 1)
	p.pass(1, true)
	return p
}

func (p *poller) sample() {
	p.rank.Info().Context = append(p.rank.Info().Context, trace.ContextSample{
		MonotonicNS: int64(p.now * tracetest.Unit), CPUNS: int64(p.cpu * tracetest.Unit),
		VoluntarySwitches: int64(1 + p.voluntary), InvoluntarySwitches: int64(p.involuntary),
	})
	p.sampled = p.now
}

// pass advances the time, with a CPU or without one. There is a sample every 100 ms.
func (p *poller) pass(ms float64, running bool) {
	for ms > 0 {
		step := min(ms, p.sampled+100-p.now)
		p.now += step
		ms -= step
		if running {
			p.cpu += step
		}
		if p.now >= p.sampled+100 {
			p.sample()
		}
	}
}

func (p *poller) sleep(ms float64) { p.voluntary++; p.pass(ms, false) }

func (p *poller) work(ms float64) { p.pass(ms, true) }

func (p *poller) preempted(ms float64) { p.involuntary++; p.pass(ms, false) }

// test calls MPI_Test for 1 µs and what inTest takes.
func (p *poller) test(flag bool) {
	there := 0
	status := tracetest.Status{Source: -1, Tag: -1}
	if flag {
		there, status = 1, tracetest.Status{Source: 0, Bytes: 8}
	}
	enter := p.now
	p.pass(0.001, true)
	if p.inTest != nil {
		p.inTest()
	}
	p.rank.At("p.c:1").Call("MPI_Test", enter, p.now, tracetest.Args{"request": tracetest.Request(1), "flag": there, "status": status})
}

// waitFor polls until a time, calling between after each poll, and returns the time of the first
// poll.
func (p *poller) waitFor(until float64, between func(n int)) float64 {
	p.rank.Irecv(p.now, p.now+0.001, 0, 1)
	p.pass(0.001, true)
	begin := p.now
	for n := 0; p.now < until; n++ {
		p.test(false)
		between(n)
	}
	p.test(true)
	return begin
}

// attempts returns the times of the first and the last poll of each attempt that ends with a hit.
func attempts(t *testing.T, tr timeline.Trace, rank int) (list [][2]int64) {
	t.Helper()
	var a polling.Attempt
	_, err := match.All(context.Background(), tr, nil, nobody{}, func(c *match.Call) {
		if c.Location != rank {
			return
		}
		if since, asks := a.See(c.Poll, &c.Record); asks && c.Poll.Kind() == polling.Hit {
			list = append(list, [2]int64{since, c.Enter})
		}
	})
	require.NoError(t, err)
	return list
}

// assertIdle: rank 1 waits for nearly all of a time, in ms, if it is idle, else for hardly any.
func assertIdle(t *testing.T, b *tracetest.Builder, idle bool, ms float64) {
	t.Helper()
	found := 0.0
	for _, a := range attempts(t, timeline.Of(b.Open(t)), 1) {
		found += float64(a[1]-a[0]) / tracetest.Unit
	}
	if idle {
		assert.Greater(t, found, 0.95*ms)
	} else {
		assert.Less(t, found, 0.05*ms)
	}
}

// nobody is a handler that does nothing.
type nobody struct{}

func (nobody) Message(*match.Message)            {}
func (nobody) Collective(*match.Collective, int) {}
func (nobody) Settled(*match.Completion)         {}

// Whether a rank waits depends on what it does between two polls. Five messages are late by 70 ms
// each; the rank computes for 30 ms before each. Of 350 ms in total, a rank that is idle between
// polls waits for all but one gap per message; one that works waits at most for the last gap.
func TestIdleGapsBetweenPolls(t *testing.T) {
	for name, c := range map[string]struct {
		idle    bool
		between func(p *poller, n int)
	}{
		"tight":                              {true, func(*poller, int) {}},
		"sleeps of 50 µs":                    {true, func(p *poller, _ int) { p.sleep(0.11); p.work(0.01) }},
		"sleeps of 1 ms":                     {true, func(p *poller, _ int) { p.sleep(1.06); p.work(0.02) }},
		"sleeps of 10 ms":                    {true, func(p *poller, _ int) { p.sleep(10) }},
		"sleeps that double":                 {true, func(p *poller, n int) { p.sleep(0.001 * float64(int(1)<<min(n, 13))) }},
		"sleeps and preemptions":             {true, func(p *poller, _ int) { p.sleep(1); p.preempted(2) }},
		"yields to others":                   {true, func(p *poller, n int) { p.preempted(3) }},
		"tight, preempted":                   {true, func(p *poller, n int) { p.tight(n); p.often(n, 0.3) }},
		"work packets of 1 ms":               {false, func(p *poller, _ int) { p.work(1) }},
		"work packets of 10 ms":              {false, func(p *poller, _ int) { p.work(10) }},
		"work packets of 1 ms, preempted":    {false, func(p *poller, n int) { p.work(1); p.sometimes(n, 4, 3) }},
		"work packets of 10 ms, preempted":   {false, func(p *poller, _ int) { p.work(4); p.preempted(3); p.work(3); p.preempted(3); p.work(3) }},
		"a task of 1 ms after each 20 polls": {false, func(p *poller, n int) { p.sometimesWork(n, 20, 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			b := tracetest.New(2)
			p := newPoller(b.Rank(1))
			waited := 0.0
			for range 5 {
				if name == "yields to others" {
					// where it computes as long it is not known from one that is preempted
					p.sleep(30)
				} else {
					p.work(30)
				}
				begin := p.waitFor(p.now+70, func(n int) { c.between(p, n) })
				waited += p.now - begin
			}
			p.rank.Finalize(p.now, p.now+1)
			assertIdle(t, b, c.idle, waited)
		})
	}
}

// An MPI library may give up its CPU in each poll, which on a busy machine takes longer than what
// the rank does between two. That says nothing about what it does between them.
func TestPollsThatGiveUpTheCPU(t *testing.T) {
	for name, c := range map[string]struct {
		idle    bool
		between func(p *poller)
	}{
		"work packets of 1 ms":  {false, func(p *poller) { p.work(1) }},
		"work packets of 10 ms": {false, func(p *poller) { p.work(10) }},
		"sleeps of 1 ms":        {true, func(p *poller) { p.sleep(1); p.work(0.02) }},
		"sleeps of 50 µs":       {true, func(p *poller) { p.sleep(0.11); p.work(0.01) }},
	} {
		t.Run(name, func(t *testing.T) {
			b := tracetest.New(2)
			p := newPoller(b.Rank(1))
			p.inTest = func() { p.sleep(0.07); p.preempted(2) }
			begin := p.waitFor(p.now+300, func(int) { c.between(p) })
			waited := p.now - begin
			p.rank.Finalize(p.now, p.now+1)
			assertIdle(t, b, c.idle, waited)
		})
	}
}

// tight works a little between polls. often is preempted for ms at every 40th poll, and shortly at
// others. sometimes and sometimesWork are preempted, or work, at every each-th poll.
func (p *poller) tight(int) { p.work(0.01) }

func (p *poller) often(n int, ms float64) {
	p.sometimes(n, 40, ms)
	p.sometimes(n, 7, 0.02)
	p.sometimes(n, 11, 0.02)
}

func (p *poller) sometimes(n, each int, ms float64) {
	if n%each == each-1 {
		p.preempted(ms)
	}
}

func (p *poller) sometimesWork(n, each int, ms float64) {
	if n%each == each-1 {
		p.work(ms)
	}
}

// Random programs: messages that are late at random, gaps of random lengths between polls, slept or
// worked. 95% of the waiting is found, and at most 5% of the work is mistaken for waiting.
func TestRandomPolls(t *testing.T) {
	waited, found, worked, mistaken := 0.0, 0.0, 0.0, 0.0
	for seed := range uint64(120) {
		random := rand.New(rand.NewPCG(seed, 7))
		b := tracetest.New(2)
		p := newPoller(b.Rank(1))
		sleeps, longest := random.IntN(2) == 0, []float64{0.05, 0.3, 1, 4, 12}[random.IntN(5)]
		busy := random.Float64() // probability of a preemption in a gap
		if random.IntN(3) == 0 {
			pause := 0.3 * random.Float64()
			p.inTest = func() {
				p.sleep(pause)
				if random.Float64() < busy {
					p.preempted(4 * random.Float64())
				}
			}
		}
		sum := 0.0
		for range 4 + random.IntN(8) {
			p.work(40 * random.Float64())
			begin := p.waitFor(p.now+120*random.Float64(), func(int) {
				if random.Float64() < 0.3*busy {
					p.preempted(3 * random.Float64())
				}
				if gap := longest * (0.5 + random.Float64()); sleeps {
					p.sleep(gap)
				} else {
					p.work(0.1 + gap)
				}
			})
			sum += p.now - begin
		}
		p.rank.Finalize(p.now, p.now+1)
		got := 0.0
		for _, a := range attempts(t, timeline.Of(b.Open(t)), 1) {
			got += float64(a[1]-a[0]) / tracetest.Unit
		}
		if sleeps {
			waited, found = waited+sum, found+got
		} else {
			worked, mistaken = worked+sum, mistaken+got
		}
	}
	assert.Greater(t, found, 0.95*waited, fmt.Sprint(waited))
	assert.Less(t, mistaken, 0.05*worked, fmt.Sprint(worked))
}

// Without samples, for example if a run is shorter than the sampling interval: a loop that only
// polls waits also if it is delayed once; a loop that does something between all polls is taken to
// compute.
func TestGapsWithoutSamples(t *testing.T) {
	for name, c := range map[string]struct {
		between func(p *poller, n int)
		found   float64
	}{
		"tight with a long gap": {func(p *poller, n int) { p.work(0.01); p.sometimes(n, 1000, 5) }, 20},
		"long gaps":             {func(p *poller, _ int) { p.sleep(1) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := tracetest.New(2)
			p := newPoller(b.Rank(1))
			p.waitFor(p.now+20, func(n int) { c.between(p, n) })
			p.rank.Finalize(p.now, p.now+1)
			p.rank.Info().Context = nil
			found := 0.0
			for _, a := range attempts(t, timeline.Of(b.Open(t)), 1) {
				found += float64(a[1]-a[0]) / tracetest.Unit
			}
			assert.InDelta(t, c.found, found, 1)
		})
	}
}
