package observed

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// evidenceDriver has the shim's evidence.c and usage.c, which read a folder like /proc.
func evidenceDriver(t *testing.T, proc string) driver {
	t.Helper()
	if proc != "/proc" {
		d, err := build(filepath.Join(t.TempDir(), "evidence"), "../../shim/testdata/evidence.c", `-DCAIRN_PROC="`+proc+`"`)
		require.NoError(t, err)
		return d
	}
	d, err := buildEvidence()
	require.NoError(t, err)
	return d
}

var buildEvidence = sync.OnceValues(func() (driver, error) {
	return build(filepath.Join(folder, "evidence"), "../../shim/testdata/evidence.c")
})

func readEvidence(t *testing.T, path string) *evidence {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return decodeEvidence(b, func(word uint64) int32 { return int32(word >> 12) })
}

// gapOf returns the row of the computation of the driver's program, nil if it was never measured.
func gapOf(e *evidence) *trace.EvidenceRow {
	for i := range e.rows {
		if e.rows[i].After == (trace.CallSite{Function: 1, Site: 1}) && e.rows[i].Before == (trace.CallSite{Function: 2, Site: 2}) {
			return &e.rows[i]
		}
	}
	return nil
}

// The machine may be busy: the measured time is at least the requested one, and a burning thread
// has a CPU for as long.
func TestEvidenceOfAComputation(t *testing.T) {
	driver, path := evidenceDriver(t, "/proc"), filepath.Join(t.TempDir(), "evidence")
	for kind, test := range map[string]struct{ least, most float64 }{"burn": {0.98, 1.05}, "sleep": {0, 0.05}} {
		t.Run(kind, func(t *testing.T) {
			var e *evidence
			var row *trace.EvidenceRow
			// The first one may be unexpected. On a busy machine readings take long, and most
			// exceed the budget.
			for times := 30; times <= 480 && (row == nil || row.Count < 2); times *= 2 {
				require.NoError(t, driver("gap", path, "20", kind, strconv.Itoa(times)).Run())
				e = readEvidence(t, path)
				row = gapOf(e)
			}
			require.NotNil(t, row, "%+v", e.rows)
			require.GreaterOrEqual(t, row.Count, uint64(2))
			asked := float64(row.Count) * 20e6
			require.GreaterOrEqual(t, float64(row.WallNS), 0.99*asked)
			// its first reading may be a 64th of the time late
			require.GreaterOrEqual(t, float64(row.CPUNS), test.least*asked-float64(row.WallNS)/64)
			require.LessOrEqual(t, float64(row.CPUNS), test.most*asked)
			require.LessOrEqual(t, row.DataNS, int64(0))
			if blocked, known := row.BlockedNS(); known { // the kernel counts run delays
				require.InDelta(t, float64(row.WallNS), float64(row.CPUNS+row.RunDelayNS+blocked), 1e3)
				if kind == "sleep" {
					require.Greater(t, float64(blocked), 0.9*asked)
				}
			}
			require.NotEmpty(t, e.instances)
			require.True(t, len(e.threads) > 0 && e.threads[0].CallsMPI, "%+v", e.threads)
		})
	}
}

// Somebody else wants the CPU of a thread that computes without system calls, and gets most of it.
// It loses its CPU in readings, too. It is ready to run all the time, and never blocked.
func TestWaitsForACPUInReadings(t *testing.T) {
	driver, path := evidenceDriver(t, "/proc"), filepath.Join(t.TempDir(), "evidence")
	var allowed unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &allowed))
	first := 0
	for !allowed.IsSet(first) {
		first++
	}
	cpu := strconv.Itoa(first)
	other := exec.Command("taskset", "-c", cpu, "sh", "-c", "while :; do :; done")
	require.NoError(t, other.Start())
	t.Cleanup(func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	})
	own := driver("gap", path, "2", "spin", "500")
	run := exec.Command("taskset", append([]string{"-c", cpu, "nice", "-n", "6"}, own.Args...)...)
	require.NoError(t, run.Run())
	row := gapOf(readEvidence(t, path))
	require.NotNil(t, row)
	blocked, known := row.BlockedNS()
	t.Logf("%d measured: %d ms, run delay %d ms, blocked %d ms", row.Count, row.WallNS/1e6, row.RunDelayNS/1e6, blocked/1e6)
	if !known { // gVisor does not count run delays
		require.EqualValues(t, trace.Unknown, row.RunDelayNS)
		return
	}
	require.Greater(t, float64(row.RunDelayNS), 0.25*float64(row.WallNS), "nobody else had the CPU")
	require.LessOrEqual(t, float64(blocked), 0.05*float64(row.WallNS))
}

