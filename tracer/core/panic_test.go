package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// panicAt is an environment variable with the step at which the recorder of buildPanicking panics.
const panicAt = "CAIRN_TEST_PANIC_AT"

// buildPanicking builds the library with a recorder that panics at the step in panicAt, after the
// first checkpoint. The product itself has no switch for that.
func buildPanicking(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	spool, err := filepath.Abs("../recorder/spool/spool.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(spool)
	if err != nil {
		t.Fatal(err)
	}
	const place = "func (s *Spool) reach(step string) {\n"
	if strings.Count(string(text), place) != 1 {
		t.Fatal("recorder/spool/spool.go has no " + place)
	}
	broken := strings.Replace(string(text), place,
		place+fmt.Sprintf("\tif step == os.Getenv(%q) && s.checkpoints > 0 {\n\t\tpanic(\"for a test\")\n\t}\n", panicAt), 1)
	replacement, overlay := filepath.Join(dir, "spool.go"), filepath.Join(dir, "overlay.json")
	files, err := json.Marshal(map[string]map[string]string{"Replace": {spool: replacement}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{replacement: []byte(broken), overlay: files} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	library := filepath.Join(dir, "libcairn-core.so")
	if err := run("go", "build", "-ldflags=-s -w", "-overlay", overlay, "-buildmode=c-shared", "-o", library, "."); err != nil {
		t.Fatal(err)
	}
	return library
}

// A panic in the recorder ends tracing, with one line, and not the process; what was recorded
// before is recovered.
func TestPanicEndsTracingOnly(t *testing.T) {
	const tracingStopped = 4 // the driver's own exit code for it
	_, driver := build(t)
	library := buildPanicking(t)
	for _, step := range []string{"buffer full", "buffers consumed", "checkpoint begins", "state encoded", "buffer wanted"} {
		t.Run(step, func(t *testing.T) {
			dir := processDirectory(t)
			var stderr strings.Builder
			command := exec.Command(driver, library, dir, "nothing",
				strconv.Itoa(int(mpi.ByName("MPI_Finalize").ID)))
			command.Env = append(os.Environ(), panicAt+"="+step)
			command.Stderr = &stderr
			var exit *exec.ExitError
			if err := command.Run(); !errors.As(err, &exit) || exit.ExitCode() != tracingStopped {
				t.Errorf("ended with %v, want code %d", command.ProcessState, tracingStopped)
			}
			if got := stderr.String(); got != "cairn: the recorder failed: for a test\n" {
				t.Errorf("standard error %q", got)
			}
			_, report, err := spool.Recover(dir)
			if err != nil {
				t.Fatal(err)
			}
			// the first checkpoint is after 4 MiB
			if !report.Checkpoint || report.Calls < 4<<20/56 || report.Calls >= 400000 {
				t.Errorf("%+v", report)
			}
		})
	}
}
