package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// folder has what the tests build.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "core"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// build returns the library and the driver, which it builds for all tests once.
func build(t *testing.T) (library, driver string) {
	t.Helper()
	if err := buildOnce(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, "libcairn-core.so"), filepath.Join(folder, "driver")
}

var buildOnce = sync.OnceValue(func() error {
	if err := run("go", "build", "-ldflags=-s -w", "-buildmode=c-shared", "-o", filepath.Join(folder, "libcairn-core.so"), "."); err != nil {
		return err
	}
	return run("gcc", "-O1", "-Wall", "-o", filepath.Join(folder, "driver"), "testdata/driver.c", "-ldl")
})

// run runs a compiler.
func run(args ...string) error {
	command := exec.Command(args[0], args[1:]...)
	command.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// processDirectory creates what the shim creates before it loads the core.
func processDirectory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text := `{"format":1,"clock":{"kind":"monotonic"},"abi":"mpich"}`
	if err := os.WriteFile(filepath.Join(dir, "process.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A Go runtime in the process does not change how the process ends, and what it recorded
// can be recovered.
func TestProcessEndsAsWithout(t *testing.T) {
	library, driver := build(t)
	for _, test := range []struct {
		what   string
		code   int
		signal syscall.Signal
		stderr string // part of it; "" means that there is nothing on it
	}{
		{what: "nothing"},
		{what: "crash", signal: syscall.SIGSEGV},
		{what: "handler", code: 42},
		{what: "pipe", signal: syscall.SIGPIPE},
		{what: "urgent"},
	} {
		t.Run(test.what, func(t *testing.T) {
			dir := processDirectory(t)
			var stderr strings.Builder
			command := exec.Command(driver, library, dir, test.what,
				strconv.Itoa(int(mpi.ByName("MPI_Finalize").ID)))
			command.Stderr = &stderr
			err := command.Run()
			state := command.ProcessState.Sys().(syscall.WaitStatus)
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if test.signal != 0 && (!state.Signaled() || state.Signal() != test.signal) {
				t.Errorf("ended with %v, want %v", command.ProcessState, test.signal)
			}
			if test.signal == 0 && (!state.Exited() || state.ExitStatus() != test.code) {
				t.Errorf("ended with %v, want code %d", command.ProcessState, test.code)
			}
			if got := stderr.String(); test.stderr == "" && got != "" || !strings.Contains(got, test.stderr) ||
				strings.Count(got, "\n") > 1 {
				t.Errorf("standard error %q", got)
			}
			_, report, err := spool.Recover(dir)
			if err != nil {
				t.Fatal(err)
			}
			// the compressor is never more than a few MiB behind, so that there was a checkpoint
			if report.Calls != 400000 || !report.Checkpoint {
				t.Errorf("%+v", report)
			}
		})
	}
}

// A regular program of five million calls, some 300 MB of records, takes no more memory
// than a short one.
func TestMemoryIsBounded(t *testing.T) {
	const most = 32 << 10 // KiB
	library, driver := build(t)
	command := exec.Command(driver, library, processDirectory(t), "memory", strconv.Itoa(int(mpi.ByName("MPI_Finalize").ID)))
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	kib, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || kib <= 0 || kib > most {
		t.Errorf("%d KiB more are resident than before, want at most %d (%v)", kib, most, err)
	}
	t.Logf("%d KiB", kib)
}

// The Go runtime has few threads with small stacks, whatever the process's stack limit, and they
// may run on any CPU.
func TestThreadsAreFewAndSmall(t *testing.T) {
	const maxThreads, maxMapped = 6, 2 << 20 // with the main thread; KiB
	library, driver := build(t)
	command := exec.Command("sh", "-c", `ulimit -s 1048576 && exec "$@"`, "sh",
		driver, library, processDirectory(t), "threads", strconv.Itoa(int(mpi.ByName("MPI_Finalize").ID)))
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var threads, bound, kib int
	if _, err := fmt.Sscan(string(out), &threads, &bound, &kib); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	if threads > maxThreads || bound != 0 || kib > maxMapped {
		t.Errorf("%d threads, %d of them bound to a CPU, %d MiB of address space; want at most %d, 0 and %d MiB",
			threads, bound, kib>>10, maxThreads, maxMapped>>10)
	}
	t.Logf("%d threads, %d MiB", threads, kib>>10)
}
