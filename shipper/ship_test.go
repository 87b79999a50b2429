package shipper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

func TestMain(m *testing.M) {
	if spool := os.Getenv(longPod); spool != "" {
		playPod(spool)
	}
	packInterval, leastParts = 20*time.Millisecond, 100<<10
	spooltest.Main(m)
}

func openStore(t *testing.T) store.Store {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.S3Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func pod(n int) Identity {
	return Identity{Pod: fmt.Sprintf("worker-%d", n), PodUID: fmt.Sprintf("uid-%d", n), Namespace: "ns", Node: fmt.Sprintf("node-%d", n), Role: "worker", BootID: "boot"}
}

// finished is a rank that ran to its end.
func finished(launch string, rank, size int) *spooltest.Process {
	return spooltest.New(launch, rank, size).Init().Send(8, (rank+1)%size).Barrier().Finalize()
}

// quick are options for short waiting times.
func quick(t *testing.T, spool string, s store.Store, id Identity) Options {
	return Options{
		Spool: spool, Store: s, Identity: id, Grace: 2 * time.Second,
		Scan: 10 * time.Millisecond, Heartbeat: 50 * time.Millisecond, Checkpoint: 100 * time.Millisecond, Logf: t.Logf,
	}
}

// shipOnce ships what is in a spool, like a sidecar that has to end immediately.
func shipOnce(t *testing.T, spool string, s store.Store, id Identity) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return Ship(ctx, quick(t, spool, s, id))
}

// shipPatiently is shipOnce for tests that need everything to be uploaded.
func shipPatiently(t *testing.T, spool string, s store.Store, maxPack int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := quick(t, spool, s, pod(0))
	o.Logf, o.Grace, o.maxPack = nil, patient, maxPack
	require.Empty(t, Ship(ctx, o))
}

// readPod is a pod's last heartbeat. The first one may take a moment.
func readPod(t *testing.T, s store.Store, id Identity) shard.Pod {
	t.Helper()
	var p shard.Pod
	eventually(t, "a heartbeat", func() bool {
		err := shard.Read(context.Background(), s, shard.PodKey(id.PodUID), &p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return err == nil
	})
	return p
}

// manifests are those of a pod, by directory.
func manifests(t *testing.T, s store.Store, id Identity) map[string]shard.Manifest {
	t.Helper()
	objects, err := s.List(context.Background(), shard.Root+id.PodUID+"/")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]shard.Manifest{}
	for _, o := range objects {
		dir := filepath.Base(filepath.Dir(o.Key))
		if shard.KindOf(o.Key) == shard.KindManifest {
			var m shard.Manifest
			if err := shard.Read(context.Background(), s, o.Key, &m); err != nil {
				t.Fatal(err)
			}
			if !m.Empty() {
				found[dir] = m
			}
		}
	}
	return found
}

// countShards counts the shards of all pods.
func countShards(t *testing.T, s store.Store) int {
	t.Helper()
	objects, err := s.List(context.Background(), shard.Root)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, o := range objects {
		if shard.KindOf(o.Key) == shard.KindShard {
			n++
		}
	}
	return n
}

