package commands_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/analyze"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/export"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/inspect"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/rewrite"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
)

func TestMain(m *testing.M) { cairntest.Main(m) }

// soon is the time that a command may take to end, on a machine with other load.
const soon = 3 * time.Second

// iterations is how many a program makes that takes every command some time.
func iterations() int {
	if testing.Short() {
		return 200
	}
	return 5_000
}

// irregularTrace writes a trace that takes every command some time, and a trace for each rank.
func irregularTrace(t *testing.T, dir string) (path string, shards []string) {
	t.Helper()
	sim, err := simulate.New(simulate.Config{Pattern: "random", Ranks: 16, Iterations: iterations(), Variety: 30_000, Timing: "lossy 5"})
	require.NoError(t, err)
	contents, err := sim.Contents()
	require.NoError(t, err)
	write := func(name string, content *trace.Content) string {
		var file bytes.Buffer
		require.NoError(t, trace.Write(&file, content))
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, file.Bytes(), 0o644))
		return path
	}
	for i, content := range contents {
		shards = append(shards, write(fmt.Sprintf("rank%d.cairn", i), content))
	}
	merged, err := merger.Merge(contents, merger.Options{Final: true})
	require.NoError(t, err)
	return write("trace.cairn", merged), shards
}

// working maps command lines to the files that they write.
func working(path string, shards []string, dir string) map[string][]string {
	out := func(name string) string { return filepath.Join(dir, name) }
	return map[string][]string{
		"info":      {"info", path},
		"dump":      {"dump", path},
		"program":   {"program", path},
		"clusters":  {"clusters", path},
		"reduce":    {"reduce", path, "--leads", "-o", out("reduced.cairn")},
		"placement": {"placement", path},
		"graph":     {"graph", path, "--from", "0", "--to", "1"},
		"merge":     append([]string{"merge", "-o", out("merged.cairn")}, shards...),
		"analyze":   {"analyze", path, "-o", out("report")},
		"part":      {"analyze", path, "-o", out("report"), "--from", "0.02", "--to", "0.04"},
		"predict":   {"predict", path, "--ideal-network"},
		"compare":   {"compare", path, path},
		"export":    {"export", path, "-o", out("x.perfetto")},
		"simulate":  {"simulate", "--pattern", "random", "--ranks", "16", "--iterations", strconv.Itoa(iterations()), "-o", out("made.cairn")},
	}
}

// written are files that exist only once they are complete.
var written = []string{"reduced.cairn", "merged.cairn", "report/index.html", "x.perfetto", "made.cairn"}

// contents reads the files of written that exist.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range written {
		file, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		files[name] = string(file)
	}
	return files
}

// TestCommandsEndSoon: each command, asked to end at different times, ends soon, with an error, and
// leaves no incomplete file. It is asked by a signal, after which its process ends even if the
// command does not, and by its context, which has to reach the loops of all that analyze.
func TestCommandsEndSoon(t *testing.T) {
	dir := t.TempDir()
	path, shards := irregularTrace(t, dir)
	random := rand.New(rand.NewSource(1))
	times := 3
	if testing.Short() {
		times = 1
	}
	for name, arguments := range working(path, shards, dir) {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			_, err := cairntest.Run(t, arguments...)
			require.NoError(t, err)
			takes, whole := time.Since(begun), contents(t, dir)
			// theirs are short
			loops := !slices.Contains([]string{"simulate", "merge", "info"}, name)
			for n := range times {
				for _, name := range written {
					require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
				}
				after := time.Duration(random.Int63n(int64(takes)))
				signal := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}[(n+len(name))%2]
				endAfterSignal(t, arguments, 30*time.Millisecond+after, signal)
				if loops {
					endWithContext(t, arguments, after)
				}
				for name, file := range contents(t, dir) {
					assert.True(t, whole[name] == file, "%s is not whole: %d bytes of %d", name, len(file), len(whole[name]))
				}
			}
			noticed := !loops
			for after := takes / 4; !noticed && after > time.Millisecond; after /= 2 {
				noticed = endWithContext(t, arguments, after)
			}
			assert.True(t, noticed, "it ends as if its context were never canceled")
		})
	}
}

// endAfterSignal starts a command as a process and sends it a signal, which may arrive after its
// file is written and before the process ends.
func endAfterSignal(t *testing.T, arguments []string, after time.Duration, signal syscall.Signal) {
	t.Helper()
	process := cairntest.Process(arguments)
	var said strings.Builder
	process.Stderr = &said
	require.NoError(t, process.Start())
	time.Sleep(after)
	told := time.Now()
	_ = process.Process.Signal(signal) // it may have ended
	err := process.Wait()
	assert.Less(t, time.Since(told), soon)
	if err == nil {
		return // it ended before the signal
	}
	// −1: the runtime did not handle signals yet
	if code := process.ProcessState.ExitCode(); code >= 0 {
		assert.Equal(t, 128+int(signal), code, said.String())
		assert.Contains(t, said.String(), "asked to end")
	}
}

// endWithContext runs a command that nothing ends but itself, and cancels its context. It returns
// whether the command ended because of that. Then it may take some CPU time: a machine with other
// load gives it in small pieces.
func endWithContext(t *testing.T, arguments []string, after time.Duration) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	root := &cobra.Command{SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(inspect.NewDumpCommand(), inspect.NewProgramCommand(), inspect.NewClustersCommand(), rewrite.NewReduceCommand(),
		inspect.NewPlacementCommand(), inspect.NewGraphCommand(), analyze.NewAnalyzeCommand(), inspect.NewPredictCommand(),
		inspect.NewCompareCommand(), export.NewExportCommand())
	root.SetArgs(arguments)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	told := make(chan time.Duration, 1)
	time.AfterFunc(after, func() {
		told <- cpuTime()
		cancel()
	})
	err := root.ExecuteContext(ctx)
	if err == nil {
		return false // it ended before, or does not look at its context
	}
	require.ErrorIs(t, err, context.Canceled)
	assert.Less(t, cpuTime()-<-told, soon)
	return true
}

// cpuTime is the CPU time of this process.
func cpuTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // of oneself it is always known
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
