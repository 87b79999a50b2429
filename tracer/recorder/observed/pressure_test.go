package observed

import (
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

var buildPressure = sync.OnceValues(func() (driver, error) {
	return build(filepath.Join(folder, "pressure"), "../../shim/testdata/pressure.c")
})

// pressureDriver has the shim's pressure.c.
func pressureDriver(t testing.TB) func(arguments ...string) string {
	t.Helper()
	d, err := buildPressure()
	require.NoError(t, err)
	return func(arguments ...string) string {
		out, err := d(arguments...).Output()
		require.NoError(t, err)
		return strings.TrimSuffix(string(out), "\n")
	}
}

const (
	someStall = "some avg10=0.00 avg60=1.20 avg300=0.87 total=737594\nfull avg10=0.00 avg60=0.89 avg300=0.70 total=236435\n"
	noLimitV1 = "9223372036854771712\n"
)

// The counters of a process are those of its own cgroup, or of the nearest one with a limit.
func TestCountersOfCgroups(t *testing.T) {
	print := pressureDriver(t)
	for name, test := range map[string]struct {
		cgroups string
		files   map[string]string
		want    [3]string // file and value of each counter
	}{
		"v2": {
			"0::/pod/c\n", map[string]string{
				"pod/c/cgroup.events": "", "pod/c/memory.pressure": someStall, "pod/c/io.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
				"pod/c/memory.max": "1048576\n", "pod/c/memory.high": "max\n", "pod/c/memory.events": "low 1\nhigh 2\nmax 30\noom 1\n",
			}, [3]string{"pod/c/memory.pressure 737594000", "pod/c/io.pressure 7000", "pod/c/memory.events 32"},
		},
		"v2, limit of the pod": {
			"0::/pod/c\n", map[string]string{
				"pod/c/cgroup.events": "", "pod/c/memory.pressure": someStall,
				"pod/c/memory.max": "max\n", "pod/c/memory.high": "max\n", "pod/c/memory.events": "high 0\nmax 0\n",
				"pod/memory.max": "max\n", "pod/memory.high": "4096\n", "pod/memory.events": "high 5\nmax 0\n",
			}, [3]string{"pod/c/memory.pressure 737594000", " -1", "pod/memory.events 5"},
		},
		"v2, no limit": {
			"0::/pod/c\n", map[string]string{"pod/c/memory.max": "max\n", "pod/c/memory.events": "high 0\nmax 0\n", "pod/memory.events": "high 1\nmax 1\n"},
			[3]string{" -1", " -1", "pod/c/memory.events 0"},
		},
		"v2, in a container": {
			"0::/\n", map[string]string{"cgroup.events": "", "memory.pressure": someStall, "io.pressure": someStall, "memory.events": "high 1\nmax 1\n"},
			[3]string{"memory.pressure 737594000", "io.pressure 737594000", "memory.events 2"},
		},
		"v2, above the container": {
			"0::/../other\n", map[string]string{"cgroup.events": "", "memory.pressure": someStall},
			[3]string{"memory.pressure 737594000", " -1", " -1"},
		},
		"the machine's pressure is not the rank's": {
			"0::/\n", map[string]string{"memory.pressure": someStall, "io.pressure": someStall}, [3]string{" -1", " -1", " -1"},
		},
		"v1": {
			"4:memory:/docker/x\n3:cpu:/\n", map[string]string{"memory/memory.failcnt": "12\n", "memory/memory.limit_in_bytes": noLimitV1},
			[3]string{" -1", " -1", "memory/memory.failcnt 12"},
		},
		"both": {
			"4:memory:/a/b\n0::/c\n", map[string]string{
				"memory/a/b/memory.failcnt": "1\n", "memory/a/b/memory.limit_in_bytes": noLimitV1,
				"memory/a/memory.failcnt": "2\n", "memory/a/memory.limit_in_bytes": "4096\n",
				"unified/c/cgroup.events": "", "unified/c/memory.pressure": someStall, "unified/c/io.pressure": "\n",
			}, [3]string{"unified/c/memory.pressure 737594000", " -1", "memory/a/memory.failcnt 2"},
		},
		"none": {"", nil, [3]string{" -1", " -1", " -1"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			groups := filepath.Join(root, "cgroups")
			require.NoError(t, os.WriteFile(groups, []byte(test.cgroups), 0o600))
			for file, text := range test.files {
				path := filepath.Join(root, file)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			}
			want := strings.Join(test.want[:], "\n")
			require.Equal(t, want, strings.ReplaceAll(print("find", groups, root), root+"/", ""))
		})
	}
}

// Whatever a kernel prints, a value is unknown or not negative.
func FuzzPressureText(f *testing.F) {
	for _, text := range []string{
		someStall, "some total=1\n", "some avg10=0.00 total=-3", "some avg10=0.00 total=9223372036854775807", "7\n", "99999999999999999999999",
		"high 1\nmax", "high 9223372036854775807\nmax 1\n", "high -5\nmax 3\n", "max 1\n", "", "\n", "full total=1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text, _, _ = strings.Cut(text, "\x00") // the end of a text in C
		var ns, hits int64
		_, err := fmt.Sscan(pressureDriver(t)("parse", text), &ns, &hits)
		require.NoError(t, err)
		require.GreaterOrEqual(t, ns, int64(-1))
		require.GreaterOrEqual(t, hits, int64(-1))
	})
}

