package recorder

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A mixedProgram makes calls of all the kinds that repeats must distinguish, n times.
func mixedProgram(s *recordtest.Shim, rng *rand.Rand, n int) {
	s.Init(0, 4)
	group := recordtest.List{0, 1, 2, 3}
	comm, commRank := int64(0), int64(0)
	datatype := int64(0)
	persistent := int64(0)
	pick := func(v ...int64) int64 { return pickOne(rng, v...) }
	anyComm := func() int64 {
		if comm != 0 && rng.IntN(2) == 0 {
			return comm
		}
		return pick(recordtest.CommWorld, recordtest.CommSelf)
	}
	anyType := func() int64 {
		if datatype != 0 && rng.IntN(2) == 0 {
			return datatype
		}
		return recordtest.TypeInt
	}
	for range n {
		th := uint32(rng.IntN(2))
		at := uint64(0x401000 + rng.IntN(2)*0x100)
		switch rng.IntN(16) {
		case 0: // the handle of a datatype refers to another datatype
			if datatype != 0 {
				s.CallAt(th, at, "MPI_Type_free", 0, datatype, 0x0c000000)
				datatype = 0
			} else {
				datatype = pick(700, 701)
				s.CallAt(th, at, "MPI_Type_contiguous", 0, pick(2, 3), recordtest.TypeInt, datatype)
			}
		case 1: // the same handle is a communicator with another own rank, or an intercommunicator
			if comm != 0 {
				s.CallAt(th, at, "MPI_Comm_free", 0, comm, recordtest.CommNull)
				comm = 0
			} else {
				comm, commRank = 800, int64(rng.IntN(4))
				s.CallAt(th, at, "MPI_Comm_split", 0, recordtest.CommWorld, 0, commRank, comm,
					recordtest.Description{Raw: comm, Own: commRank, Size: 4, Group: group, Inter: pick(0, 0, 1)})
			}
		case 2: // which arguments are significant depends on the root
			s.CallAt(th, at, "MPI_Gather", 0, pick(0x10, 0x20, recordtest.InPlace), 1, anyType(), 0x30, 1, anyType(), pick(0, 1, recordtest.MPIRoot), anyComm())
		case 3:
			s.CallAt(th, at, "MPI_Iprobe", 0, recordtest.AnySource, 1, anyComm(), 0, recordtest.NoStatus{})
		case 4:
			s.CallAt(th, at, "MPI_Iprobe", 0, recordtest.AnySource, 1, anyComm(), 1, recordtest.Status{Source: pick(1, 2), Bytes: 4})
		case 5:
			s.CallAt(th, at, "MPI_Recv", pick(0, 0, 0, 5), 1, anyType(), recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, pick(0x10, 0, 0x20), recordtest.Status{Source: pick(1, 1, 2)})
		case 6: // requests with one handle, completed together or one by one
			sendAndComplete(s, rng, th, at)
		case 7:
			if persistent == 0 {
				persistent = pick(1100, 1101)
				s.CallAt(th, at, "MPI_Send_init", 0, 0x10, 1, recordtest.TypeInt, 1, 7, recordtest.CommWorld, persistent)
			}
			s.CallAt(th, at, "MPI_Start", 0, persistent, persistent)
			s.CallAt(th, at, "MPI_Wait", 0, persistent, persistent, recordtest.Status{})
			if rng.IntN(4) == 0 {
				s.CallAt(th, at, "MPI_Request_free", 0, persistent, recordtest.RequestNull)
				persistent = 0
			}
		case 8: // a request whose creation was not seen
			s.CallAt(th, at, "MPI_Test", 0, pick(1200, 1201), pick(1200, 1201), 0, recordtest.NoStatus{})
		case 9:
			s.CallAt(th, at, "MPI_Waitall", 0, 0, recordtest.List{}, recordtest.List{}, recordtest.Statuses{})
			s.CallAt(th, at, "MPI_Wait", 0, recordtest.RequestNull, recordtest.RequestNull, recordtest.Status{Source: recordtest.AnySource})
		case 10: // sizes that never recur
			s.CallAt(th, at, "MPI_Send", 0, 0x10, rng.IntN(1000), recordtest.TypeInt, 1, 7, recordtest.CommWorld)
		case 11:
			s.CallAt(th, at, "MPI_Wtime", rng.Int64())
		case 12:
			s.CallAt(th, at, "MPI_Comm_rank", 0, anyComm(), commRank)
		default:
			s.CallAt(th, at, "MPI_Allreduce", 0, pick(0x10, recordtest.InPlace), 1, anyType(), 0x58000003, anyComm(), pick(0x20, 0x24))
		}
	}
}

