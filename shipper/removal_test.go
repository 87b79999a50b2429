package shipper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/tracer/budget"
	spooldir "github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// running starts a sidecar. The returned function ends it and returns what was lost.
func running(t *testing.T, o Options) (end func() []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	lost := make(chan []string, 1)
	go func() { lost <- Ship(ctx, o) }()
	end = sync.OnceValue(func() []string { cancel(); return <-lost })
	t.Cleanup(func() { end() })
	return end
}

// killed starts a sidecar that ends without a last heartbeat, as if it were killed.
func killed(t *testing.T, o Options) (kill func()) {
	t.Helper()
	o.complete()
	s := newShip(o)
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { s.beat(ctx) })
	wait.Go(func() { s.watch(ctx) })
	kill = sync.OnceFunc(func() { cancel(); wait.Wait() })
	t.Cleanup(kill)
	return kill
}

// collected are all processes in the store by host, pid and start, with the number of their calls;
// those that are in several shards count as the merge counts them.
func collected(t *testing.T, s store.Store, id Identity) map[string]uint64 {
	t.Helper()
	calls := map[string]uint64{}
	for dir, m := range manifests(t, s, id) {
		c := content(t, s, id, dir, m)
		for i, r := range c.Ranks.All() {
			key := fmt.Sprintf("%s-%d-%d", r.Host, r.PID, r.StartRealtimeNS)
			calls[key] = max(calls[key], c.Threads.At(i).Calls)
		}
	}
	return calls
}

func keyOfProcess(p *spooltest.Process) string {
	return fmt.Sprintf("%s-%d-%d", p.Host, p.PID, p.Start)
}

// processDirectories are those in a spool.
func processDirectories(t *testing.T, spool string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(spool, "*", "process.json"))
	require.NoError(t, err)
	return names
}

func emptied(t *testing.T, spool string) {
	t.Helper()
	eventually(t, "an empty spool", func() bool {
		hidden, _ := filepath.Glob(filepath.Join(spool, ".removed-*"))
		return len(processDirectories(t, spool)) == 0 && len(hidden) == 0
	})
}

// 100 launches one after the other, as in a launcher's script: the spool holds a few of them at any
// time, and the store all of them at the end.
func TestManyLaunchesOneAfterTheOther(t *testing.T) {
	const ranks = 3
	launches := 100
	if testing.Short() {
		launches = 30
	}
	spool, s := t.TempDir(), openStore(t)
	o := quick(t, spool, s, pod(0))
	o.Logf = nil
	running(t, o)
	most := 0
	for n := range launches {
		for rank := range ranks {
			p := finished(fmt.Sprintf("launch-%d", n), rank, ranks)
			p.PID, p.Start = 1000*n+rank, p.Start+int64(n)*1e9
			p.Write(t, spool)
		}
		eventually(t, "the spool is emptied meanwhile", func() bool { return len(processDirectories(t, spool)) < 10*ranks })
		most = max(most, len(processDirectories(t, spool)))
	}
	emptied(t, spool)
	all := collected(t, s, pod(0))
	require.Len(t, all, launches*ranks)
	for _, calls := range all {
		require.EqualValues(t, 4, calls)
	}
	p := readPod(t, s, pod(0))
	require.Empty(t, p.Problems)
	t.Logf("at most %d directories", most)
}

// A process of a launch that starts when the others have left the spool goes to another shard, with
// the same sidecar and with a later one without its state.
func TestLateProcessOfALaunch(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprint("another sidecar: ", again), func(t *testing.T) {
			spool, s := t.TempDir(), openStore(t)
			kill := killed(t, quick(t, spool, s, pod(0)))
			finished("launch", 0, 3).Write(t, spool)
			finished("launch", 1, 3).Write(t, spool)
			emptied(t, spool)
			before := manifests(t, s, pod(0))
			if again {
				kill()
				running(t, quick(t, spool, s, pod(0)))
			}
			finished("launch", 2, 3).Write(t, spool)
			emptied(t, spool)
			all := manifests(t, s, pod(0))
			require.Len(t, all, 2)
			require.Equal(t, before[worldID("launch")], all[worldID("launch")], "what is there for good is not touched")
			require.Len(t, all[worldID("launch")+"-1"].Ranks, 1)
			require.Len(t, collected(t, s, pod(0)), 3)
		})
	}
}

