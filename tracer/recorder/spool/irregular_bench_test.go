package spool

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// An irregularity is a kind of program without order: step makes its next calls.
type irregularity struct {
	name string
	step func(s *recordtest.Shim, random *rand.Rand, n int64)
}

// irregularities are the ways in which programs defeat a table of signatures or a grammar. n
// counts the steps.
func irregularities() []irregularity {
	send := func(s *recordtest.Shim, count, to, tag int64) {
		s.Call(0, "MPI_Send", 0, 0x10, count, recordtest.TypeInt, to, tag, recordtest.CommWorld)
	}
	var open []int64 // raw requests
	next := int64(1 << 20)
	raw := func() int64 { next += 16; return next }
	return []irregularity{
		{"tags", func(s *recordtest.Shim, random *rand.Rand, _ int64) { send(s, 8, 1, random.Int64N(1<<30)) }},
		{"sizes", func(s *recordtest.Shim, random *rand.Rand, _ int64) { send(s, random.Int64N(1<<30), 1, 7) }},
		{"partners", func(s *recordtest.Shim, random *rand.Rand, _ int64) { send(s, 8, random.Int64N(1<<16), 7) }},
		{"tails", func(s *recordtest.Shim, random *rand.Rand, _ int64) {
			send(s, int64(math.Pow(1-random.Float64(), -1.2)), 1, 7)
		}},
		{"order", func(s *recordtest.Shim, random *rand.Rand, _ int64) {
			k := random.Int64N(50)
			s.CallAt(0, uint64(0x401000+64*k), "MPI_Send", 0, 0x10, k, recordtest.TypeInt, k%7, k, recordtest.CommWorld)
		}},
		{"all", func(s *recordtest.Shim, random *rand.Rand, _ int64) {
			site := uint64(0x401000 + 64*random.Int64N(20))
			count, peer, tag := random.Int64N(1<<20), random.Int64N(1<<10), random.Int64N(1<<15)
			switch random.IntN(4) {
			case 0:
				s.CallAt(0, site, "MPI_Send", 0, 0x10, count, recordtest.TypeInt, peer, tag, recordtest.CommWorld)
			case 1:
				s.CallAt(0, site, "MPI_Recv", 0, count, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10, recordtest.Status{Source: peer, Tag: tag, Bytes: 4 * count})
			case 2:
				s.CallAt(0, site, "MPI_Isend", 0, 0x10, count, recordtest.TypeInt, peer, tag, recordtest.CommWorld, raw())
				s.CallAt(0, site, "MPI_Wait", 0, next, recordtest.RequestNull, recordtest.Status{})
			case 3:
				s.CallAt(0, site, "MPI_Allreduce", 0, 0x10, count, recordtest.TypeInt, 0x58000003, recordtest.CommWorld, 0x20)
			}
		}},
		{"requests", func(s *recordtest.Shim, random *rand.Rand, _ int64) {
			if len(open) < 200 && (len(open) == 0 || random.IntN(2) == 0) {
				s.Call(0, "MPI_Irecv", 0, random.Int64N(1<<20), recordtest.TypeInt, random.Int64N(64), random.Int64N(1<<15), recordtest.CommWorld, 0x10, raw())
				open = append(open, next)
				return
			}
			k := random.IntN(len(open))
			s.Call(0, "MPI_Wait", 0, open[k], recordtest.RequestNull, recordtest.Status{Source: 1, Tag: 7, Bytes: 8})
			open = append(open[:k], open[k+1:]...)
		}},
		{"lists", func(s *recordtest.Shim, random *rand.Rand, _ int64) {
			var some, null recordtest.List
			for range 1 + random.IntN(12) {
				s.Call(0, "MPI_Irecv", 0, 8, recordtest.TypeInt, random.Int64N(64), random.Int64N(1<<15), recordtest.CommWorld, 0x10, raw())
				some, null = append(some, next), append(null, recordtest.RequestNull)
			}
			random.Shuffle(len(some), func(i, k int) { some[i], some[k] = some[k], some[i] })
			s.Call(0, "MPI_Waitall", 0, int64(len(some)), some, null, make(recordtest.Statuses, len(some)))
		}},
		{"datatypes", func(s *recordtest.Shim, random *rand.Rand, _ int64) {
			h := raw()
			s.Call(0, "MPI_Type_vector", 0, random.Int64N(1000), random.Int64N(1000), random.Int64N(1000), recordtest.TypeInt, h)
			s.Call(0, "MPI_Type_commit", 0, h, h)
			s.Call(0, "MPI_Send", 0, 0x10, random.Int64N(1<<20), h, 1, 7, recordtest.CommWorld)
			s.Call(0, "MPI_Type_free", 0, h, 0x0c000000)
		}},
		{"datatypes-kept", func(s *recordtest.Shim, random *rand.Rand, _ int64) {
			h := raw()
			s.Call(0, "MPI_Type_contiguous", 0, 3, recordtest.TypeInt, h)
			s.Call(0, "MPI_Send", 0, 0x10, 1, h, 1, 7, recordtest.CommWorld)
		}},
		{"communicators", func(s *recordtest.Shim, random *rand.Rand, _ int64) {
			h := raw()
			s.Call(0, "MPI_Comm_split", 0, recordtest.CommWorld, random.Int64N(2), random.Int64N(1<<20), h,
				recordtest.Description{Raw: h, Own: 0, Size: 2, Group: recordtest.List{0, random.Int64N(64)}})
			s.Call(0, "MPI_Barrier", 0, h)
			s.Call(0, "MPI_Comm_free", 0, h, recordtest.CommNull)
		}},
		{"texts", func(s *recordtest.Shim, random *rand.Rand, n int64) {
			s.Call(0, "MPI_Info_set", 0, 0x9c000000, recordtest.Str("key"), recordtest.Str(fmt.Sprint("value ", n)))
		}},
		{"sites", func(s *recordtest.Shim, random *rand.Rand, _ int64) {
			s.CallAt(0, uint64(0x400000+random.Int64N(1<<20)), "MPI_Send", 0, 0x10, 8, recordtest.TypeInt, 1, 7, recordtest.CommWorld)
		}},
	}
}

