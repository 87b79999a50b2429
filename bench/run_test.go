package main

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// during runs a case with these commands, and returns its error.
func during(t *testing.T, run func(*bench)) error {
	t.Helper()
	return (&bench{ctx: t.Context(), of: &benchmark{name: "test", run: run},
		folder: t.TempDir()}).measure()
}

func TestACommandThatFailsEndsItsCase(t *testing.T) {
	var dir string
	err := during(t, func(b *bench) {
		dir = b.dir
		assert.Equal(t, "out\n", b.run("echo", "out"))
		b.used("sh", "-c", "echo some; echo no >&2; exit 3")
		assert.Fail(t, "it goes on")
	})
	assert.ErrorContains(t, err, "test: sh -c echo some; echo no >&2; exit 3: exit status 3: no")
	assert.NoDirExists(t, dir)
	assert.Panics(t, func() { _ = during(t, func(*bench) { panic("a mistake of the case") }) })
}

func TestUsage(t *testing.T) {
	require.NoError(t, during(t, func(b *bench) {
		u := b.used("sleep", "0.1")
		assert.GreaterOrEqual(t, u.wall, 0.1)
		assert.Less(t, u.cpu, 0.1)
		assert.Positive(t, u.mib)
	}))
}

func TestTemporaryFilesCount(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "cairn-test-")
	require.NoError(t, err)
	defer file.Close()
	_, err = file.WriteString("twelve bytes")
	require.NoError(t, err)
	require.NoError(t, os.Remove(file.Name()))
	assert.EqualValues(t, 12, openFiles(os.Getpid(), "cairn-test-"))
}

func TestVariantsAlternate(t *testing.T) {
	var order []string
	r := alternately(3, []string{"alone", "traced"}, func(v string) string {
		order = append(order, v)
		return fmt.Sprintf("a line of the program\nloop %d 7\n", len(order)*len(order))
	})
	assert.Equal(t, []string{"alone", "traced", "traced", "alone", "alone", "traced"}, order)
	assert.Equal(t, []float64{1, 16, 25}, r.of("alone", "loop", 0))
	assert.Equal(t, []float64{3, -7, 11}, r.added("traced", "alone", "loop", 0)) // within a round
	assert.Equal(t, []float64{7, 7, 7}, r.of("traced", "loop", 1))
	assert.ErrorContains(t, during(t, func(*bench) { r.of("traced", "loop", 2) }),
		"the variant traced did not print loop")
}

func TestMedianIsAMeasuredValue(t *testing.T) {
	assert.Equal(t, 3.0, median([]float64{9, 1, 3}))
	assert.Equal(t, 2.0, median([]float64{9, 1, 2, 3}))
	assert.Equal(t, 5.0, median([]float64{5}))
}

// of returns an amount of a row and whether its target is met.
func of(t *testing.T, row []value, name string) (float64, bool) {
	t.Helper()
	i := slices.IndexFunc(row, func(v value) bool { return v.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return row[i].Amount, row[i].Met
}

func TestCostOfACall(t *testing.T) {
	line := func(mean, longest float64) map[string][]float64 {
		return map[string][]float64{
			"Iprobe": {mean, 50, longest, 1, 2}, "malloc+free": {mean}, "Finalize": {mean * 1e6},
			"Memory": {mean * 1024},
		}
	}
	r := runs{
		"alone":  {line(10, 0), line(20, 0), line(30, 0)},
		"noop":   {line(11, 150000), line(21, 150000), line(31, 150000)},
		"stamps": {line(20, 0), line(30, 0), line(40, 0)},
		"lossy":  {line(100, 0), line(28, 0), line(39, 0)},
		"caller": {line(131, 250000), line(121, 310000), line(60, 300000)},
	}
	row := callCost(r, "caller", "lossy", "Iprobe")
	for _, c := range []struct {
		name string
		x    float64
		met  bool
	}{
		{"alone, ns", 20, true}, {"no-op adds", 1, true}, {"clock adds", 10, true},
		{"added, ns", 101, false}, {"of clock", 10.1, false},
		{"option, ns", 31, true}, {"longest, ns", 300000, true}, {"no CPU", 2, true},
	} {
		x, met := of(t, row, c.name)
		assert.InDelta(t, c.x, x, 1e-9, c.name)
		assert.Equal(t, c.met, met, c.name)
	}
	_, met := of(t, processCost(r, "caller"), "MPI_Finalize adds, ms")
	assert.False(t, met)
	resident, met := of(t, processCost(r, "lossy"), "resident, MiB")
	assert.Equal(t, []any{9.0, true}, []any{resident, met})
}

func TestGoBenchmarks(t *testing.T) {
	parsed := func(line string) measurement {
		m, ok := measured(line)
		require.True(t, ok, line)
		return m
	}
	m := parsed("BenchmarkRates/sizes=4/runs=1/noise=5%-2 	 1	 379325246 ns/op	 10.05 %error-4x	 " +
		"26.03 %error-16x	 5.26 %false-alarms	" +
		" 75.14 %in-interval	 92.29 %right-hurts-first	 66.41 %right-term")
	assert.Equal(t, "Rates/sizes=4/runs=1/noise=5%", m.name)
	for name, want := range map[string]bool{"%right-term": true, "%false-alarms": false,
		"%error-4x": true, "%in-interval": false} {
		_, met := of(t, rates(m), name)
		assert.Equal(t, want, met, name)
	}
	m.name = "Rates/noise=0%"
	_, met := of(t, rates(m), "%right-term")
	assert.False(t, met)
	delete(m.values, "%right-term")
	assert.ErrorContains(t, during(t, func(*bench) { rates(m) }), "says nothing of %right-term")

	m = parsed("BenchmarkHeldBack/stencil-2 	 1	 8123 ns/op	 -16 %time-off	 5 byte-models	 4 " +
		"bytes-right	 6 call-models	 6 calls-right	 16 held-back	 6 sites")
	for name, want := range map[string]bool{"calls right": true, "bytes right": false,
		"time off, %": false} {
		_, met := of(t, unseen(m), name)
		assert.Equal(t, want, met, name)
	}
	m = parsed("BenchmarkTimingOf/size/cg.S.4.lossless/20%-2 	 10	 100 ns/op	 0.85 KT-bytes/call	 " +
		"0.95 bytes/call")
	_, met = of(t, timing(m), "bytes/call")
	assert.True(t, met)
	_, met = of(t, timing(m), "of KT")
	assert.False(t, met)
	_, ok := measured("ok  	github.com/cairn-mpi/cairn/trace	1.2s")
	assert.False(t, ok)
}

func TestRowsOfTests(t *testing.T) {
	name, row := differences("a slow rank computes as the other            openmpi     1.805 s    " +
		"0.655 s    0.605 s    +8.3%      15% pass")
	assert.Equal(t, "a slow rank computes as the other openmpi", name)
	off, met := of(t, row, "off, %")
	assert.Equal(t, []any{8.3, true}, []any{off, met})
	name, row = differences("ring       1 ms more, large messages               1.234 s    1.334 " +
		"s   -10.1%     5.7% MISS")
	assert.Equal(t, "ring 1 ms more, large messages", name)
	_, met = of(t, row, "off, %")
	assert.False(t, met)
	_, row = differences("the worst is off by 10.1%")
	assert.Nil(t, row)
}

// The code of this very test binary is some bytes, and a text file has none.
func TestTextBytes(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	bytes, err := textBytes(self)
	require.NoError(t, err)
	assert.Greater(t, bytes, 100000.0)
	_, err = textBytes("main.go")
	assert.Error(t, err)
}