// Ranks that end while others live leave the spool with the next checkpoint.
func TestEndedRanksOfALongLaunchLeave(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	live := spooltest.New("launch", 0, 2).Init().Barrier()
	end := spooltest.Hold(t, live.Write(t, spool))
	running(t, quick(t, spool, s, pod(0)))
	for n := range 5 { // one after the other
		p := finished("launch", 1, 2)
		p.PID, p.Start = 500+n, p.Start+int64(n)*1e9
		dir := p.Write(t, spool)
		eventually(t, "it leaves", func() bool { return !exists(dir) })
		require.True(t, exists(filepath.Join(spool, live.Directory())))
	}
	live.Finalize().Write(t, spool)
	end()
	emptied(t, spool)
	all := collected(t, s, pod(0))
	require.Len(t, all, 6)
	require.EqualValues(t, 3, all[keyOfProcess(live)])
	for dir, m := range manifests(t, s, pod(0)) {
		require.True(t, m.Final, dir)
	}
}

// steps is a store that stops the sidecar before its nth request, as if it were killed there.
type steps struct {
	store.Store
	mu   sync.Mutex
	left int
	dead chan struct{}
}

var errDead = errors.New("killed")

func (s *steps) step() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left == -1 {
		close(s.dead)
	}
	if s.left < 0 {
		return errDead
	}
	return nil
}

func (s *steps) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if err := s.step(); err != nil {
		return err
	}
	return s.Store.Put(ctx, key, r, size)
}

func (s *steps) PutIf(ctx context.Context, key string, r io.ReadSeeker, size int64, version string) (string, error) {
	if err := s.step(); err != nil {
		return "", err
	}
	return s.Store.PutIf(ctx, key, r, size, version)
}

func (s *steps) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := s.step(); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, key)
}

func (s *steps) List(ctx context.Context, prefix string) ([]store.Object, error) {
	if err := s.step(); err != nil {
		return nil, err
	}
	return s.Store.List(ctx, prefix)
}

func (s *steps) Delete(ctx context.Context, key string) error {
	if err := s.step(); err != nil {
		return err
	}
	return s.Store.Delete(ctx, key)
}

func (s *steps) Stat(ctx context.Context, key string) (store.Object, error) {
	if err := s.step(); err != nil {
		return store.Object{}, err
	}
	return s.Store.Stat(ctx, key)
}

// With a sidecar that is killed at any request, and another one that continues, every process is
// completely in the store, whatever was in the spool.
func TestKilledAtEveryStep(t *testing.T) {
	for n := range 40 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			spool, s := t.TempDir(), openStore(t)
			live := spooltest.New("launch", 0, 3).Init().Barrier()
			end := spooltest.Hold(t, live.Write(t, spool))
			first := finished("launch", 1, 3)
			first.Write(t, spool)
			other := finished("other", 0, 1)
			other.PID = 900
			other.Write(t, spool)
			dying := &steps{Store: s, left: n, dead: make(chan struct{})}
			kill := killed(t, quick(t, spool, dying, pod(0)))
			select {
			case <-dying.dead:
			case <-time.After(3 * time.Second): // it makes fewer requests
			}
			kill()
			live.Send(8, 1).Finalize().Write(t, spool)
			end()
			late := finished("launch", 2, 3)
			late.Write(t, spool)
			stop := running(t, quick(t, spool, s, pod(0)))
			emptied(t, spool)
			require.Empty(t, stop())
			all := collected(t, s, pod(0))
			require.Len(t, all, 4)
			require.EqualValues(t, 4, all[keyOfProcess(live)])
			require.EqualValues(t, 4, all[keyOfProcess(first)])
			require.EqualValues(t, 4, all[keyOfProcess(late)])
			for dir, m := range manifests(t, s, pod(0)) {
				require.True(t, m.Final, dir)
			}
		})
	}
}

// forgetful is a store that reports success and keeps nothing, or half.
type forgetful struct {
	store.Store
	mu     sync.Mutex
	broken bool
}

func (f *forgetful) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	f.mu.Lock()
	broken := f.broken && strings.HasSuffix(key, shard.Extension)
	f.mu.Unlock()
	if broken {
		return f.Store.Put(ctx, key, strings.NewReader("half"), 4)
	}
	return f.Store.Put(ctx, key, r, size)
}

func TestNothingLeavesBeforeTheStoreHasProvedToHaveIt(t *testing.T) {
	t.Parallel()
	spool, s := t.TempDir(), &forgetful{Store: openStore(t), broken: true}
	dir := finished("launch", 0, 1).Write(t, spool)
	running(t, quick(t, spool, s, pod(0)))
	eventually(t, "manifest", func() bool { return len(manifests(t, s, pod(0))) == 1 })
	time.Sleep(300 * time.Millisecond)
	require.True(t, exists(filepath.Join(dir, "process.json")))
	s.mu.Lock()
	s.broken = false
	s.mu.Unlock()
	emptied(t, spool)
	require.Len(t, collected(t, s, pod(0)), 1)
}

