package collect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

func openStore(t *testing.T) store.Store {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.S3Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func identity(pod int) shipper.Identity {
	return shipper.Identity{Pod: fmt.Sprintf("worker-%d", pod), PodUID: fmt.Sprintf("uid-%d", pod), Node: "node", Role: "worker"}
}

// ship uploads the shards of one pod with these processes.
func ship(t *testing.T, s store.Store, pod int, processes ...*spooltest.Process) {
	t.Helper()
	spool := t.TempDir()
	for _, p := range processes {
		p.Write(t, spool)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	lost := shipper.Ship(ctx, shipper.Options{Spool: spool, Store: s, Identity: identity(pod)})
	if len(lost) > 0 {
		t.Fatal(lost)
	}
}

func rank(launch string, rank, size int, start int64) *spooltest.Process {
	p := spooltest.New(launch, rank, size)
	p.Start += start
	return p.Init().Send(4, (rank+1)%size).Barrier().Finalize()
}

func merge(t *testing.T, s store.Store, o Options) *Result {
	t.Helper()
	o.Logf = t.Logf
	r, err := Merge(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const patience = 10 * time.Second

func TestOneRun(t *testing.T) {
	s := openStore(t)
	ship(t, s, 0, rank("w", 0, 4, 0), rank("w", 1, 4, 0))
	ship(t, s, 1, rank("w", 2, 4, 0), rank("w", 3, 4, 0))
	ship(t, s, 2) // the launcher
	begun := time.Now()
	r := merge(t, s, Options{CollectTimeout: patience, Pods: 3, CreatedBy: "v1"})
	if time.Since(begun) > patience/2 { // it does not wait
		t.Errorf("took %s", time.Since(begun))
	}
	if len(r.Runs) != 1 || len(r.Lost) > 0 || len(r.Problems) > 0 {
		t.Fatalf("%+v", r)
	}
	run := r.Runs[0]
	if run.ID != "0/0" || run.Ranks != 4 || run.MissingRanks != "" || run.Calls != 16 || run.TraceURI != s.URL("0/0/trace.cairn") || run.ParallelEfficiencyPercent == nil {
		t.Errorf("%+v", run)
	}
	object, err := s.ReaderAt(context.Background(), "0/0/trace.cairn")
	if err != nil {
		t.Fatal(err)
	}
	defer object.Close()
	reader, err := trace.Open(object, object.Size())
	if err != nil {
		t.Fatal(err)
	}
	if m := reader.Meta(); !m.Final || m.CreatedBy != "v1" || m.WorldSize != 4 || object.Size() != run.TraceBytes {
		t.Errorf("%+v", m)
	}
	var m RunManifest
	if err := shard.Read(context.Background(), s, "0/0/manifest.json", &m); err != nil || m.Ranks != 4 || m.TraceSHA256 == "" {
		t.Errorf("%+v %v", m, err)
	}
	// once more: the same bytes
	again := merge(t, s, Options{CollectTimeout: patience, Pods: 3, CreatedBy: "v1"})
	var n RunManifest
	if err := shard.Read(context.Background(), s, "0/0/manifest.json", &n); err != nil || n.TraceSHA256 != m.TraceSHA256 {
		t.Errorf("%+v %+v %v", again, n, err)
	}
}

func TestAttemptsAndRuns(t *testing.T) {
	s := openStore(t)
	const second = int64(time.Second)
	ship(t, s, 0, rank("a", 0, 2, 100*second), rank("b", 0, 1, 200*second), rank("c", 0, 2, 300*second))
	ship(t, s, 1, rank("a", 1, 2, 100*second), rank("c", 1, 2, 300*second))
	attempts, err := ParseAttempts(`[{"attempt":1,"pod_uid":"p","restart_count":1,"started_at":"1970-01-01T00:04:55Z"},{"attempt":0,"pod_uid":"p","restart_count":0,"started_at":"1970-01-01T00:01:30Z"}]`)
	if err != nil {
		t.Fatal(err)
	}
	r := merge(t, s, Options{CollectTimeout: patience, Pods: 2, Attempts: attempts})
	var ids []string
	for _, run := range r.Runs {
		ids = append(ids, fmt.Sprintf("%s:%d", run.ID, run.Ranks))
	}
	if got := strings.Join(ids, " "); got != "0/0:2 0/1:1 1/0:2" {
		t.Errorf("%s", got)
	}
}

func TestAttemptOfAClockThatIsLate(t *testing.T) {
	attempts := []Attempt{{Attempt: 0, StartedAt: time.Unix(100, 0), FinishedAt: time.Unix(180, 0)}, {Attempt: 1, StartedAt: time.Unix(200, 0)}}
	for seconds, want := range map[int64]int{50: 0, 100: 0, 150: 0, 199: 1, 200: 1, 300: 1} {
		if got := attemptOf(attempts, seconds*int64(time.Second)); got != want {
			t.Errorf("%d s: attempt %d, want %d", seconds, got, want)
		}
	}
	// a container that is restarted at once
	attempts = []Attempt{{Attempt: 0, StartedAt: time.Unix(51, 0), FinishedAt: time.Unix(53, 0)}, {Attempt: 1, StartedAt: time.Unix(56, 0)}}
	for at, want := range map[time.Duration]int{51500: 0, 52500: 0, 53900: 0, 54500: 1, 56000: 1} {
		if got := attemptOf(attempts, (at * time.Millisecond).Nanoseconds()); got != want {
			t.Errorf("%d ms: attempt %d, want %d", at, got, want)
		}
	}
	if attemptOf(nil, 5) != 0 {
		t.Error("without attempts")
	}
	if _, err := ParseAttempts("{"); err == nil {
		t.Error("no error")
	}
}

func TestMissingRanksAfterIdleHeartbeats(t *testing.T) {
	s := openStore(t)
	ship(t, s, 0, rank("w", 0, 3, 0))
	ship(t, s, 1)
	begun := time.Now()
	r := merge(t, s, Options{CollectTimeout: time.Minute, Pods: 2})
	if time.Since(begun) > 5*time.Second {
		t.Errorf("waited %s for pods that are final", time.Since(begun))
	}
	if len(r.Runs) != 1 || r.Runs[0].MissingRanks != "1-2" || r.Runs[0].Ranks != 3 {
		t.Errorf("%+v", r)
	}
}

// heartbeat writes one like a running sidecar.
func heartbeat(t *testing.T, s store.Store, pod int, change func(p *shard.Pod)) {
	t.Helper()
	id := identity(pod)
	p := shard.Pod{Pod: id.Pod, PodUID: id.PodUID, Sequence: 1}
	change(&p)
	if err := shard.Write(context.Background(), s, shard.PodKey(id.PodUID), &p); err != nil {
		t.Fatal(err)
	}
}

func TestWaitsForABusyPod(t *testing.T) {
	s := openStore(t)
	ship(t, s, 0, rank("w", 0, 2, 0))
	heartbeat(t, s, 1, func(p *shard.Pod) { p.LiveProcesses = 1 })
	time.AfterFunc(1500*time.Millisecond, func() { ship(t, s, 1, rank("w", 1, 2, 0)) })
	r := merge(t, s, Options{CollectTimeout: patience, Pods: 2})
	if len(r.Runs) != 1 || r.Runs[0].MissingRanks != "" || len(r.Problems) > 0 {
		t.Errorf("%+v", r)
	}
}

func TestIdlePodsThatBeatAgain(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	ship(t, s, 0, rank("w", 0, 2, 0))
	heartbeat(t, s, 1, func(p *shard.Pod) {})
	time.AfterFunc(500*time.Millisecond, func() { heartbeat(t, s, 1, func(p *shard.Pod) { p.Sequence = 2 }) })
	time.AfterFunc(2500*time.Millisecond, func() { heartbeat(t, s, 1, func(p *shard.Pod) { p.Sequence = 3 }) })
	begun := time.Now()
	r := merge(t, s, Options{CollectTimeout: time.Minute, Pods: 2})
	if waited := time.Since(begun); waited < 2*time.Second || waited > 10*time.Second {
		t.Errorf("waited %s", waited)
	}
	if r.Runs[0].MissingRanks != "1" {
		t.Errorf("%+v", r)
	}
}

// What a pod could not record is lost, like what it could not upload, even without any run.
func TestProcessesThatFoundNoRoom(t *testing.T) {
	s := openStore(t)
	ship(t, s, 0, rank("w", 0, 1, 0))
	heartbeat(t, s, 1, func(p *shard.Pod) {
		p.Final, p.Refused, p.Unrecorded = true, 2, []string{"rank 3: none of its 9 calls"}
	})
	r := merge(t, s, Options{CollectTimeout: patience, Pods: 2})
	require.Equal(t, []string{"worker-1: 2 processes were not traced: they found no room in the spool, or could not write to it", "worker-1: rank 3: none of its 9 calls"}, r.Lost)
	require.Len(t, r.Runs, 1)
}

func TestTimeIsUp(t *testing.T) {
	s := openStore(t)
	ship(t, s, 0, rank("w", 0, 2, 0))
	heartbeat(t, s, 1, func(p *shard.Pod) { p.LiveProcesses = 3; p.LostRanks = []string{"world w, rank 1: no"} })
	r := merge(t, s, Options{CollectTimeout: 300 * time.Millisecond, Pods: 4})
	if len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "worker-1 (3 running") || !strings.Contains(r.Problems[0], "2 pods that left no sign") {
		t.Errorf("%q", r.Problems)
	}
	if len(r.Lost) != 1 || r.Lost[0] != "worker-1: world w, rank 1: no" {
		t.Errorf("%q", r.Lost)
	}
}

func TestPartialShardCountsWithoutAFinalOne(t *testing.T) {
	s := openStore(t)
	live := spooltest.New("w", 1, 2).Init().Barrier()
	spool := t.TempDir()
	end := spooltest.Hold(t, live.Write(t, spool))
	defer end()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	shipper.Ship(ctx, shipper.Options{Spool: spool, Store: s, Identity: identity(1)})
	ship(t, s, 0, rank("w", 0, 2, 0))
	r := merge(t, s, Options{CollectTimeout: 300 * time.Millisecond, Pods: 2})
	if len(r.Runs) != 1 || r.Runs[0].Ranks != 2 || r.Runs[0].Calls != 6 {
		t.Errorf("%+v", r)
	}
}

func TestDamagedShardIsNamed(t *testing.T) {
	s := openStore(t)
	ctx := context.Background()
	ship(t, s, 0, rank("w", 0, 2, 0))
	ship(t, s, 1, rank("w", 1, 2, 0))
	objects, err := s.List(ctx, shard.Directory("uid-1", ""))
	if err != nil {
		t.Fatal(err)
	}
	damage := func(kind shard.Kind, content string) string {
		for _, o := range objects {
			if shard.KindOf(o.Key) == kind {
				if err := s.Put(ctx, o.Key, strings.NewReader(content), int64(len(content))); err != nil {
					t.Fatal(err)
				}
				return o.Key
			}
		}
		t.Fatal("no such object")
		return ""
	}
	key := damage(shard.KindShard, "rubbish")
	r := merge(t, s, Options{CollectTimeout: patience, Pods: 2})
	if len(r.Runs) != 1 || r.Runs[0].MissingRanks != "1" || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], key) || !strings.Contains(r.Problems[0], "ranks 1 of pod worker-1") {
		t.Errorf("%+v", r)
	}
	damage(shard.KindManifest, "{")
	r = merge(t, s, Options{CollectTimeout: patience, Pods: 2})
	if len(r.Runs) != 1 || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "manifest.json") {
		t.Errorf("%+v", r)
	}
}