func content(t *testing.T, s store.Store, id Identity, dir string, m shard.Manifest) *trace.Content {
	t.Helper()
	r, err := s.ReaderAt(context.Background(), shard.Directory(id.PodUID, dir)+m.Shard)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	reader, err := trace.Open(r, r.Size())
	if err != nil {
		t.Fatal(err)
	}
	c, err := reader.Content()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// patient is the grace period of tests of what is uploaded, not of when: a race detector on a busy
// machine is slow.
const patient = 5 * time.Minute

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

func TestFinishedRanksBecomeOneShard(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	for rank := range 2 {
		finished("launch", rank, 4).Write(t, spool)
	}
	if lost := shipOnce(t, spool, s, pod(0)); len(lost) > 0 {
		t.Fatal(lost)
	}
	id := worldID("launch")
	all := manifests(t, s, pod(0))
	m := all[id]
	if len(all) != 1 || !m.Final || m.Size != 4 || len(m.Ranks) != 2 || m.Pod != "worker-0" || m.Node != "node-0" || m.LaunchID != "launch" || len(m.Problems) > 0 {
		t.Errorf("%+v", all)
	}
	if r := m.Ranks[1]; r.Rank != 1 || !r.Final || r.EndedEarly != "" || r.End <= r.StartRealtimeNS || r.Host != "host" {
		t.Errorf("%+v", r)
	}
	c := content(t, s, pod(0), id, m)
	if c.Meta.Final || c.Ranks.Len() != 2 || c.Ranks.At(0).Pod != "worker-0" || c.Ranks.At(0).Node != "node-0" || c.Threads.At(0).Calls != 4 || c.Meta.World != id {
		t.Errorf("%+v %+v", c.Meta, c.Ranks)
	}
	p := readPod(t, s, pod(0))
	if !p.Final || !p.Idle() || len(p.LostRanks) > 0 || len(p.Worlds) != 1 {
		t.Errorf("%+v", p)
	}
}

func TestEmptySpoolGivesAHeartbeat(t *testing.T) {
	s := openStore(t)
	if lost := shipOnce(t, t.TempDir(), s, pod(0)); len(lost) > 0 {
		t.Error(lost)
	}
	if p := readPod(t, s, pod(0)); !p.Final || p.Sequence == 0 {
		t.Errorf("%+v", p)
	}
}

func TestARankWhileItLivesAndAfterwards(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	live := spooltest.New("launch", 0, 1).Init().Barrier()
	end := spooltest.Hold(t, live.Write(t, spool))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Ship(ctx, quick(t, spool, s, pod(0)))
	}()
	defer func() { cancel(); <-done }()
	id := worldID("launch")
	eventually(t, "partial shard", func() bool {
		m, ok := manifests(t, s, pod(0))[id]
		return ok && !m.Final && len(m.Ranks) == 1 && !m.Ranks[0].Final && m.Ranks[0].EndedEarly == "running"
	})
	before := readPod(t, s, pod(0))
	if before.LiveProcesses != 1 || before.Idle() || before.Final {
		t.Errorf("%+v", before)
	}
	live.Finalize().Write(t, spool)
	end()
	eventually(t, "final shard", func() bool {
		m := manifests(t, s, pod(0))[id]
		return m.Final && m.Ranks[0].Final && m.Ranks[0].EndedEarly == "" && countShards(t, s) == 1
	})
	eventually(t, "idle heartbeat", func() bool {
		p := readPod(t, s, pod(0))
		return p.Idle() && !p.Final && p.Sequence > before.Sequence
	})
}

func TestAKilledRank(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	spooltest.New("launch", 0, 1).Init().Send(8, 0).Write(t, spool)
	shipOnce(t, spool, s, pod(0))
	m := manifests(t, s, pod(0))[worldID("launch")]
	if !m.Final || m.Ranks[0].EndedEarly != "after MPI_Send" {
		t.Errorf("%+v", m)
	}
}

func TestShippingAgainChangesNothing(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	finished("launch", 0, 1).Write(t, spool)
	shipOnce(t, spool, s, pod(0))
	first, before := manifests(t, s, pod(0)), readPod(t, s, pod(0))
	shipOnce(t, spool, s, pod(0))
	second, after := manifests(t, s, pod(0)), readPod(t, s, pod(0))
	if len(first) != 1 || len(second) != 1 || first[worldID("launch")].Shard != second[worldID("launch")].Shard {
		t.Errorf("%v, %v", first, second)
	}
	if n := countShards(t, s); n != 1 {
		t.Errorf("%d shards", n)
	}
	if after.Sequence <= before.Sequence {
		t.Errorf("sequence %d after %d", after.Sequence, before.Sequence)
	}
}