// A shipper that was killed while it removed a directory leaves no process with half of its calls.
func TestHalfRemovedDirectory(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	dir := finished("launch", 0, 1).Write(t, spool)
	require.NoError(t, os.Rename(dir, filepath.Join(spool, removedPrefix+filepath.Base(dir))))
	running(t, quick(t, spool, s, pod(0)))
	emptied(t, spool)
	require.Empty(t, manifests(t, s, pod(0)))
}

// The buffers of a process on a tmpfs leave with its directory, also after a shipper was killed
// in between. Others' stay.
func TestBuffersOnTmpfsLeave(t *testing.T) {
	spool, tmpfs, s := t.TempDir(), t.TempDir(), openStore(t)
	require.NoError(t, os.Symlink(tmpfs, filepath.Join(spool, spooldir.TmpfsLink)))
	living := finished("launch", 2, 3)
	for rank := range 2 {
		dir := finished("launch", rank, 2).Write(t, spool)
		moved := filepath.Join(tmpfs, filepath.Base(dir))
		require.NoError(t, os.Mkdir(moved, 0o777))
		ring := filepath.Join(moved, "ring-0.seg")
		require.NoError(t, os.Rename(filepath.Join(dir, "0-0.seg"), ring))
		require.NoError(t, os.Truncate(ring, 64<<17)) // other slots are not used
		if rank == 1 {
			require.NoError(t, os.Rename(dir, filepath.Join(spool, removedPrefix+filepath.Base(dir))))
		}
	}
	require.NoError(t, os.Mkdir(filepath.Join(tmpfs, living.Directory()), 0o777))
	running(t, quick(t, spool, s, pod(0)))
	emptied(t, spool)
	all := collected(t, s, pod(0))
	require.Len(t, all, 1)
	require.EqualValues(t, 4, all[keyOfProcess(finished("launch", 0, 2))])
	left, err := os.ReadDir(tmpfs)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, living.Directory(), left[0].Name())
}

// Processes without a description so far, running ones, and unusable ones.
func TestWhatStaysInTheSpool(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	starting := filepath.Join(spool, "host-1-starting")
	require.NoError(t, os.Mkdir(starting, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(starting, "lock"), nil, 0o644))
	end := spooltest.Hold(t, starting)
	for n := range maxKept + 3 {
		p := finished("broken", n, maxKept+3)
		require.NoError(t, os.WriteFile(filepath.Join(p.Write(t, spool), "state-0"), []byte("rubbish"), 0o644))
	}
	silent := spooltest.New("silent", 0, 1)
	silent.PID = 900
	silent.Write(t, spool)
	running(t, quick(t, spool, s, pod(0)))
	eventually(t, "only so many are kept", func() bool { return len(processDirectories(t, spool)) == maxKept })
	require.True(t, exists(starting))
	var p shard.Pod
	eventually(t, "heartbeat", func() bool {
		p = readPod(t, s, pod(0))
		return p.LiveProcesses == 1 && p.Pending == 0
	})
	for n := range maxKept + 3 {
		name := finished("broken", n, 1).Directory()
		require.True(t, slices.ContainsFunc(p.Problems, func(s string) bool { return strings.Contains(s, name) }), name)
	}
	require.Contains(t, strings.Join(p.Problems, "\n"), "left no call")
	end()
	eventually(t, "idle", func() bool { p = readPod(t, s, pod(0)); return p.Idle() })
}

// A spool that cannot be opened at first has an account as soon as it can.
func TestAccountIsTriedAgain(t *testing.T) {
	spool := filepath.Join(t.TempDir(), "spool")
	o := quick(t, spool, openStore(t), pod(0))
	o.SpoolLimit = 1 << 20
	end := running(t, o)
	time.Sleep(50 * time.Millisecond)
	require.NoError(t, os.Mkdir(spool, 0o777))
	eventually(t, "the account", func() bool { return exists(filepath.Join(spool, budget.File)) })
	require.Empty(t, end())
}