// Data that moved in one of many instances does not explain why the others were blocked.
func TestDataOfSomeInstances(t *testing.T) {
	driver, path := evidenceDriver(t, "/proc"), filepath.Join(t.TempDir(), "evidence")
	for kind, most := range map[string]bool{"data": true, "once": false} {
		t.Run(kind, func(t *testing.T) {
			var row *trace.EvidenceRow
			for times := 30; times <= 480 && (row == nil || row.Count < 20); times *= 2 {
				require.NoError(t, driver("gap", path, "5", kind, strconv.Itoa(times)).Run())
				row = gapOf(readEvidence(t, path))
			}
			require.NotNil(t, row)
			blocked, known := row.BlockedNS()
			if known && row.DataNS >= 0 { // the kernel counts both
				require.Equal(t, most, float64(row.DataNS) > 0.5*float64(blocked), "%+v", row)
			}
		})
	}
}

// A computation that touches new pages has a fault for each, one that blocks has switches, and one
// that makes system calls has system time. Sums and instances agree: all instances are kept if
// there are few.
func TestUsageOfAComputation(t *testing.T) {
	const pages = 512 // of the driver
	driver, path := evidenceDriver(t, "/proc"), filepath.Join(t.TempDir(), "evidence")
	for kind, good := range map[string]func(row *trace.EvidenceRow, n int64) bool{
		"touch": func(row *trace.EvidenceRow, n int64) bool {
			return row.MinorFaults >= pages*n && row.MinorFaults < (pages+64)*n
		},
		"sleep": func(row *trace.EvidenceRow, n int64) bool {
			return row.VoluntarySwitches >= n && row.MinorFaults < 64*n
		},
		"system": func(row *trace.EvidenceRow, _ int64) bool { return float64(row.SystemNS) > 0.4*float64(row.CPUNS) },
		"burn":   func(row *trace.EvidenceRow, n int64) bool { return row.MajorFaults == 0 && row.MinorFaults < 64*n },
	} {
		t.Run(kind, func(t *testing.T) {
			var row *trace.EvidenceRow
			var e *evidence
			for times := 14; times <= 140 && (row == nil || row.Count < 2); times += 14 {
				require.NoError(t, driver("gap", path, "20", kind, strconv.Itoa(times)).Run())
				e = readEvidence(t, path)
				row = gapOf(e)
			}
			require.NotNil(t, row)
			if row.MinorFaults == trace.Unknown {
				require.Equal(t, trace.UnknownUsage, row.Usage, "this kernel counts nothing")
				return
			}
			require.True(t, good(row, int64(row.Count)), "%+v", row)
			sum := trace.Usage{}
			n := uint64(0)
			for _, in := range e.instances {
				if e.rows[in.Row].EvidenceKey == row.EvidenceKey {
					n++
					sum.MinorFaults += in.MinorFaults
					sum.VoluntarySwitches += in.VoluntarySwitches
				}
			}
			if n == row.Count {
				require.Equal(t, row.MinorFaults, sum.MinorFaults)
				require.Equal(t, row.VoluntarySwitches, sum.VoluntarySwitches)
			}
		})
	}
}

// BenchmarkReading reports the time of a quick reading, and thereof of getrusage.
func BenchmarkReading(b *testing.B) {
	driver, err := buildEvidence()
	require.NoError(b, err)
	out, err := driver("cost", filepath.Join(b.TempDir(), "evidence"), strconv.Itoa(b.N)).Output()
	require.NoError(b, err)
	var reading, usage float64
	_, err = fmt.Sscan(string(out), &reading, &usage)
	require.NoError(b, err)
	b.ReportMetric(reading, "ns/reading")
	b.ReportMetric(usage, "ns/getrusage")
	b.ReportMetric(0, "ns/op")
}

// If a sandbox refuses getrusage, its counts are unknown, and all others are there.
func TestUsageIsRefused(t *testing.T) {
	driver, path := evidenceDriver(t, "/proc"), filepath.Join(t.TempDir(), "evidence")
	require.NoError(t, driver("gap", path, "20", "refused").Run())
	row := gapOf(readEvidence(t, path))
	require.NotNil(t, row)
	require.Equal(t, trace.UnknownUsage, row.Usage)
	require.Positive(t, row.WallNS)
}

