package shipper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
)

// LocalOptions of RunLocal.
type LocalOptions struct {
	Spool string
	Out   string // directory for the traces
	// Wait is how long ranks may continue to run after the launcher has ended; 0 is DefaultWait.
	Wait time.Duration
	// Launcher is how the command ended that started the ranks; nil: unknown.
	Launcher *trace.Launcher
}

// DefaultWait is enough for a rank that outlives its launcher.
const DefaultWait = 3 * time.Second

// A LocalRun is one MPI world that ran on this machine.
type LocalRun struct {
	Directory string // Out, or Out/run-N-PROGRAM if there are several
	Trace     string // path of the trace file
	// Misplaced is why the trace is not there but in Directory, a new one for temporary files: a
	// full disk, for example.
	Misplaced error
	Content   *trace.Content
	Summary   merger.Summary
	// Processes are the spool directories, by rank.
	Processes map[int]string
}

// ErrNothingTraced is the error for a spool without ranks, ErrNeverInitialized that for one
// in which processes left a sign that they called MPI, but not MPI_Init: for example, only
// the tool interface.
var (
	ErrNothingTraced    = errors.New("no rank was traced")
	ErrNeverInitialized = errors.New("MPI was called, but never initialized")
)

// uninitialized is that sign (tracer/shim/evidence/life.c).
const uninitialized = "uninitialized"

// TraceFile is the name of a finished trace.
const TraceFile = "trace.cairn"

// RunLocal makes a finished trace of every world in a spool, in order of start. problems describes
// processes and parts that could not be used.
func RunLocal(ctx context.Context, o LocalOptions) (runs []LocalRun, problems []string, err error) {
	if o.Wait == 0 {
		o.Wait = DefaultWait
	}
	s := newScanner(o.Spool)
	processes, err := s.settle(ctx, o.Wait)
	if err != nil {
		return nil, nil, err
	}
	problems = s.problems()
	tables := newSymbolTables(o.Spool, true)
	worlds := byWorld(processes)
	_, pass, end := passes.Begin(ctx, "collecting ranks", "ranks", uint64(len(processes)))
	defer end()
	for _, launchID := range sortedLaunches(worlds) {
		merged, trouble := finishWorld(launchID, worlds[launchID], tables, pass)
		runs = append(runs, merged...)
		problems = append(problems, trouble...)
	}
	if len(runs) == 0 {
		if _, err := os.Lstat(filepath.Join(o.Spool, uninitialized)); err == nil {
			return nil, problems, ErrNeverInitialized
		}
		return nil, problems, ErrNothingTraced
	}
	slices.SortStableFunc(runs, func(a, b LocalRun) int { return int(min(max(startOf(a.Content)-startOf(b.Content), -1), 1)) })
	contents := make([]*trace.Content, len(runs))
	for i := range runs {
		contents[i] = runs[i].Content
	}
	if err := merger.JoinWorlds(contents); err != nil {
		problems = append(problems, fmt.Sprintf("worlds cannot be joined: %v", err))
	}
	for i := range runs {
		r := &runs[i]
		r.Directory = o.Out
		if len(runs) > 1 {
			r.Directory = filepath.Join(o.Out, runName(i, r.Content))
		}
		r.Content.Meta.Run, r.Content.Meta.Launcher = i, o.Launcher
		if err := r.write(); err != nil {
			return nil, problems, err
		}
	}
	return runs, problems, nil
}

// ManyWorlds matches the folders of the worlds of a spool.
var ManyWorlds = regexp.MustCompile(`^run-\d+(-[A-Za-z0-9._+-]+)?$`)

// maxProgramName is the maximum length of a program's name in that of a folder.
const maxProgramName = 64

// runName returns the name of the folder of the i-th world: with the name of its program, if known.
func runName(i int, c *trace.Content) string {
	name := "run-" + strconv.Itoa(i)
	for _, r := range c.Ranks.All() {
		program := strings.Map(func(x rune) rune {
			if x < 128 && strings.ContainsRune("._+-", x) || x >= '0' && x <= '9' || x >= 'a' && x <= 'z' || x >= 'A' && x <= 'Z' {
				return x
			}
			return '_'
		}, filepath.Base(r.Executable))
		if r.Executable != "" {
			return name + "-" + program[:min(len(program), maxProgramName)]
		}
	}
	return name
}

// Unmerged returns the names of the processes in a spool that the traces of runs lack, and of those
// that still run and may record more.
func Unmerged(spool string, runs []LocalRun) (names []string, err error) {
	processes, err := newScanner(spool).scan()
	if err != nil {
		return nil, err
	}
	merged := map[string]bool{}
	for _, run := range runs {
		for _, dir := range run.Processes {
			merged[dir] = true
		}
	}
	for _, p := range processes {
		if p.alive || !merged[p.dir] {
			names = append(names, p.name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// settle waits until all processes have ended, but not longer than wait.
func (s *scanner) settle(ctx context.Context, wait time.Duration) ([]process, error) {
	const poll = 20 * time.Millisecond
	deadline := time.Now().Add(wait)
	for {
		processes, err := s.scan()
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(processes, func(p process) bool { return p.alive }) || time.Now().After(deadline) {
			return processes, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(poll):
		}
	}
}

// finishWorld makes the finished traces of one launch.
func finishWorld(launchID string, processes []process, tables *symbolTables, pass *passes.Pass) ([]LocalRun, []string) {
	c := newCollector(launchID, Identity{}, tables, true)
	for _, p := range processes {
		pass.Add(1)
		c.add(p)
	}
	c.finish()
	problems := slices.Concat(c.problems, c.unread)
	var runs []LocalRun
	for i := range c.packs {
		problems = append(problems, c.packs[i].manifest.Problems...)
		final := c.packs[i].content
		runs = append(runs, LocalRun{Content: final, Summary: merger.Summarize(final), Processes: c.packs[i].directories})
	}
	slices.Sort(problems)
	return runs, slices.Compact(problems)
}

func startOf(c *trace.Content) int64 {
	start := int64(math.MaxInt64)
	for _, ns := range c.Ranks.Starts().All() {
		start = min(start, ns)
	}
	return start
}

// write writes the trace into the directory, or into one for temporary files if it cannot.
func (r *LocalRun) write() error {
	r.Misplaced = writeTrace(r.Directory, r.Content)
	if r.Misplaced != nil {
		directory, err := os.MkdirTemp("", "cairn-trace-")
		if err == nil {
			err = writeTrace(directory, r.Content)
		}
		if err != nil {
			return errors.Join(r.Misplaced, err)
		}
		r.Directory = directory
	}
	r.Trace = filepath.Join(r.Directory, TraceFile)
	return nil
}

// writeTrace writes a trace into a directory atomically.
func writeTrace(directory string, c *trace.Content) (err error) {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(directory, ".cairn-tmp-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	out := bufio.NewWriterSize(f, 1<<20)
	err = trace.Write(out, c)
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(directory, TraceFile))
}