// Processes that started when the spool was full: for some there is a count of their calls, for
// others not even that. Both are reported, by later sidecars, too, when nothing of them is in the
// spool any more.
func TestProcessesThatFoundNoRoom(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	o := quick(t, spool, s, pod(0))
	o.SpoolLimit = 1 << 20
	kill := killed(t, o)
	silent := spooltest.New("silent", 3, 4)
	dir := silent.Write(t, t.TempDir())
	life := append([]byte("CAIRNLF1"), make([]byte, 7*8)...)
	binary.NativeEndian.PutUint64(life[8+5*8:], 1234)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "observed"), life, 0o644))
	eventually(t, "the account", func() bool { return exists(filepath.Join(spool, budget.File)) })
	account, err := os.OpenFile(filepath.Join(spool, budget.File), os.O_RDWR, 0)
	require.NoError(t, err)
	defer account.Close()
	_, err = account.WriteAt([]byte{2}, 3*8)
	require.NoError(t, err)
	require.NoError(t, os.Rename(dir, filepath.Join(spool, silent.Directory())))
	said := func() bool {
		p := readPod(t, s, pod(0))
		return p.Refused == 2 && len(p.Unrecorded) == 1 && strings.Contains(p.Unrecorded[0], silent.Directory()) &&
			strings.Contains(p.Unrecorded[0], "none of its 1234 calls is known")
	}
	emptied(t, spool)
	eventually(t, "it is told", said)
	kill()
	require.Empty(t, running(t, o)())
	require.True(t, said(), "%+v", readPod(t, s, pod(0)))
}

// Problems of removed processes that earlier sidecars reported are reported by later ones.
func TestProblemsAreRemembered(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	kill := killed(t, quick(t, spool, s, pod(0)))
	silent := spooltest.New("silent", 0, 1)
	silent.Write(t, spool)
	emptied(t, spool)
	kill()
	require.Empty(t, running(t, quick(t, spool, s, pod(0)))())
	require.Contains(t, strings.Join(readPod(t, s, pod(0)).Problems, "\n"), silent.Directory())
}

// Ranks run as another user: their directories have mode 0777, and the owner of the sticky spool
// may remove their files.
func TestDirectoriesOfAnotherUser(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	require.NoError(t, os.Chmod(spool, 0o777|os.ModeSticky))
	dir := finished("launch", 0, 1).Write(t, spool)
	require.NoError(t, os.Chmod(dir, 0o777))
	if os.Getuid() == 0 {
		require.NoError(t, unix.Chown(dir, 1000, 1000))
	}
	running(t, quick(t, spool, s, pod(0)))
	emptied(t, spool)
}

// The spool's own directory may contain anything: nothing outside of it is read, nothing blocks,
// and nothing of it is reported.
func TestOddThingsInTheSpool(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	secret := filepath.Join(t.TempDir(), "secretKey")
	require.NoError(t, os.WriteFile(secret, []byte("topsecret"), 0o600))
	odd := map[string]func(path string) error{
		"link":      func(path string) error { return os.Symlink(secret, path) },
		"FIFO":      func(path string) error { return unix.Mkfifo(path, 0o666) },
		"directory": func(path string) error { return os.Mkdir(path, 0o777) },
		"text":      func(path string) error { return os.WriteFile(path, []byte("topsecret"), 0o644) },
	}
	n := 0
	var names []string
	for what, put := range odd {
		for _, file := range []string{"process.json", "0-0.seg", "lock", "state-0"} {
			if file != "process.json" && what == "text" {
				continue
			}
			n++
			p := finished("launch-"+what+file, 0, 1)
			p.PID = 10_000 + n
			dir := p.Write(t, spool)
			require.NoError(t, os.RemoveAll(filepath.Join(dir, file)))
			require.NoError(t, put(filepath.Join(dir, file)))
			names = append(names, p.Directory())
		}
	}
	require.NoError(t, os.Symlink(filepath.Dir(secret), filepath.Join(spool, "linked")))
	require.NoError(t, unix.Mkfifo(filepath.Join(spool, "fifo"), 0o666))
	require.NoError(t, os.Symlink(filepath.Dir(secret), filepath.Join(spool, "symbols")))
	finished("good", 0, 1).Write(t, spool)
	end := running(t, quick(t, spool, s, pod(0)))
	eventually(t, "the good one", func() bool { return len(manifests(t, s, pod(0))) >= 1 })
	eventually(t, "all are named", func() bool {
		text := strings.Join(readPod(t, s, pod(0)).Problems, "\n")
		return !slices.ContainsFunc(names, func(name string) bool { return !strings.Contains(text, name) })
	})
	begun := time.Now()
	end()
	require.Less(t, time.Since(begun), 2*time.Second)
	text := strings.Join(readPod(t, s, pod(0)).Problems, "\n")
	for _, leak := range []string{"topsecret", "'o'", "invalid character"} {
		require.NotContains(t, text, leak)
	}
	require.FileExists(t, secret)
}
