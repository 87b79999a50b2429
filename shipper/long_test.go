package shipper

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/store"
)

// Parameters of the benchmark of a long job: slots of one pod, calls per second of each, and the
// speedup relative to real time.
const (
	longRate   = 1000
	longFaster = 400
	longMemory = 128 << 20 // the sidecar's limit
	// longWaiting is the number of bytes in the logs at which the ranks, which are much faster than
	// real ones, wait. longWaitingSlot is its minimum per slot: 1 MiB is in the current file.
	longWaiting     = 24 << 20
	longWaitingSlot = 5 << 18
	// irregularCalls is the number of calls of all slots that replaces an hour: all different
	// (IRREGULAR=1), or a few in random order (IRREGULAR=order).
	irregularCalls = 1_000_000
)

// longSlots is the number of slots (SLOTS).
func longSlots() int {
	if n, err := strconv.Atoi(os.Getenv("SLOTS")); err == nil && n > 1 {
		return n
	}
	return 8
}

// longPod makes a test binary run the ranks of a pod.
const longPod = "CAIRN_LONG_POD"

// playPod is the pod: it makes the calls of some hours and reports when each has passed.
func playPod(spool string) {
	t := &testing.B{}
	hours, _ := strconv.Atoi(os.Getenv("HOURS"))
	var ranks []*spooltest.Process
	var long []*spooltest.Long
	var locks []*os.File // closing the files would release them
	slots := longSlots()
	for rank := range slots {
		p := spooltest.New("long", rank, slots)
		l := p.Begin(t, spool)
		lock, err := os.OpenFile(filepath.Join(l.Directory, "lock"), os.O_RDWR, 0)
		if err == nil {
			err = unix.FcntlFlock(lock.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart})
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		locks = append(locks, lock)
		p.Init()
		l.Repeat(1)
		ranks, long = append(ranks, p), append(long, l)
	}
	fmt.Println("they live")
	const minute = 60 * longRate
	random := rand.New(rand.NewPCG(1, 2))
	irregular := os.Getenv("IRREGULAR")
	for h := range hours {
		for range 60 {
			for rank, p := range ranks {
				if irregular != "" {
					for range irregularCalls / slots / 60 {
						switch to := (rank + 1) % slots; {
						case irregular != "order":
							p.Send(random.IntN(1<<30), to)
						case random.IntN(3) == 0:
							p.Barrier()
						default:
							p.Send(random.IntN(4), to)
						}
						long[rank].Repeat(1)
					}
					continue
				}
				for range 9 {
					p.Send(4, (rank+1)%slots)
				}
				p.Barrier()
				long[rank].Repeat(minute / 10)
			}
			for waiting(spool) > max(longWaiting, int64(slots)*longWaitingSlot) {
				time.Sleep(time.Millisecond)
			}
		}
		fmt.Println(h + 1)
		_, _ = fmt.Scanln() // it is looked at
	}
	for rank, p := range ranks {
		p.Finalize()
		long[rank].Repeat(1)
	}
	runtime.KeepAlive(locks)
	os.Exit(0)
}

func waiting(spool string) (n int64) {
	for _, log := range []string{"times-*", "values-*"} {
		files, _ := filepath.Glob(filepath.Join(spool, "*", log))
		for _, file := range files {
			if info, err := os.Stat(file); err == nil {
				n += info.Size()
			}
		}
	}
	return n
}

// countingStore counts requests to a store.
type countingStore struct {
	store.Store
	requests, bytes atomic.Int64
}

func (c *countingStore) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	c.requests.Add(1)
	c.bytes.Add(size)
	return c.Store.Put(ctx, key, r, size)
}

func (c *countingStore) PutIf(ctx context.Context, key string, r io.ReadSeeker, size int64, version string) (string, error) {
	c.requests.Add(1)
	c.bytes.Add(size)
	return c.Store.PutIf(ctx, key, r, size, version)
}

func (c *countingStore) Stat(ctx context.Context, key string) (store.Object, error) {
	c.requests.Add(1)
	return c.Store.Stat(ctx, key)
}

func (c *countingStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	c.requests.Add(1)
	return c.Store.Get(ctx, key)
}

func (c *countingStore) Delete(ctx context.Context, key string) error {
	c.requests.Add(1)
	return c.Store.Delete(ctx, key)
}