// What the kernel does not provide, or what the program has closed, is unknown and not zero.
func TestEvidenceThatIsNotToBeHad(t *testing.T) {
	empty, fake := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(fake, "thread-self"), 0o700))
	// as without CONFIG_SCHED_INFO
	for name, text := range map[string]string{"schedstat": "0 0 0\n", "io": "rchar: x\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(fake, "thread-self", name), []byte(text), 0o600))
	}
	for name, test := range map[string]struct{ proc, kind string }{
		"no files": {empty, "sleep"}, "nothing is counted": {fake, "sleep"}, "descriptors are closed": {"/proc", "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			driver, path := evidenceDriver(t, test.proc), filepath.Join(t.TempDir(), "evidence")
			require.NoError(t, driver("gap", path, "20", test.kind).Run())
			row := gapOf(readEvidence(t, path))
			require.NotNil(t, row)
			require.Less(t, float64(row.CPUNS), 0.05*float64(row.WallNS))
			require.EqualValues(t, trace.Unknown, row.RunDelayNS)
			require.EqualValues(t, trace.Unknown, row.IOBytes)
			require.EqualValues(t, trace.Unknown, row.IOCalls)
			_, known := row.BlockedNS()
			require.False(t, known)
		})
	}
}

// Whenever the process is killed, the sums are those of complete instances.
func TestEvidenceIsWholeAtAnyMoment(t *testing.T) {
	driver := evidenceDriver(t, "/proc")
	for i := range 20 {
		path := filepath.Join(t.TempDir(), "evidence")
		command := driver("kill", path)
		require.NoError(t, command.Start())
		require.Eventually(t, func() bool { // a busy machine starts it late
			b, err := os.ReadFile(path)
			e := decodeEvidence(b, func(uint64) int32 { return 0 })
			return err == nil && e != nil && len(e.rows) == 1
		}, time.Minute, time.Millisecond)
		time.Sleep(time.Duration(i) * time.Millisecond)
		require.NoError(t, command.Process.Kill())
		_ = command.Wait()
		e := readEvidence(t, path)
		require.Len(t, e.rows, 1)
		require.EqualValues(t, 1000*e.rows[0].Count, e.rows[0].WallNS)
		require.EqualValues(t, 1000*e.rows[0].Count, e.rows[0].CPUNS)
	}
}

// For a run that is shorter than the time between two lists, the list has the threads at its end.
func TestThreadsAtTheEnd(t *testing.T) {
	driver, path := evidenceDriver(t, "/proc"), filepath.Join(t.TempDir(), "evidence")
	require.NoError(t, driver("end", path, "30").Run())
	threads := readEvidence(t, path).threads
	require.Len(t, threads, 1)
	require.Greater(t, threads[0].CPUNS, int64(30e6))
	require.Less(t, threads[0].CPUNS, int64(60e6))
}

func TestMorePlacesThanThereIsRoomFor(t *testing.T) {
	driver, path := evidenceDriver(t, "/proc"), filepath.Join(t.TempDir(), "evidence")
	require.NoError(t, driver("full", path).Run())
	require.Empty(t, readEvidence(t, path).rows, "nothing was measured of them")
}

