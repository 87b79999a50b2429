package analyze

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// TestClockBesideTheTrace: a clock map beside the trace is used. One of another run is replaced,
// and a missing one is created.
func TestClockBesideTheTrace(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 5).Finalize(10, 11)
	b.Rank(1).Init(0, 5).Finalize(10, 11)
	dir := t.TempDir()
	path := filepath.Join(dir, "trace.cairn")
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, trace.Write(file, b.Content()))
	require.NoError(t, file.Close())
	f, err := tracefile.Open(t.Context(), path, storage.Flags{})
	require.NoError(t, err)
	defer f.Close()

	offset := func() int64 {
		m, err := tracefile.ClockBeside(t.Context(), path, storage.Flags{}, f)
		require.NoError(t, err)
		return m.Clocks.Domains[0].Offset
	}
	assert.Zero(t, offset(), "none is there")
	_, err = ReportOn(t.Context(), f, path, storage.Flags{}, tracefile.Part{}, report.Job{})
	require.NoError(t, err)
	_, made, err := analyzer.Run(t.Context(), f.Reader, nil)
	require.NoError(t, err)
	left, err := os.ReadFile(filepath.Join(dir, tracefile.ClockFile))
	require.NoError(t, err)
	expected, err := json.Marshal(made)
	require.NoError(t, err)
	assert.JSONEq(t, string(expected), string(left))
	assert.NotEmpty(t, made.Cuts)
	leave := func(change func(m *clock.Map)) {
		m := *made
		m.Cuts = nil
		m.Clocks = &timeline.Clocks{Of: []int{0, 0}, Domains: []timeline.Clock{{Offset: 77}}}
		change(&m)
		text, err := json.Marshal(m)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, tracefile.ClockFile), text, 0o644))
	}
	leave(func(*clock.Map) {})
	assert.Equal(t, int64(77), offset())
	_, err = ReportOn(t.Context(), f, path, storage.Flags{}, tracefile.Part{}, report.Job{})
	require.NoError(t, err)
	assert.Equal(t, int64(77), offset(), "what is there stays")
	var now clock.Map
	left, err = os.ReadFile(filepath.Join(dir, tracefile.ClockFile))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(left, &now))
	assert.Equal(t, []match.Cut{{At: made.Cuts[0].At + 77, Until: made.Cuts[0].Until + 77}}, now.Cuts, "but for where parts can be looked at alone, which was missing")
	leave(func(m *clock.Map) { m.Clocks.Of = []int{0, 0, 0} })
	assert.Zero(t, offset(), "one of three ranks")
	leave(func(m *clock.Map) { m.Clocks.Of = []int{0, 5} })
	assert.Zero(t, offset(), "one that is damaged")
	leave(func(m *clock.Map) { m.Trace = "feed" })
	assert.Zero(t, offset(), "that of another run, whose trace lay here before")
	leave(func(m *clock.Map) { m.SchemaVersion = 1 })
	assert.Zero(t, offset(), "one of an older version")
}