// BenchmarkLong is a pod with 8 slots (SLOTS) for 24 hours (HOURS), through the sidecar's code, at
// 400 times the speed. It prints a row per hour, or per million calls (IRREGULAR=1,
// IRREGULAR=order), to show that nothing grows with the length of a job that must not.
func BenchmarkLong(b *testing.B) {
	hours, err := strconv.Atoi(os.Getenv("HOURS"))
	if err != nil {
		hours = 24
	}
	packInterval, leastParts, snapshotShare = 5*time.Second/longFaster, 1<<20, 0
	debug.SetMemoryLimit(longMemory * 9 / 10) // as the operator sets GOMEMLIMIT
	debug.SetGCPercent(GCPercent)
	spool := b.TempDir()
	directory, err := store.Open(b.TempDir(), store.S3Options{})
	require.NoError(b, err)
	s := &countingStore{Store: directory}
	pod := exec.Command(os.Args[0])
	pod.Env = append(os.Environ(), longPod+"="+spool, "HOURS="+strconv.Itoa(hours))
	pod.Stderr = os.Stderr
	out, err := pod.StdoutPipe()
	require.NoError(b, err)
	in, err := pod.StdinPipe()
	require.NoError(b, err)
	require.NoError(b, pod.Start())

	_, err = fmt.Fscanln(out, new(string), new(string)) // they count as running from here on
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	id := Identity{Pod: "pod", PodUID: "uid", Node: "node"}
	ended := make(chan []string, 1)
	go func() {
		ended <- Ship(ctx, Options{
			Spool: spool, Store: s, Identity: id, Grace: time.Minute,
			Scan: time.Second / longFaster, Heartbeat: time.Minute / longFaster, Checkpoint: DefaultCheckpoint / longFaster,
		})
	}()
	fmt.Printf("%5s %8s %10s %10s %12s %9s %12s %14s\n", "hour", "RSS MiB", "spool MiB", "store MiB", "put MiB/hour", "requests", "shard bytes", "CPU, % of one")
	var requests, bytes int64
	cpu := cpuTime()
	for range hours {
		var h int
		_, err := fmt.Fscanln(out, &h)
		require.NoError(b, err)
		nowCPU, nowRequests, nowBytes := cpuTime(), s.requests.Load(), s.bytes.Load()
		fmt.Printf("%5d %8.1f %10.1f %10.1f %12.1f %9d %12d %14.2f\n", h, mib(residentBytes()), mib(treeSize(spool)), mib(storeSize(b, s)),
			mib(nowBytes-bytes), nowRequests-requests, shardBytes(b, s), 100*(nowCPU-cpu).Seconds()/3600)
		cpu, requests, bytes = nowCPU, nowRequests, nowBytes
		_, err = io.WriteString(in, "\n")
		require.NoError(b, err)
	}
	require.NoError(b, pod.Wait())
	end, cpu := time.Now(), cpuTime()
	cancel()
	require.Empty(b, <-ended)
	fmt.Printf("from the end of the ranks until all is in the store: %.2f s, %.2f s of CPU; peak %.1f MiB of %d\n",
		time.Since(end).Seconds(), (cpuTime() - cpu).Seconds(), mib(peakBytes()), longMemory>>20)
	b.ReportMetric(float64(longSlots()*longRate*3600*hours), "calls")
	b.ReportMetric(mib(peakBytes()), "peak-MiB")
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

func cpuTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func statusBytes(field string) int64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(text), field+":")
	var kib int64
	_, _ = fmt.Sscan(rest, &kib)
	return kib << 10
}

func residentBytes() int64 { return statusBytes("VmRSS") }
func peakBytes() int64     { return statusBytes("VmHWM") }

func treeSize(root string) (n int64) {
	_ = filepath.Walk(root, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}

func storeSize(b *testing.B, s store.Store) (n int64) {
	objects, err := s.List(context.Background(), "")
	require.NoError(b, err)
	for _, o := range objects {
		n += o.Size
	}
	return n
}

// shardBytes is the size of the shard, without the parts before it.
func shardBytes(b *testing.B, s store.Store) (n int64) {
	objects, err := s.List(context.Background(), shard.Root)
	require.NoError(b, err)
	for _, o := range objects {
		if shard.KindOf(o.Key) == shard.KindShard {
			n = o.Size
		}
	}
	runtime.GC()
	return n
}
