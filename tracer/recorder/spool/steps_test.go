package spool

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// steps returns the named steps of a buffer's life and of a checkpoint, from the source.
func steps(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, file := range []string{"writer.go"} {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`\.reach\("([^"]+)"\)`).FindAllStringSubmatch(string(b), -1) {
			require.NotContains(t, names, m[1], "two steps have one name")
			names = append(names, m[1])
		}
	}
	require.GreaterOrEqual(t, len(names), 10)
	return names
}

// The environment variables of a process that runs the program and dies.
const (
	victimSpool = "CAIRN_TEST_SPOOL"
	victimStep  = "CAIRN_TEST_STEP"
	victimCount = "CAIRN_TEST_COUNT"
	progress    = "progress" // a file with the number of records that were written
)

// victimProgram returns the program of the process that is killed, with small buffers and
// many checkpoints.
func victimProgram(t testing.TB) *recordtest.Shim {
	s := recordtest.NewShim(t)
	s.Process.BufferBytes = record.BufferHeaderBytes + 4096
	s.Process.BootID = ""
	s.RandomProgram(rand.New(rand.NewPCG(11, 4)), 2500)
	return s
}

// TestVictim is run by the tests below, in a separate process.
func TestVictim(t *testing.T) {
	spool := os.Getenv(victimSpool)
	if spool == "" {
		return // not started by them
	}
	s := victimProgram(t)
	dir := filepath.Join(spool, s.Process.Directory)
	require.NoError(t, os.Mkdir(dir, 0o700))
	w, _ := openSpool(t, s, dir)
	w.most = 2 // so that there are copies, which are removed
	sp := w.spool
	sp.recorder.Limits.BlockCalls = 64 // so that there are full ones
	sp.tables.minBytes = 512           // so that there is more than one file
	left, err := strconv.Atoi(os.Getenv(victimCount))
	require.NoError(t, err)
	reached := map[string]int{}
	sp.hook = func(step string) {
		reached[step]++
		if step != os.Getenv(victimStep) {
			return
		}
		if left--; left == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	count, err := os.Create(filepath.Join(spool, progress))
	require.NoError(t, err)
	w.play(s, func(n int) {
		_, _ = count.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(n)), 0)
		if n%200 == 0 {
			sp.raw = checkpointBytes + sp.stateSize + 1 // as if 4 MiB had gone by
		}
	})
	for step, n := range reached {
		fmt.Printf("REACHED %d %s\n", n, step)
	}
}

// dies runs the victim until it reaches a step for the nth time. It returns its spool and the
// number of records that it had written; killed is false if it never reached that step.
func dies(t *testing.T, step string, n int) (spool string, written uint64, killed bool, output string) {
	t.Helper()
	spool = t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestVictim$", "-test.v")
	cmd.Env = append(os.Environ(), victimSpool+"="+spool, victimStep+"="+step, victimCount+"="+strconv.Itoa(n))
	out, _ := cmd.CombinedOutput()
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	killed = status.Signaled() && status.Signal() == syscall.SIGKILL
	require.True(t, killed || cmd.ProcessState.Success(), "%s", out)
	if b, err := os.ReadFile(filepath.Join(spool, progress)); err == nil && len(b) == 8 {
		written = binary.LittleEndian.Uint64(b)
	}
	return spool, written, killed, string(out)
}

// A process that is killed at any named step of a buffer's life or of a checkpoint is recovered up
// to its last call.
func TestKilledAtEveryStep(t *testing.T) {
	s := victimProgram(t)
	whole := wholeContent(s)
	var all [][]string
	for i := range whole.Threads.Len() {
		all = append(all, recordtest.Lines(t, whole, i))
	}
	_, _, killed, output := dies(t, "", 1)
	require.False(t, killed)
	for _, step := range steps(t) {
		m := regexp.MustCompile(`REACHED (\d+) ` + regexp.QuoteMeta(step) + `\n`).FindStringSubmatch(output)
		require.NotNil(t, m, "the program never comes to the step %q: %s", step, output)
		times, _ := strconv.Atoi(m[1])
		for _, n := range []int{1, (times + 1) / 2, times} {
			t.Run(fmt.Sprintf("%s/%d", step, n), func(t *testing.T) {
				spool, written, killed, output := dies(t, step, n)
				require.True(t, killed, output)
				c, report, err := Recover(filepath.Join(spool, s.Process.Directory))
				require.NoError(t, err)
				require.Zero(t, report.Lost)
				require.GreaterOrEqual(t, report.Calls, written)
				require.LessOrEqual(t, report.Calls, written+1)
				for _, th := range c.Threads.All() {
					require.Equal(t, all[th.Thread][:th.Calls], append([]string{}, recordtest.Lines(t, c, th.Thread)...), "thread %d", th.Thread)
				}
				requireTimes(t, s, c, func(thread int) uint64 { return c.Threads.At(thread).Calls })
			})
		}
	}
}

