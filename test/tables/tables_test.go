package tables

import (
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/export/parquet"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// duckdb is where `make test` puts DuckDB's command.
func duckdb(t *testing.T) string {
	t.Helper()
	cache := os.Getenv("CAIRN_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		require.NoError(t, err)
		cache = filepath.Join(home, ".cache", "cairn")
	}
	binary := filepath.Join(cache, "bin", "duckdb")
	require.FileExists(t, binary, "run `hack/install.sh readers` (make test does)")
	return binary
}

// export writes the tables of a trace.
func export(t *testing.T, r *trace.Reader) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tables")
	_, err := parquet.Write(context.Background(), dir, timeline.Of(r), parquet.Options{})
	require.NoError(t, err)
	return dir
}

// query has DuckDB answer a query over the tables of a directory, which are views of their names.
func query(t *testing.T, dir, sql string) [][]string {
	t.Helper()
	statement := ""
	for _, name := range []string{"calls", "messages", "waits", "path", "ledger", "ranks", "communicators", "sites"} {
		statement += fmt.Sprintf("CREATE VIEW %s AS FROM '%s'; ", name, filepath.Join(dir, name+".parquet"))
	}
	out := filepath.Join(t.TempDir(), "out.csv")
	said, err := exec.Command(duckdb(t), "-c", statement+fmt.Sprintf("COPY (%s) TO '%s' (FORMAT csv, HEADER false)", sql, out)).CombinedOutput()
	require.NoError(t, err, "%s: %s", sql, said)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(t, err)
	return rows
}

// rows returns the answer of a query, one line per row.
func rows(answer [][]string) []string {
	lines := []string{}
	for _, row := range answer {
		lines = append(lines, strings.Join(row, " "))
	}
	return lines
}

// DuckDB's results for the tables agree with the trace and with the report's findings.
func TestDuckDBFindsWhatTheTraceHas(t *testing.T) {
	for _, config := range []simulate.Config{
		{Pattern: "random", Ranks: 6, Iterations: 30, Seed: 3},
		{Pattern: "master-worker", Ranks: 5, Timing: "lossy 5"},
		{Pattern: "two-phase", Ranks: 12, Iterations: 5, Timing: "lossy 5", Imbalance: simulate.Imbalance{SlowRank: 3, SlowPercent: 50}},
	} {
		t.Run(config.Pattern, func(t *testing.T) {
			r := tracetest.Open(t, tracetest.Simulated(t, config))
			dir := export(t, r)
			found := analyzertest.Analyze(t, timeline.Of(r))

			assert.Equal(t, counted(t, r), rows(query(t, dir, "SELECT rank, thread, function, count(*) FROM calls GROUP BY ALL ORDER BY ALL")))
			assert.Equal(t, trafficRows(t, r), rows(query(t, dir, `SELECT send_rank, recv_rank, count(*), sum(coalesce(bytes, 0))
				FROM messages GROUP BY ALL ORDER BY ALL`)), "the communication matrix")
			assert.ElementsMatch(t, reported(found), rows(query(t, dir, "SELECT kind, count(*), sum(waiting_ns) FROM waits GROUP BY ALL")))
			assert.Equal(t, [][]string{{"0"}}, query(t, dir, "SELECT (SELECT sum(waiting_ns) FROM waits) - (SELECT sum(waiting_ns) FROM calls)"))
			assert.Equal(t, fmt.Sprintf("%.0f 0", found.RunSeconds*1e9), rows(query(t, dir, `SELECT sum(duration_ns),
				count(*) FILTER (start_ns <> before) FROM (SELECT *, lag(end_ns, 1, 0) OVER (ORDER BY segment) AS before FROM path)`))[0],
				"segments follow each other from the run's beginning to its end")
			assert.Equal(t, [][]string{{fmt.Sprint(found.Ledger.TotalNS)}}, query(t, dir, "SELECT sum(time_ns) FROM ledger WHERE rank IS NULL"))

			// Joins resolve: rows with the number of a call match its rank and times.
			assert.Equal(t, [][]string{{"0"}}, query(t, dir, `SELECT count(*) FROM messages m LEFT JOIN calls s ON s.call_id = m.send_call_id
				LEFT JOIN calls p ON p.call_id = m.recv_post_call_id LEFT JOIN calls d ON d.call_id = m.recv_call_id
				WHERE (s.rank, s.enter_ns, p.rank, p.enter_ns, d.rank, d.exit_ns)
				IS DISTINCT FROM (m.send_rank, m.send_enter_ns, m.recv_rank, m.recv_post_ns, m.recv_rank, m.recv_exit_ns)`))
			assert.Equal(t, [][]string{{"0"}}, query(t, dir, "SELECT count(*) FROM messages WHERE recv_exit_ns <= send_enter_ns"))
			assert.Equal(t, [][]string{{"0", "0"}}, query(t, dir, `SELECT
				count(*) FILTER ((c.rank, c.thread, c.function) IS DISTINCT FROM (w.rank, w.thread, w.function) OR w.end_ns > c.exit_ns),
				count(*) FILTER (a.rank IS DISTINCT FROM w.cause_rank)
				FROM waits w LEFT JOIN calls c USING (call_id) LEFT JOIN calls a ON a.call_id = w.cause_call_id`))
			assert.Equal(t, [][]string{{"0"}}, query(t, dir, `SELECT count(*) FROM calls c LEFT JOIN sites s USING (site_id)
				LEFT JOIN communicators k USING (comm_id) WHERE c.call_site IS DISTINCT FROM s.call_site
				OR c.comm_id IS NOT NULL AND NOT list_contains(k.members || k.remote_members, c.rank)`))
		})
	}
}

// counted is how often each thread calls each function, by the trace's cursors.
func counted(t *testing.T, r *trace.Reader) (lines []string) {
	for _, th := range r.Threads().All() {
		c, err := r.Cursor(th.Rank, th.Thread)
		require.NoError(t, err)
		counts := map[string]int{}
		for c.Next() {
			counts[c.Event().Function.Name]++
		}
		require.NoError(t, c.Err())
		lines = append(lines, sorted(counts, fmt.Sprintf("%d %d ", th.Rank, th.Thread))...)
	}
	return lines
}

// trafficRows is the communication matrix according to the trace's own count of sends, for all
// communicators together.
func trafficRows(t *testing.T, r *trace.Reader) (lines []string) {
	matrix, err := traffic.Matrix(r)
	require.NoError(t, err)
	n := r.Ranks().Len()
	messages, bytes := make([]uint64, n*n), make([]uint64, n*n)
	for _, m := range matrix {
		messages[m.Source*n+m.Dest] += m.Messages
		bytes[m.Source*n+m.Dest] += m.Bytes
	}
	for i := range messages {
		if messages[i] > 0 {
			lines = append(lines, fmt.Sprintf("%d %d %d %d", i/n, i%n, messages[i], bytes[i]))
		}
	}
	return lines
}

// reported is the waiting in the report, by kind.
func reported(f analyzertest.Findings) (lines []string) {
	for _, w := range f.WaitStates {
		if w.PartOf == "" && w.Count > 0 {
			lines = append(lines, fmt.Sprintf("%s %d %.0f", w.Kind, w.Count, w.Seconds*1e9))
		}
	}
	return lines
}

func sorted(counts map[string]int, prefix string) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%s%s %d", prefix, name, counts[name]))
	}
	return lines
}