// irregularKinds are the kinds that BenchmarkIrregular and the tests of the limit run: all,
// or those of KINDS.
func irregularKinds() []irregularity {
	all := irregularities()
	names := os.Getenv("KINDS")
	if names == "" {
		return all
	}
	var some []irregularity
	for _, k := range all {
		if strings.Contains(","+names+",", ","+k.name+",") {
			some = append(some, k)
		}
	}
	return some
}

// An irregularRun is a process whose program has one kind of irregularity. It is
// written in stretches.
type irregularRun struct {
	kind   irregularity
	shim   *recordtest.Shim
	writer *spoolWriter
	random *rand.Rand
	steps  int64
	calls  int
}

func startIrregular(t testing.TB, kind irregularity) *irregularRun {
	s := recordtest.NewShim(t)
	s.Process.Timing, s.Process.BootID = "lossy", ""
	s.Process.Constants = append(s.Process.Constants[:len(s.Process.Constants):len(s.Process.Constants)],
		record.Constant{Kind: "datatype", Name: "MPI_DATATYPE_NULL", Value: 0x0c000000}, record.Constant{Kind: "op", Name: "MPI_SUM", Value: 0x58000003}, record.Constant{Kind: "info", Name: "MPI_INFO_ENV", Value: 0x5c000001})
	w, _ := startSpool(t, s)
	run := &irregularRun{kind: kind, shim: s, writer: w, random: rand.New(rand.NewPCG(2, 2))}
	s.Init(0, 64)
	return run
}

// prepare makes the records of the next calls, which play writes.
func (run *irregularRun) prepare(words int) {
	s := run.shim
	for th := s.Thread(0); len(th.Words) < words; run.steps++ {
		run.kind.step(s, run.random, run.steps)
	}
}

func (run *irregularRun) play() {
	words := run.shim.Thread(0).Words
	for at := record.BufferHeaderWords; at < len(words); run.calls++ {
		n := int(record.Low(words[at+record.ReservedWord])) / 8
		if !run.writer.write(0, words[at:at+n]) {
			run.shim.T.Fatalf("tracing stopped at call %d", run.calls)
		}
		at += n
	}
	th := run.shim.Thread(0)
	th.Words = th.Words[:record.BufferHeaderWords]
}

// BenchmarkIrregular is a call of a program without order, compressed and checkpointed, at
// several lengths: CPU time of a call, the heap, and, since the length before, what a checkpoint
// took and wrote of state. CALLS (1000000,4000000,10000000 unless set) and KINDS choose among
// lengths and kinds.
func BenchmarkIrregular(b *testing.B) {
	lengths := os.Getenv("CALLS")
	if lengths == "" {
		lengths = "1000000,4000000,10000000"
	}
	for _, kind := range irregularKinds() {
		b.Run(kind.name, func(b *testing.B) {
			for range b.N {
				run := startIrregular(b, kind)
				sp := run.writer.spool
				var cpu, before, began, inCheckpoints, states int64
				var done int
				var checkpoints uint64
				sp.hook = func(step string) {
					switch step {
					case "checkpoint begins":
						began = recordtest.CPUTime(b)
					case "buffers released":
						inCheckpoints += recordtest.CPUTime(b) - began
						states += sp.stateSize
					case "state encoded":
						states += int64(len(sp.tables.pending))
					}
				}
				for _, length := range strings.Split(lengths, ",") {
					calls, err := strconv.Atoi(length)
					require.NoError(b, err)
					for run.calls < calls {
						run.prepare(1 << 17)
						start := recordtest.CPUTime(b)
						run.play()
						cpu += recordtest.CPUTime(b) - start
					}
					runtime.GC()
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					n := int64(max(sp.checkpoints-checkpoints, 1))
					fmt.Fprintf(os.Stderr, "%-15s %10d calls %6.0f ns/call %6.1f MiB of heap %6.1f estimated; a checkpoint %6.2f ms, %5d KiB of state\n",
						kind.name, run.calls, float64(cpu-before)/float64(run.calls-done), float64(m.HeapAlloc)/(1<<20),
						float64(sp.recorder.Memory())/(1<<20), float64(inCheckpoints/n)/1e6, states/n>>10)
					before, done, checkpoints, inCheckpoints, states = cpu, run.calls, sp.checkpoints, 0, 0
				}
				runtime.KeepAlive(run)
			}
		})
	}
}