// Another compressor goes on wherever one is killed: no call is lost, and none is there twice.
func TestAnotherCompressorGoesOn(t *testing.T) {
	seeds := 24
	if testing.Short() {
		seeds = 8
	}
	names := steps(t)
	trials := 0 // in which one was killed: some steps are not reached that often
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := victimProgram(t)
			whole := wholeContent(s)
			random := rand.New(rand.NewPCG(uint64(seed), 8))
			w, dir := startSpool(t, s)
			w.most = 4 + random.IntN(20) // others are removed
			killed := 0
			settings := func() {
				w.spool.recorder.Limits.BlockCalls = 64
				w.spool.tables.minBytes = 512
				step, left := names[random.IntN(len(names))], 1+random.IntN(4)
				w.spool.hook = func(reached string) {
					if reached == step {
						left--
					}
					if left == 0 {
						panic(errKilled)
					}
				}
			}
			settings()
			w.killed = func() {
				killed++
				w.spool.hook = nil
				w.again()
				settings()
			}
			w.play(s, func(n int) {
				if n%(50+7*seed) == 0 {
					w.spool.raw = checkpointBytes + w.spool.stateSize + 1
				}
			})
			if killed > 0 {
				trials++
			}
			c, report, err := Recover(dir)
			require.NoError(t, err)
			require.Zero(t, report.Lost)
			require.Empty(t, report.Notes)
			compare(t, whole, c)
			requireTimes(t, s, c, func(thread int) uint64 { return c.Threads.At(thread).Calls })
		})
	}
	require.Greater(t, trials, seeds/2)
}

// Threads go on while the compressor lists and reads their buffers, at any moment between two
// headers: what it consumes is as if they had stood still.
func TestThreadsGoOnMeanwhile(t *testing.T) {
	seeds, checkpoints := 40, uint64(0)
	if testing.Short() {
		seeds = 12
	}
	defer func() { require.Greater(t, checkpoints, uint64(seeds)) }()
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := recordtest.NewShim(t)
			s.Process.BufferBytes = record.BufferHeaderBytes + 4096
			s.Process.BootID = ""
			random := rand.New(rand.NewPCG(uint64(seed), 12))
			s.RandomProgram(random, 3000)
			whole := wholeContent(s)
			w, dir := startSpool(t, s)
			w.most = 3 + random.IntN(20)
			w.apart = true
			// the program runs in steps that begin between two headers
			resume, done := make(chan int), make(chan struct{})
			left := 0
			step := func() {
				if left--; left <= 0 {
					resume <- 0
					left = <-resume
				}
			}
			pauses := rand.New(rand.NewPCG(uint64(seed), 13))
			w.pause = func() {
				if pauses.IntN(3) == 0 {
					left = 0
				}
				step()
			}
			go func() {
				defer close(done)
				w.play(s, func(int) { step() })
			}()
			ended := false
			run := func(calls int) {
				if ended {
					return
				}
				select {
				case <-resume:
					resume <- calls
				case <-done:
					ended = true
				}
			}
			w.spool.listing = func() { run(random.IntN(200) >> random.IntN(9)) }
			w.spool.hook = func(string) { run(random.IntN(3)) }
			for !ended {
				if random.IntN(3) == 0 {
					w.spool.raw = checkpointBytes + w.spool.stateSize + 1
				}
				_, err := w.spool.step(random.IntN(4) > 0, w.onceBytes.Load())
				require.NoError(t, err)
				run(50)
			}
			checkpoints += w.spool.checkpoints
			c, report, err := Recover(dir)
			require.NoError(t, err)
			require.Zero(t, report.Lost)
			require.Empty(t, report.Notes)
			compare(t, whole, c)
		})
	}
}

// Whatever a process says and writes, the compressor neither panics nor reads without bound, and
// the process can be recovered or not.
func TestAnythingFromTheProcess(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 15
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(uint64(seed), 21))
		s := recordtest.NewShim(t)
		s.Process.BufferBytes = record.BufferHeaderBytes + 4096
		s.RandomProgram(random, 600)
		w, dir := startSpool(t, s)
		w.most = 3
		w.apart = true
		w.play(s, nil)
		for range 40 {
			files, err := filepath.Glob(filepath.Join(dir, "*"+bufferSuffix))
			require.NoError(t, err)
			if len(files) == 0 {
				break
			}
			damage(t, random, files[random.IntN(len(files))])
			w.spool.raw = checkpointBytes + w.spool.stateSize + 1
			_, _ = w.spool.Step(RingState{Filled: random.Uint64(), Cuts: random.Uint64() >> random.IntN(64), Once: int64(random.Uint64())})
		}
		_, _, _ = snapshot(dir)
		_, _, _ = Recover(dir)
	}
}

// damage changes some bytes of a file, most of them in the header and at the first records.
func damage(t *testing.T, random *rand.Rand, file string) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	for range random.IntN(4) {
		at := int64(8 * random.IntN(12))
		if random.IntN(2) == 0 {
			at = record.BufferHeaderBytes + int64(random.IntN(600))
		}
		b := binary.LittleEndian.AppendUint64(nil, random.Uint64()>>random.IntN(64))
		_, err := f.WriteAt(b[:1+random.IntN(8)], at)
		require.NoError(t, err)
	}
}