func TestWorldsOfSeveralLaunches(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	finished("a", 0, 1).Write(t, spool)
	again := finished("b", 0, 1)
	again.PID, again.Start = 7, 5_000_000_000
	again.Write(t, spool)
	// the same launch id once more, with ranks that have run already
	third := finished("a", 0, 1)
	third.PID, third.Start = 8, 9_000_000_000
	third.Write(t, spool)
	shipOnce(t, spool, s, pod(0))
	all := manifests(t, s, pod(0))
	if len(all) != 3 || all[worldID("a")].Ranks[0].PID != 100 || all[worldID("a")+"-1"].Ranks[0].PID != 8 || all[worldID("b")].Ranks[0].PID != 7 {
		t.Errorf("%+v", all)
	}
	if all[worldID("a")+"-1"].World != worldID("a") {
		t.Error("the second start has another world")
	}
}

func TestDamagedProcessesAreNamed(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	finished("launch", 0, 3).Write(t, spool)
	damaged := finished("launch", 1, 3).Write(t, spool)
	if err := os.WriteFile(filepath.Join(damaged, "state-0"), []byte("rubbish"), 0o644); err != nil {
		t.Fatal(err)
	}
	unreadable := finished("launch", 2, 3).Write(t, spool)
	if err := os.WriteFile(filepath.Join(unreadable, "process.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(spool, "lost+found"), 0o700); err != nil {
		t.Fatal(err)
	}
	if lost := shipOnce(t, spool, s, pod(0)); len(lost) > 0 {
		t.Error(lost)
	}
	m := manifests(t, s, pod(0))[worldID("launch")]
	if len(m.Ranks) == 0 || m.Ranks[0].Rank != 0 {
		t.Errorf("%+v", m)
	}
	problems := strings.Join(readPod(t, s, pod(0)).Problems, "\n")
	for _, dir := range []string{damaged, unreadable} {
		if !strings.Contains(problems, filepath.Base(dir)) {
			t.Errorf("%s is not named in %q", filepath.Base(dir), problems)
		}
	}
}

func TestARankThatDiedInInit(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	spooltest.New("launch", 0, 2).Write(t, spool)
	finished("launch", 1, 2).Write(t, spool)
	shipOnce(t, spool, s, pod(0))
	m := manifests(t, s, pod(0))[worldID("launch")]
	if len(m.Ranks) != 1 || m.Ranks[0].Rank != 1 || len(m.Problems) != 1 || !strings.Contains(m.Problems[0], "host-100-") {
		t.Errorf("%+v", m)
	}
}

// unreliable fails all requests while it is down.
type unreliable struct {
	store.Store
	mu   sync.Mutex
	down bool
}

func (u *unreliable) set(down bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.down = down
}

func (u *unreliable) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if err := u.fails(key); err != nil {
		return err
	}
	return u.Store.Put(ctx, key, r, size)
}

func (u *unreliable) PutIf(ctx context.Context, key string, r io.ReadSeeker, size int64, version string) (string, error) {
	if err := u.fails(key); err != nil {
		return "", err
	}
	return u.Store.PutIf(ctx, key, r, size, version)
}

func (u *unreliable) fails(key string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.down {
		return &store.Error{Op: "write", URL: u.URL(key), Reason: store.Unreachable, Message: "down", Err: errors.New("down")}
	}
	return nil
}

func TestStoreThatComesBack(t *testing.T) {
	t.Parallel()
	spool, s := t.TempDir(), &unreliable{Store: openStore(t), down: true}
	finished("launch", 0, 1).Write(t, spool)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := quick(t, spool, s, pod(0))
	o.Grace = 20 * time.Second
	time.AfterFunc(300*time.Millisecond, func() { s.set(false) })
	if lost := Ship(ctx, o); len(lost) > 0 {
		t.Error(lost)
	}
	if len(manifests(t, s, pod(0))) != 1 {
		t.Error("not uploaded")
	}
}