// sendAndComplete starts three sends, two of which may have the same handle, and completes some at
// a time.
func sendAndComplete(s *recordtest.Shim, rng *rand.Rand, th uint32, at uint64) {
	raws := recordtest.List{pickOne(rng, 900, 1000), pickOne(rng, 900, 1001), 1002}
	for k, raw := range raws {
		s.CallAt(th, 0x402000, "MPI_Isend", 0, pickOne(rng, 0x10, 0x20), 1, recordtest.TypeInt, k, 7, recordtest.CommWorld, raw)
	}
	for len(raws) > 0 {
		done := rng.IntN(len(raws) + 1)
		var after recordtest.List
		var indices recordtest.List
		var statuses recordtest.Statuses
		for k, raw := range raws {
			if k < done {
				indices = append(indices, int64(k))
				statuses = append(statuses, recordtest.Status{Source: pickOne(rng, 0, 1)})
				raw = recordtest.RequestNull
			}
			after = append(after, raw)
		}
		switch {
		case done == len(raws):
			s.CallAt(th, at, "MPI_Waitall", 0, len(raws), raws, after, statuses)
		case done == 1:
			s.CallAt(th, at, "MPI_Waitany", 0, len(raws), raws, after, 0, recordtest.Status{Source: pickOne(rng, 0, 1)})
		default:
			s.CallAt(th, at, "MPI_Testsome", 0, len(raws), raws, after, done, indices, statuses)
		}
		raws = raws[done:]
	}
}

func pickOne(rng *rand.Rand, v ...int64) int64 { return v[rng.IntN(len(v))] }

// sameWithoutRepeats fails the test if the fast path, or short records, make any difference to what
// the recorder makes of these records.
func sameWithoutRepeats(t *testing.T, s *recordtest.Shim) *Recorder {
	t.Helper()
	r, slow := New(s.Process), New(s.Process)
	slow.repeats.Off = true
	living := sourcesOf(s, r, true)
	for _, src := range living {
		src.Ended = false // as in the process itself, which uses the fast path
	}
	r.Consume(living)
	slow.Consume(sourcesOf(s, slow, true))
	want := slow.AppendState(nil)
	slowly := New(s.Process)
	slowly.repeats.Off = true
	wantInBuffers := inBuffers(s, slowly, false).AppendState(nil)
	for _, short := range []bool{false, true} {
		if !bytes.Equal(inPieces(s, r.threads, short).AppendState(nil), want) {
			t.Errorf("the fast path made another trace of records that came in pieces (short: %v)", short)
		}
		if !bytes.Equal(inBuffers(s, New(s.Process), short).AppendState(nil), wantInBuffers) {
			t.Errorf("the fast path made another trace of records in buffers (short: %v)", short)
		}
	}
	slowly = New(s.Process)
	slowly.repeats.Off = true
	if !bytes.Equal(inBuffers(s, slowly, true).AppendState(nil), wantInBuffers) {
		t.Error("short records made another trace")
	}
	if !bytes.Equal(r.AppendState(nil), want) {
		t.Error("the fast path made another trace")
		for i := range slow.threads {
			a, _ := slow.Content()
			b, _ := r.Content()
			recordtest.Expect(t, recordtest.Lines(t, b, i), recordtest.Lines(t, a, i)...)
		}
	}
	return r
}

// starts returns the words at which the records of a buffer without short records begin, and its
// end.
func starts(words []uint64) (list []int) {
	for at := record.BufferHeaderWords; at < len(words); at += int(record.Low(words[at+record.ReservedWord])) / 8 {
		list = append(list, at)
	}
	return append(list, len(words))
}

// inPieces consumes buffers that grow, as in a running process. With several threads each step
// extends all buffers up to one epoch; with one thread it adds some calls.
func inPieces(s *recordtest.Shim, like []*thread, short bool) *Recorder {
	r := New(s.Process)
	for _, t := range like {
		r.thread(t.number) // in the same order
	}
	sources := sourcesOf(s, r, false)
	whole, at, written := make([][]uint64, len(sources)), make([][]int, len(sources)), make([]int, len(sources))
	rng := rand.New(rand.NewPCG(uint64(len(sources[0].Buffers[0].Words)), 1))
	for i, src := range sources {
		whole[i] = src.Buffers[0].Words
		at[i] = starts(whole[i])
		src.Buffers[0].Words = slices.Clone(whole[i])
		if short {
			var ends []int
			src.Buffers[0].Words, ends = recordtest.Shorten(rng, whole[i])
			copy(at[i][1:], ends)
		}
	}
	epochs := make([][]uint64, len(sources))
	for i := range sources {
		for _, begin := range starts(whole[i])[:len(at[i])-1] {
			epochs[i] = append(epochs[i], whole[i][begin+record.EpochWord])
		}
	}
	for epoch := uint64(0); ; epoch += 1 + rng.Uint64N(60) {
		rest := false
		for i, src := range sources {
			n := &written[i]
			for *n < len(epochs[i]) && (len(sources) == 1 && uint64(*n) < epoch || len(sources) > 1 && epochs[i][*n] <= epoch) {
				*n++
			}
			rest = rest || *n < len(epochs[i])
			src.Buffers[0].Words[record.HeaderUsed] = uint64(at[i][*n]-record.BufferHeaderWords) * 8
		}
		for _, src := range sources {
			src.Closed = !rest
		}
		r.Consume(sources)
		if !rest {
			return r
		}
	}
}

