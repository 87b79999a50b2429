//go:build mpi

package verify

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/compressor"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A program of two ranks whose calls hardly repeat, so that buffers fill. It says how many calls
// each rank made. One rank has a second thread that calls MPI, too.
const hasty = `
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int rounds, rank;
static long more;
static void *other(void *unused)
{
	for (int i = 0; i < rounds; i++, more += 2) {
		int value = i, got;
		MPI_Sendrecv(&value, 1, MPI_INT, 0, i % 3000, &got, 1, MPI_INT, 0, i % 3000, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		MPI_Comm_rank(MPI_COMM_WORLD, &value);
	}
	return unused;
}
int main(int argc, char **argv)
{
	static char a[5000], b[5000];
	unsigned x = 7;
	int provided;
	long calls = 4; /* with MPI_Init_thread, MPI_Barrier and MPI_Finalize */
	pthread_t thread;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	rounds = atoi(argv[1]);
	if (rank == 1)
		pthread_create(&thread, NULL, other, NULL);
	for (int i = 0; i < rounds; i++, calls += 3) {
		MPI_Request r[2];
		x = x * 1103515245 + 12345;
		MPI_Irecv(b, sizeof(b), MPI_CHAR, 1 - rank, i % 7, MPI_COMM_WORLD, &r[0]);
		MPI_Isend(a, x >> 20, MPI_CHAR, 1 - rank, i % 7, MPI_COMM_WORLD, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	if (rank == 1)
		pthread_join(thread, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	printf("rank %d: %ld calls\n", rank, calls + more);
	return 0;
}
`

// compressorSpool names the spool of the process that TestCompressorProcess is.
const compressorSpool = "CAIRN_TEST_COMPRESSOR"

// TestCompressorProcess is a process with a compressor, which the tests below kill.
func TestCompressorProcess(t *testing.T) {
	dir := os.Getenv(compressorSpool)
	if dir == "" {
		return // not started by them
	}
	c, err := compressor.Start(dir, func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) })
	require.NoError(t, err)
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the test ends
	c.Close()
}

// A killable is a compressor in a process of its own.
type killable struct {
	t    *testing.T
	dir  string
	mu   sync.Mutex
	cmd  *exec.Cmd
	said bytes.Buffer
}

func (k *killable) start() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cmd = exec.Command(os.Args[0], "-test.run=^TestCompressorProcess$")
	k.cmd.Env = append(os.Environ(), compressorSpool+"="+k.dir)
	_, err := k.cmd.StdinPipe()
	assert.NoError(k.t, err)
	k.cmd.Stderr = &k.said
	assert.NoError(k.t, k.cmd.Start())
}

func (k *killable) kill() {
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait()
}

// Whoever is killed at whatever moment, a rank, the compressor (another one goes on), or both: no
// completed call is lost, and none is there twice.
func TestKilledRanksAndCompressors(t *testing.T) {
	t.Parallel()
	trials := map[string]int{"rank": 100, "compressor": 30, "both": 10}
	if testing.Short() {
		trials = map[string]int{"rank": 3, "compressor": 2, "both": 1}
	}
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("CAIRN_TEST_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("CAIRN_TEST_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	source := filepath.Join(t.TempDir(), "hasty.c")
	require.NoError(t, os.WriteFile(source, []byte(hasty), 0o644))
	programs := shimtest.CompileForAll(t, source, "-pthread")
	var checkpoints atomic.Int64
	t.Cleanup(func() {
		assert.GreaterOrEqual(t, int(checkpoints.Load()), trials["compressor"], "ranks with checkpoints")
	})
	for _, way := range []string{"rank", "compressor", "both"} {
		for i := range trials[way] {
			implementation := shimtest.Implementations[i%2]
			after := time.Duration(random.IntN(2000)) * time.Millisecond
			t.Run(fmt.Sprintf("%s/%d/%s/%s", way, i, implementation, after), func(t *testing.T) {
				t.Parallel()
				onTmpfs := i%4 < 2
				checkpoints.Add(int64(killTrial(t, way, implementation, programs[implementation], onTmpfs, after)))
			})
		}
	}
}

// killTrial returns the number of ranks of which there is a checkpoint.
func killTrial(t *testing.T, way, implementation, program string, onTmpfs bool, after time.Duration) (checkpoints int) {
	const rounds = 30_000
	tracer := shimtest.NewTracer(t, map[string]any{"verify": true, "segment_bytes": 32768})
	tracer.Alone = true
	if onTmpfs {
		folder, err := os.MkdirTemp("/dev/shm", "cairn-test-")
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, os.RemoveAll(folder)) })
		linked(t, tracer, folder)
	}
	k := &killable{t: t, dir: filepath.Join(tracer.Dir, "spool")}
	k.start()
	defer k.kill()
	over := make(chan struct{})
	var killing sync.WaitGroup
	killing.Go(func() {
		select {
		case <-over:
			return
		case <-time.After(500*time.Millisecond + after):
		}
		if way != "rank" {
			k.kill()
		}
		if way != "compressor" {
			killRank(t, tracer)
			return
		}
		time.Sleep(after / 10)
		k.start()
	})
	r := tracer.Run(t, shimtest.Launch(implementation, 2, program, fmt.Sprint(rounds))...)
	close(over)
	killing.Wait()
	k.kill()
	directories := tracer.Processes(t)
	require.Len(t, directories, 2)
	result, err := Compare(open(t, directories), directories)
	require.NoError(t, err)
	for _, d := range result.Disagreements {
		t.Error(d)
	}
	for _, dir := range directories {
		_, report, err := spool.Recover(dir)
		require.NoError(t, err)
		require.Empty(t, report.Notes)
		require.Zero(t, report.Lost)
		if report.Checkpoint {
			checkpoints++
		}
	}
	if way == "compressor" {
		require.Zero(t, r.Code, r.Stderr)
		require.EqualValues(t, saidCalls(t, r.Stdout, 0)+saidCalls(t, r.Stdout, 1), result.Calls)
	}
	t.Logf("%d calls, %d unfinished, %d ranks with checkpoints; %s", result.Calls, result.Unfinished, checkpoints, k.said.String())
	return checkpoints
}

// killRank kills one of the ranks that have a directory.
func killRank(t *testing.T, tracer *shimtest.Tracer) {
	for _, dir := range tracer.Processes(t) {
		d, err := spool.OpenPath(dir)
		require.NoError(t, err)
		defer d.Close()
		p, err := d.Process()
		if alive, _ := d.Alive(); err == nil && alive {
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
			return
		}
	}
}
