package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A bench is a run of a case on a tree. Cases read like a shell script: what goes wrong ends them
// (must), and their caller gets the error.
type bench struct {
	*report
	ctx    context.Context
	of     *benchmark
	root   string // this tree, with the sources of programs
	folder string // the tree that is measured
	dir    string // empty at first, and removed at the end
}

// A failure ends a case.
type failure struct{ error }

func must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func get[T any](x T, err error) T {
	must(err)
	return x
}

func fail(format string, args ...any) { must(fmt.Errorf(format, args...)) }

// measure runs the case once.
func (b *bench) measure() (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = fmt.Errorf("%s: %w", b.of.name, r.error)
		default:
			panic(r)
		}
	}()
	b.dir = get(os.MkdirTemp("", "cairn-bench-"))
	defer os.RemoveAll(b.dir)
	b.of.run(b)
	return nil
}

func (b *bench) row(name string, values ...value) { must(b.add(b.of.name, name, "", values...)) }

// check reports a row that is right or wrong, and why.
func (b *bench) check(name string, right bool, why string) {
	amount := 0.0
	if right {
		amount = 1
	}
	must(b.add(b.of.name, name, why, val("right", amount).equals(1)))
}

// path returns a path in the folder of this run.
func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// fresh returns a path in the folder of this run, where nothing is yet.
func (b *bench) fresh(name string) string {
	must(os.RemoveAll(b.path(name)))
	return b.path(name)
}

func (b *bench) write(name, text string) { must(os.WriteFile(b.path(name), []byte(text), 0o600)) }

// program is the source of a program in this folder.
func (b *bench) program(name string) string {
	return filepath.Join(b.root, "bench", "programs",
		name)
}

func (b *bench) command(words ...string) *exec.Cmd {
	c := exec.CommandContext(b.ctx, words[0], words[1:]...)
	c.Dir = b.folder
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what it starts ends with it
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}

// try runs a command in the measured tree and returns its output. The error has the end of what it
// said.
func (b *bench) try(words ...string) (string, error) { return output(b.command(words...)) }

func (b *bench) run(words ...string) string { return get(b.try(words...)) }

func output(c *exec.Cmd) (string, error) {
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err,
			lastLine(out.String()+"\n"+said.String()))
	}
	return out.String(), nil
}

// said runs a command and returns all that it said.
func (b *bench) said(words ...string) (string, error) {
	text, err := b.command(words...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, lastLine(string(text)))
	}
	return string(text), err
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// A usage is what a command took.
type usage struct {
	wall, cpu float64 // seconds
	mib       float64 // of memory, at its peak
	files     float64 // bytes of its temporary files, at their peak
}

// usage runs a command. Its temporary files have a name that contains temporary.
func (b *bench) usage(temporary string, words ...string) (usage, error) {
	c := b.command(words...)
	var said bytes.Buffer
	c.Stderr = &said
	begun := time.Now()
	if err := c.Start(); err != nil {
		return usage{}, err
	}
	ended, largest := make(chan struct{}), make(chan int64)
	go func() { largest <- largestFiles(c.Process.Pid, temporary, ended) }()
	err := c.Wait()
	wall := time.Since(begun)
	close(ended)
	files := <-largest
	if err != nil {
		return usage{}, fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, lastLine(said.String()))
	}
	cpu := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	peak := float64(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
	return usage{wall.Seconds(), cpu.Seconds(), peak, float64(files)}, nil
}

// used is usage of a command whose temporary files do not matter.
func (b *bench) used(words ...string) usage { return get(b.usage("", words...)) }

// largestFiles returns the largest total size of the files that a process has open whose names
// contain name, including removed files. It samples five times per second until ended is closed.
func largestFiles(pid int, name string, ended <-chan struct{}) (largest int64) {
	if name == "" {
		return 0
	}
	every := time.NewTicker(200 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-ended:
			return largest
		case <-every.C:
			largest = max(largest, openFiles(pid, name))
		}
	}
}

func openFiles(pid int, name string) (size int64) {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range all {
		if target, err := os.Readlink(fd); err != nil || !strings.Contains(target, name) {
			continue
		}
		if info, err := os.Stat(fd); err == nil {
			size += info.Size()
		}
	}
	return size
}

// mpirun returns the command that starts a program on some ranks. More than one may not have a
// processor each, and yield while they wait.
func mpirun(mpi string, ranks int, words ...string) []string {
	start := []string{"mpirun." + mpi, "-np", fmt.Sprint(ranks)}
	if mpi == "openmpi" && ranks > 1 {
		start = append(start, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
	}
	return append(start, words...)
}

// example is a path of an example program.
func example(mpi, name string) string { return filepath.Join("examples", "bin", mpi, name) }

// compile compiles a program of this folder, and returns its path.
func (b *bench) compile(to, compiler, source string, flags ...string) string {
	b.run(slices.Concat([]string{compiler, "-O2", "-g", "-w", "-o", b.path(to), b.program(source)},
		flags, []string{"-lm"})...)
	return b.path(to)
}

// yield is a library that lets ranks of MPICH without a processor of their own yield while they
// wait.
func (b *bench) yield() string {
	b.run("make", "-s", "-C", filepath.Join(b.root, "test/yield"))
	return filepath.Join(b.root, "out", "yield.so")
}

// limited ends the command after it if that hangs.
var limited = []string{"timeout", "--foreground", "300"}

// trace traces a job with cairn run and returns the path of the trace, which lasts until the next
// call. The environment has words NAME=value.
func (b *bench) trace(options string, job []string, environment ...string) (string, error) {
	out := b.fresh("out")
	run := append(slices.Clone(limited), "bin/cairn", "run", "-o", out)
	_, err := b.try(slices.Concat([]string{"env"}, environment, run, strings.Fields(options),
		[]string{"--"}, job)...)
	return filepath.Join(out, "trace.cairn"), err
}

// simulate writes a trace of a simulated program, and returns its path. The options may override
// the others.
func (b *bench) simulate(options string, more ...string) string {
	to := b.fresh("simulated.cairn")
	b.run(slices.Concat([]string{"bin/cairn", "simulate", "-o", to}, more, strings.Fields(options))...)
	return to
}

var lossy = []string{"--timing", "lossy 5"}

// facts are what cairn info says of a trace.
type facts struct {
	Calls float64
	Bytes struct {
		Total, Container, Signatures, Grammar, Values, Timing float64

		RankMap       float64 `json:"rank_map"`
		ClockReadings float64 `json:"clock_readings"`
	}
	Clustering struct {
		Votes, Clusterings float64

		NSPerVote    float64 `json:"ns_per_vote"`
		VoteShare    float64 `json:"vote_share"`
		Extrapolated float64 `json:"calls_extrapolated"`
	}
}

func (b *bench) info(trace string) (f facts) {
	must(json.Unmarshal([]byte(b.run("bin/cairn", "info", "--json", trace)), &f))
	return f
}

// counted is the size of a trace without timing, call sites and metadata.
func (f *facts) counted() float64 {
	return f.Bytes.Container + f.Bytes.Signatures + f.Bytes.Grammar + f.Bytes.RankMap + f.Bytes.Values
}

// fileBytes is the total size of files.
func fileBytes(paths ...string) (n float64) {
	for _, path := range paths {
		n += float64(get(os.Stat(path)).Size())
	}
	return n
}