// A store that comes back shortly before the end of the grace period is in time: at the end pauses
// are short.
func TestStoreThatComesBackLate(t *testing.T) {
	before := t.TempDir()
	finished("launch", 0, 1).Write(t, before)
	// the encoder of traces keeps channels from its first use
	shipOnce(t, before, openStore(t), pod(0))
	for _, left := range []time.Duration{6 * time.Second, 1500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			spool, s := t.TempDir(), &unreliable{Store: openStore(t), down: true}
			finished("launch", 0, 1).Write(t, spool)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			o := quick(t, spool, s, pod(0))
			o.Grace = 30 * time.Second
			time.AfterFunc(o.Grace-o.reserve()-left, func() { s.set(false) })
			require.Empty(t, Ship(ctx, o))
			require.Len(t, manifests(t, s, pod(0)), 1)
		})
	}
}

func TestStoreThatStaysAway(t *testing.T) {
	t.Parallel()
	spool, s := t.TempDir(), &unreliable{Store: openStore(t), down: true}
	for rank := range 2 {
		finished("launch", rank, 4).Write(t, spool)
	}
	lost := shipOnce(t, spool, s, pod(0))
	if len(lost) != 1 || !strings.Contains(lost[0], "rank 0, rank 1") || !strings.Contains(lost[0], "down") {
		t.Errorf("%q", lost)
	}
}

func TestLastHeartbeatNamesLostRanks(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	dir := finished("launch", 0, 1).Write(t, spool)
	sh := newShip(quick(t, spool, s, pod(0)))
	sh.Report = func(Outcome) {}
	sh.lastHeartbeat(context.Background(), time.Now(), sh.report())
	p := readPod(t, s, pod(0))
	if !p.Final || len(p.LostRanks) != 1 || !strings.Contains(p.LostRanks[0], "rank 0") || p.Pending != 1 {
		t.Errorf("%s: %+v", dir, p)
	}
}