// made returns a file with a row and an instance, to be damaged.
func made(change func(f *rawlayout.Evidence)) []byte {
	f := rawlayout.Evidence{Rows: 1}
	copy(f.Magic[:], rawlayout.EvidenceMagic)
	f.Row[0] = rawlayout.EvidenceRow{
		Thread: 1, After: 3, Before: 4, AfterCaller: 1 << 12, BeforeCaller: 2 << 12, Ticks: 9e6, Which: 2,
		Sums: [2]rawlayout.EvidenceSums{1: {
			Count: 4, Wall: 8e6, CPU: 6e6, Delay: 1e6, Other: 5, Blocked: 4e6, Seen: 2e6, IOBytes: 100, IOCalls: 2,
			Data: 1e6, Usage: rawlayout.EvidenceUsage{MinorFaults: 7, MajorFaults: 1, Voluntary: 4, Involuntary: 2, System: 9e5},
		}},
	}
	f.Instances[0][3] = rawlayout.EvidenceInstance{Size: 1, Begin: 77, Wall: 5e6, CPU: 1e6, Delay: -1, IO: 3, Usage: rawlayout.EvidenceUsage{MinorFaults: -1, MajorFaults: -1, Voluntary: -1, Involuntary: -1, System: -1}}
	f.Instances[1][0] = f.Instances[0][3]
	f.Threads = 1 | 1<<32
	f.Thread[1][0] = rawlayout.EvidenceThread{TID: 5, CPU: 6, Delay: -1, Flags: 3}
	copy(f.Thread[1][0].Name[:], "app")
	change(&f)
	var b bytes.Buffer
	if err := binary.Write(&b, binary.NativeEndian, &f); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestEvidenceFile(t *testing.T) {
	site := func(word uint64) int32 { return int32(word >> 12) }
	e := decodeEvidence(made(func(*rawlayout.Evidence) {}), site)
	require.Equal(t, []trace.EvidenceRow{{
		EvidenceKey: trace.EvidenceKey{Thread: 1, After: trace.CallSite{Function: 3, Site: 1}, Before: trace.CallSite{Function: 4, Site: 2}},
		Count:       4, WallNS: 8e6, CPUNS: 6e6, RunDelayNS: 1e6, OtherCPUNS: 5,
		IOBytes: 200, IOCalls: 4, DataNS: 2e6, // as in the half of which they are known
		Usage: trace.Usage{MinorFaults: 7, MajorFaults: 1, VoluntarySwitches: 4, InvoluntarySwitches: 2, SystemNS: 9e5},
	}}, e.rows)
	require.Equal(t, []int64{9e6}, e.all)
	require.Equal(t, []trace.EvidenceInstance{{BeginNS: 77, WallNS: 5e6, CPUNS: 1e6, RunDelayNS: -1, IOBytes: 3, Usage: trace.UnknownUsage}}, e.instances)
	require.Equal(t, []trace.ThreadUsage{{TID: 5, Name: "app", CPUNS: 6, RunDelayNS: -1, CallsMPI: true}}, e.threads)

	// without call sites two addresses share a row
	two := made(func(f *rawlayout.Evidence) {
		f.Rows, f.Row[1] = 2, f.Row[0]
		f.Row[1].BeforeCaller = 5 << 12
		f.Row[1].Sums[1].Delay = -1
		f.Row[1].Sums[1].Usage.MajorFaults = -1
	})
	require.Len(t, decodeEvidence(two, site).rows, 2)
	joined := decodeEvidence(two, func(uint64) int32 { return 0 })
	require.Len(t, joined.rows, 1)
	require.EqualValues(t, 8, joined.rows[0].Count)
	require.EqualValues(t, trace.Unknown, joined.rows[0].RunDelayNS, "a part is not known, so the sum is not")
	require.EqualValues(t, trace.Unknown, joined.rows[0].MajorFaults)
	require.EqualValues(t, 14, joined.rows[0].MinorFaults)

	for name, change := range map[string]func(f *rawlayout.Evidence){
		"nothing was measured": func(f *rawlayout.Evidence) { f.Row[0].Which = 0 },
		"no such sums":         func(f *rawlayout.Evidence) { f.Row[0].Which = 3 },
		"more CPU than time":   func(f *rawlayout.Evidence) { f.Row[0].Sums[1].CPU = 9e6 },
		"negative":             func(f *rawlayout.Evidence) { f.Row[0].Sums[1].Wall = math.MinInt64 },
	} {
		t.Run(name, func(t *testing.T) {
			e := decodeEvidence(made(change), site)
			require.Empty(t, e.rows)
			require.Empty(t, e.instances)
		})
	}
	b := made(func(*rawlayout.Evidence) {})
	for _, damaged := range [][]byte{nil, b[:len(b)-1], append([]byte("x"), b[1:]...), made(func(f *rawlayout.Evidence) { f.Rows = 513 })} {
		require.Nil(t, decodeEvidence(damaged, site))
	}
	var none *evidence
	none.AddTo(nil) // a process without the file
}

func TestChooseEvidence(t *testing.T) {
	row := func(function uint16, count uint64, wall int64) trace.EvidenceRow {
		return trace.EvidenceRow{EvidenceKey: trace.EvidenceKey{Before: trace.CallSite{Function: function}}, Count: count, WallNS: wall, CPUNS: wall}
	}
	rows := []trace.EvidenceRow{row(9, 10, 1000), row(3, 1, 4), row(2, 100, 500)}
	var instances []trace.EvidenceInstance
	for i := range int64(100) {
		// longer than the mean of 100
		instances = append(instances, trace.EvidenceInstance{Row: 0, BeginNS: 1000 - i, WallNS: 102 + i, CPUNS: 102 + i})
		instances = append(instances, trace.EvidenceInstance{Row: 1, BeginNS: i, WallNS: 1000})
		instances = append(instances, trace.EvidenceInstance{Row: 2, BeginNS: i, WallNS: 5, CPUNS: 5})
	}
	instances = append(instances, trace.EvidenceInstance{Row: 2, BeginNS: 5000, WallNS: 5})
	var r trace.Rank
	ChooseEvidence(&r, rows, []int64{1000, 4, 500}, instances, 1000)
	require.Equal(t, []trace.EvidenceRow{rows[2], rows[0]}, r.Evidence, "by place, without what takes less than 0.5% of the run")
	require.Len(t, r.Outliers, 17, "sixteen by length, and the one without the CPU; not what is as long as all others")
	for i := range r.Outliers[:16] {
		require.Equal(t, 1, r.Outliers[i].Row)
		require.True(t, i == 0 || r.Outliers[i].BeginNS > r.Outliers[i-1].BeginNS)
		require.GreaterOrEqual(t, r.Outliers[i].WallNS, int64(102+84))
	}
	require.Equal(t, trace.EvidenceInstance{Row: 0, BeginNS: 5000, WallNS: 5}, r.Outliers[16])
}