func TestNothing(t *testing.T) {
	s := openStore(t)
	if r := merge(t, s, Options{CollectTimeout: 10 * time.Millisecond}); len(r.Runs) > 0 {
		t.Errorf("%+v", r)
	}
	ship(t, s, 0)
	if m := merge(t, s, Options{CollectTimeout: patience, Pods: 1}).Message(nil); m.RunCount != 0 || !strings.Contains(m.Message, "no rank was traced") {
		t.Errorf("%+v", m)
	}
	if err := s.Put(context.Background(), "shards/uid-0/w/manifest.json", strings.NewReader(`{"world":"w","shard":"x.cairn","ranks":[{"rank":0,"final":true}],"size":1}`), 75); err == nil {
		t.Fatal("length")
	}
	raw := `{"world":"w","shard":"x.cairn","ranks":[{"rank":0,"final":true}],"size":1}`
	if err := s.Put(context.Background(), "shards/uid-0/w/manifest.json", strings.NewReader(raw), int64(len(raw))); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(context.Background(), s, Options{CollectTimeout: patience, Pods: 1}); !errors.Is(err, ErrAllDamaged) {
		t.Errorf("%v", err)
	}
}

func TestTerminationFits(t *testing.T) {
	r := &Result{Lost: []string{strings.Repeat("ö", 5000)}, Problems: []string{strings.Repeat("x", 5000)}}
	for i := range 40 {
		r.Runs = append(r.Runs, messages.Run{ID: fmt.Sprint(i), MissingRanks: strings.Repeat("1,3,", 1000), TraceURI: "s3://bucket/" + strings.Repeat("p/", 100) + "trace.cairn"})
	}
	m := r.Message(nil)
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > messages.MaxBytes || len(m.Runs) == 0 || m.RunCount != 40 || m.Lost == "" || m.Message == "" {
		t.Errorf("%d bytes, %d runs", len(raw), len(m.Runs))
	}
	small := (&Result{Runs: r.Runs[:1]}).Message(nil)
	if len(small.Runs) != 1 {
		t.Error("one run does not fit")
	}
	if m := (*Result)(nil).Message(errors.New("broken")); m.Message != "broken" || m.Runs == nil {
		t.Errorf("%+v", m)
	}
}

func TestMain(m *testing.M) { spooltest.Main(m) }