// symbolTable is a table in the format of tracer/symbols with one function at the fake's offset.
func symbolTable(t *testing.T, spool, buildID string) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"format": 1, "build_id": buildID, "module": "app",
		"functions": []string{"solve"}, "ranges": []int{0x0f00, 0x200}, "files": []string{"solve.c"}, "lines": []int{0x0f00, 0, 42}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(spool, "symbols"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(spool, "symbols", buildID+".json"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSitesGetNames(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	finished("launch", 0, 1).Write(t, spool)
	symbolTable(t, spool, "cafe")
	shipOnce(t, spool, s, pod(0))
	m := manifests(t, s, pod(0))[worldID("launch")]
	c := content(t, s, pod(0), worldID("launch"), m)
	if len(c.Sites) != 1 || c.Sites[0].Function != "solve" || c.Sites[0].File != "solve.c" || c.Sites[0].Line != 42 {
		t.Errorf("%+v", c.Sites)
	}
}

func TestSymbolsThatComeLate(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	dir := finished("launch", 0, 1).Write(t, spool)
	o := quick(t, spool, s, pod(0))
	ready := resolving(t, &o)
	running(t, o)
	sendBinary(t, spool, "cafe")
	id := worldID("launch")
	eventually(t, "shard", func() bool { return len(manifests(t, s, pod(0))) == 1 })
	time.Sleep(20 * o.Scan)
	require.DirExists(t, dir)
	ready()
	eventually(t, "names", func() bool { return hasNames(s, id, manifests(t, s, pod(0))[id].Shard) })
	eventually(t, "an empty spool", func() bool { return !exists(dir) })
}

// hasNames reports whether a shard's only call site has its name.
func hasNames(s store.Store, world, name string) bool {
	object, err := s.Get(context.Background(), shard.Directory("uid-0", world)+name)
	if err != nil {
		return false
	}
	defer object.Close()
	raw, err := io.ReadAll(object)
	if err != nil {
		return false
	}
	r, err := trace.Open(bytes.NewReader(raw), int64(len(raw)))
	return err == nil && len(r.Sites()) == 1 && r.Sites()[0].Function == "solve"
}

// tableStore writes a table of symbols when the first shard, which was made without it, is put.
type tableStore struct {
	store.Store
	write func()
}

func (s *tableStore) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if shard.KindOf(key) == shard.KindShard && s.write != nil {
		s.write()
		s.write = nil
	}
	return s.Store.Put(ctx, key, r, size)
}

// A table that comes while the shard is being put that was made without it.
func TestSymbolsThatComeDuringAnUpload(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	finished("launch", 0, 1).Write(t, spool)
	o := quick(t, spool, nil, pod(0))
	ready := resolving(t, &o)
	o.Store = &tableStore{s, ready}
	stop := running(t, o)
	sendBinary(t, spool, "cafe")
	emptied(t, spool)
	require.Empty(t, stop())
	id := worldID("launch")
	require.True(t, hasNames(s, id, manifests(t, s, pod(0))[id].Shard))
}

// The end of the pod waits for names, after what there is was uploaded.
func TestSymbolsThatComeAtTheEnd(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	finished("launch", 0, 1).Write(t, spool)
	o := quick(t, spool, s, pod(0))
	o.Grace = 20 * time.Second
	ready := resolving(t, &o)
	stop := running(t, o)
	sendBinary(t, spool, "cafe")
	time.AfterFunc(time.Second, ready)
	require.Empty(t, stop())
	id := worldID("launch")
	require.True(t, hasNames(s, id, manifests(t, s, pod(0))[id].Shard))
}

// resolving replaces the resolver by one that has a result only when ready is called.
func resolving(t *testing.T, o *Options) (ready func()) {
	t.Helper()
	made := t.TempDir()
	table := filepath.Join(made, "symbols", "cafe.json")
	o.Resolver = []string{"sh", "-c", "while [ ! -s " + table + " ]; do sleep 0.02; done; cat " + table}
	return func() { symbolTable(t, made, "cafe") }
}

// sendBinary sends a binary as a rank does, once somebody listens.
func sendBinary(t *testing.T, spool, buildID string) {
	t.Helper()
	eventually(t, "a listener", func() bool { return exists(filepath.Join(spool, "symbols", "socket")) })
	binary, err := os.Open(os.Args[0])
	require.NoError(t, err)
	defer binary.Close()
	require.NoError(t, spooltest.Send(spool, buildID+"\x00/app", binary))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestRunLocal(t *testing.T) {
	spool, out := t.TempDir(), t.TempDir()
	for rank := range 3 {
		finished("first", rank, 3).Write(t, spool)
	}
	runs, problems, err := RunLocal(context.Background(), LocalOptions{Spool: spool, Out: out})
	if err != nil || len(problems) > 0 || len(runs) != 1 {
		t.Fatal(runs, problems, err)
	}
	if r := runs[0]; r.Trace != filepath.Join(out, "trace.cairn") || r.Summary.Ranks != 3 || r.Summary.Calls != 12 || len(r.Processes) != 3 || !r.Content.Meta.Final {
		t.Errorf("%+v", r)
	}
	later := finished("second", 0, 2)
	later.Start, later.PID = 7_000_000_000, 1
	later.Write(t, spool)
	runs, _, err = RunLocal(context.Background(), LocalOptions{Spool: spool, Out: out})
	if err != nil || len(runs) != 2 || runs[1].Trace != filepath.Join(out, "run-1-app", "trace.cairn") || runs[1].Summary.Missing.String() != "1" {
		t.Fatalf("%+v %v", runs, err)
	}
	file, err := os.Open(runs[1].Trace)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, _ := file.Stat()
	if _, err := trace.Open(file, info.Size()); err != nil {
		t.Error(err)
	}
}

func TestRunLocalWithNothing(t *testing.T) {
	if _, _, err := RunLocal(context.Background(), LocalOptions{Spool: t.TempDir(), Out: t.TempDir()}); !errors.Is(err, ErrNothingTraced) {
		t.Errorf("%v", err)
	}
}

// A trace that cannot be written to its place, for example on a full disk, is written elsewhere.
func TestRunLocalWithoutRoomForTheTrace(t *testing.T) {
	spool, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", elsewhere)
	finished("launch", 0, 1).Write(t, spool)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	options := LocalOptions{Spool: spool, Out: filepath.Join(file, "out")}
	runs, problems, err := RunLocal(context.Background(), options)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.ErrorIs(t, runs[0].Misplaced, syscall.ENOTDIR)
	require.Equal(t, elsewhere, filepath.Dir(runs[0].Directory))
	require.Equal(t, filepath.Join(runs[0].Directory, TraceFile), runs[0].Trace)
	raw, err := os.ReadFile(runs[0].Trace)
	require.NoError(t, err)
	_, err = trace.Open(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)

	t.Setenv("TMPDIR", options.Out)
	_, _, err = RunLocal(context.Background(), options)
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

func TestRunLocalWaitsForRanks(t *testing.T) {
	spool, out := t.TempDir(), t.TempDir()
	end := spooltest.Hold(t, finished("launch", 0, 1).Write(t, spool))
	time.AfterFunc(200*time.Millisecond, end)
	runs, _, err := RunLocal(context.Background(), LocalOptions{Spool: spool, Out: out})
	if err != nil || len(runs) != 1 || runs[0].Content.Ranks.At(0).EndedEarly != "" {
		t.Fatalf("%+v %v", runs, err)
	}
}

// TestInlinedFramesInCallPaths: solve calls relax, which was inlined and calls MPI at two places;
// and something that has no name calls solve. By hand: a call path of two frames becomes one of
// three, whose middle both calls share; without paths the innermost function is all there is.
func TestInlinedFramesInCallPaths(t *testing.T) {
	spool := t.TempDir()
	raw, err := json.Marshal(map[string]any{"format": 1, "build_id": "cafe", "module": "app",
		"functions": []string{"solve"}, "ranges": []int{0x0f00, 0x200}, "files": []string{"solve.c", "relax.h"},
		"lines":   []int{0x0f00, 0, 42, 0x90, 1, -35, 0x10, 1, 2, 0x30, 0, 34},
		"inlined": []string{"relax"}, "instances": []int{0, 0, 0, 43, 0x0f90}, "stretches": []int{0x0f90, 1, 0x40, 0}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(spool, "symbols"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(spool, "symbols", "cafe.json"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	site := func(offset uint64, function, file string, line int, caller uint32) trace.Site {
		return trace.Site{BuildID: "cafe", Module: "app", Offset: offset, Function: function, File: file, Line: line, Caller: caller}
	}
	for _, mode := range []string{"path", "caller"} {
		c := &trace.Content{
			Meta: trace.Meta{CallSites: mode},
			Sites: []trace.Site{
				{BuildID: "beef", Module: "libc", Offset: 7},
				{BuildID: "cafe", Module: "app", Offset: 0xf98, Caller: 1},
				{BuildID: "cafe", Module: "app", Offset: 0xfa8, Caller: 1},
				{BuildID: "cafe", Module: "app", Offset: 0xff0, Caller: 1},
			},
			Signatures:  []trace.Signature{{Site: 2}, {Site: 3}, {Site: 4, In: []trace.Value{{Form: trace.Code, Int: 4}}}},
			Allocations: []trace.Allocation{{Site: 3}, {}},
		}
		newSymbolTables(spool, false).apply(c, nil)
		assert.Equal(t, []trace.Site{
			{BuildID: "beef", Module: "libc", Offset: 7},
			site(0xf91, "solve", "solve.c", 43, 1),
			site(0xf98, "relax", "relax.h", 7, 2),
			site(0xfa8, "relax", "relax.h", 9, 2),
			site(0xff0, "solve", "solve.c", 43, 1),
		}, c.Sites)
		assert.Equal(t, []uint32{3, 4, 5}, []uint32{c.Signatures[0].Site, c.Signatures[1].Site, c.Signatures[2].Site})
		assert.Equal(t, int64(5), c.Signatures[2].In[0].Int)
		assert.Equal(t, []trace.Allocation{{Site: 4}, {}}, c.Allocations)
	}
}