// inBuffers consumes small buffers, as in a running process: those of a single thread one by one as
// they become full, those of several threads all together.
func inBuffers(s *recordtest.Shim, r *Recorder, short bool) *Recorder {
	sources := sourcesOf(s, r, true)
	rng := rand.New(rand.NewPCG(uint64(len(sources[0].Buffers[0].Words)), 2))
	forms := rand.New(rand.NewPCG(rng.Uint64(), 3))
	for _, src := range sources {
		words := src.Buffers[0].Words
		src.Ended, src.Buffers = false, nil
		for at, sequence := record.BufferHeaderWords, uint64(0); at < len(words); sequence++ {
			end, limit := at, at+50+rng.IntN(3000)
			for end < len(words) && (end == at || end < limit) {
				end += int(record.Low(words[end+record.ReservedWord])) / 8
			}
			buffer := &record.Buffer{Sequence: sequence, Words: append(recordtest.NewBuffer(src.thread.number, sequence), words[at:end]...)}
			buffer.Words[record.HeaderUsed] = uint64(end-at) * 8
			if short {
				buffer.Words, _ = recordtest.Shorten(forms, buffer.Words)
			}
			src.Buffers = append(src.Buffers, buffer)
			if at = end; len(sources) == 1 {
				r.ConsumeOrWait(sources, true)
			}
		}
	}
	r.Consume(sources)
	return r
}

func TestRepeats(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 9))
			s := recordtest.NewShim(t)
			if seed%2 == 0 {
				mixedProgram(s, rng, 600)
			} else {
				s.RandomProgram(rng, 600)
			}
			r := sameWithoutRepeats(t, s)
			if r.repeats.Memory() == 0 {
				t.Error("no call was remembered")
			}
		})
	}
}

// A steady loop consists of repeats only, from its second iteration on.
func TestSteadyLoopIsRepeats(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 4)
	for range 5 {
		var raw recordtest.List
		for k := range int64(3) {
			s.Call(0, "MPI_Irecv", 0, 1, recordtest.TypeInt, k, 7, recordtest.CommWorld, 0x10, 1000+k)
			s.Call(0, "MPI_Isend", 0, 0x10, 1, recordtest.TypeInt, k, 7, recordtest.CommWorld, 0x6c000000)
			raw = append(raw, 1000+k, 0x6c000000)
		}
		s.Waitall(raw)
		s.Call(0, "MPI_Type_contiguous", 0, 2, recordtest.TypeInt, 700)
		s.Call(0, "MPI_Send", 0, 0x10, 1, 700, 1, 7, recordtest.CommWorld)
		s.Call(0, "MPI_Type_free", 0, 700, 0x0c000000)
	}
	r := New(s.Process)
	src := sourcesOf(s, r, true)[0]
	slow := 0
	for {
		rec, next, ok := src.peek()
		if !ok {
			break
		}
		if round := (int(src.thread.calls) - 1) / 10; round >= 2 && src.thread.repeats.Match(rec.Words, src.thread.untraced) == nil {
			slow++
		}
		src.step(rec, next)
	}
	// creating and freeing the datatype takes the slow path, since it changes what handles mean
	if slow != 3*2 {
		t.Errorf("%d calls took the slow path, want 6", slow)
	}
}

// Records of all kinds, in any order and with any words changed, give the same trace with and
// without the fast path.
func FuzzRepeats(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 255, 12, 7, 5, 0, 1, 2, 3}, uint64(1))
	for seed := range uint64(8) {
		order := make([]byte, 300)
		for i := range order {
			order[i] = byte(rand.New(rand.NewPCG(seed, uint64(i/7))).Uint32() % 40)
		}
		f.Add(order, seed)
	}
	f.Fuzz(func(t *testing.T, order []byte, seed uint64) {
		if len(order) > 1<<12 {
			return
		}
		s := recordtest.NewShim(t)
		mixedProgram(s, rand.New(rand.NewPCG(seed, 4)), 120)
		var records [][]uint64
		words := s.Threads[0].Words
		for at := record.BufferHeaderWords; at < len(words); {
			n := int(record.Low(words[at+record.ReservedWord])) / 8
			records = append(records, words[at:at+n])
			at += n
		}
		out := append(recordtest.NewBuffer(0, 0), records[0]...) // MPI_Init
		for i := 0; i < len(order); i++ {
			if order[i] < 250 || i+3 >= len(order) {
				out = append(out, records[int(order[i])%len(records)]...)
				continue
			}
			// the previous record again, with one word changed
			last := out[record.BufferHeaderWords:]
			for at := record.BufferHeaderWords; at < len(out); at += int(record.Low(out[at+record.ReservedWord])) / 8 {
				last = out[at:]
			}
			changed := append([]uint64{}, last...)
			if at := 2 + int(order[i+1]); at < len(changed) {
				changed[at] += uint64(int8(order[i+2]))
			}
			out = append(out, changed...)
			i += 2
		}
		out[record.HeaderUsed] = uint64(len(out)-record.BufferHeaderWords) * 8
		s.Threads = map[uint32]*recordtest.Thread{0: {Words: out}}
		sameWithoutRepeats(t, s)
	})
}