// A process counts from its begin on, and again 100 ms after a reading at the earliest.
func TestPressureOfAProcess(t *testing.T) {
	d, err := buildPressure()
	require.NoError(t, err)
	dir := t.TempDir()
	count := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "memory.failcnt"), []byte(text), 0o600))
	}
	read := func() *trace.Pressure {
		b, err := os.ReadFile(filepath.Join(dir, "observed"))
		require.NoError(t, err)
		return pressureIn(b)
	}
	count("100\n")
	c := d("run", filepath.Join(dir, "observed"), dir)
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	for _, step := range []struct {
		text string
		want int64
	}{{"100\n", 0}, {"142\n", 42}, {"nothing\n", 42}, {"3\n", 42}, {"143\n", 43}} {
		count(step.text)
		_, err := in.Write([]byte{'\n'})
		require.NoError(t, err)
		var later int
		_, err = fmt.Fscan(out, &later)
		require.NoError(t, err)
		require.Equal(t, 1, later)
		require.Equal(t, &trace.Pressure{MemoryNS: trace.Unknown, IONS: trace.Unknown, MemoryLimitHits: step.want}, read())
	}
	require.NoError(t, in.Close())
	require.NoError(t, c.Wait())
}

// connection returns both ends of a connection between two addresses of this machine.
func connection(t *testing.T, from, to string) (client, server *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", to+":0")
	require.NoError(t, err)
	defer listener.Close()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	dialed, err := dialer.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	accepted, err := listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = dialed.Close(), accepted.Close() })
	return dialed.(*net.TCPConn), accepted.(*net.TCPConn)
}

// A process counts its open connections to other addresses, as the kernel does.
func TestSocketsOfAProcess(t *testing.T) {
	d, err := buildPressure()
	require.NoError(t, err)
	counted := func(connections ...*net.TCPConn) string {
		c := d("sockets")
		for _, connection := range connections {
			file, err := connection.File()
			require.NoError(t, err)
			defer file.Close()
			c.ExtraFiles = append(c.ExtraFiles, file)
		}
		out, err := c.Output()
		require.NoError(t, err)
		return string(out)
	}
	client, server := connection(t, "127.0.0.1", "127.0.0.2")
	within, _ := connection(t, "127.0.0.1", "127.0.0.1")
	_, err = client.Write(make([]byte, 300_000))
	require.NoError(t, err)
	_, err = server.Read(make([]byte, 1))
	require.NoError(t, err)
	raw, err := client.SyscallConn()
	require.NoError(t, err)
	var info *unix.TCPInfo
	require.NoError(t, raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	}))
	require.NoError(t, err)
	require.NotZero(t, info.Data_segs_out)
	require.Equal(t, fmt.Sprintf("1 %d %d\n", info.Data_segs_out, info.Total_retrans), counted(within, client, server))
	require.Equal(t, "0 0 0\n", counted(within))
	require.Equal(t, "0 0 0\n", counted())
}

// Damaged values are unknown or limited.
func TestDamagedPressure(t *testing.T) {
	b := make([]byte, rawlayout.ObservedEvidence)
	require.Nil(t, pressureIn(nil))
	require.Nil(t, pressureIn(b))
	part := b[rawlayout.ObservedPressure:]
	copy(part, rawlayout.PressureMagic)
	put := func(at int, v int64) {
		for i := range 8 {
			part[at+i] = byte(uint64(v) >> (8 * i))
		}
	}
	put(rawlayout.PressureMemoryNSAt, math.MinInt64)
	put(rawlayout.PressureIONSAt, math.MaxInt64)
	require.Equal(t, &trace.Pressure{MemoryNS: trace.Unknown, IONS: 1 << 60}, pressureIn(b))
	require.Nil(t, pressureIn(b[:rawlayout.ObservedPressure+rawlayout.PressureBytes-1]))
	for _, at := range []int{rawlayout.PressureMemoryNSAt, rawlayout.PressureIONSAt, rawlayout.PressureMemoryLimitHitsAt} {
		put(at, trace.Unknown)
	}
	require.Nil(t, pressureIn(b))
	put(rawlayout.PressureSegmentsAt, 70)
	put(rawlayout.PressureRetransmitsAt, 7)
	_, tcp := Content(b).Pressure()
	require.Equal(t, &trace.TCPUsage{Segments: 70, Retransmits: 7}, tcp)
	put(rawlayout.PressureRetransmitsAt, trace.Unknown)
	_, tcp = Content(b).Pressure()
	require.Nil(t, tcp)
}

func pressureIn(b []byte) *trace.Pressure {
	p, _ := Content(b).Pressure()
	return p
}
