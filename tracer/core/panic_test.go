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

// buildPanicking builds the library with a recorder that panics at a named step, after the first
// checkpoint. The product itself has no switch for that.
func buildPanicking(t *testing.T, step string) string {
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
		place+fmt.Sprintf("\tif step == %q && s.checkpoints > 0 {\n\t\tpanic(\"for a test\")\n\t}\n", step), 1)
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
	command := exec.Command("go", "build", "-overlay", overlay, "-buildmode=c-shared", "-o", library, ".")
	command.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return library
}

// A panic in the recorder ends tracing, with one line, and not the process; what was recorded
// before is recovered.
func TestPanicEndsTracingOnly(t *testing.T) {
	const tracingStopped = 4 // the driver's own exit code for it
	_, driver := build(t)
	for _, step := range []string{"buffer full", "buffers consumed", "checkpoint begins", "state encoded", "buffer wanted"} {
		t.Run(step, func(t *testing.T) {
			library, dir := buildPanicking(t, step), processDirectory(t)
			var stderr strings.Builder
			command := exec.Command(driver, library, dir, "nothing",
				strconv.Itoa(int(mpi.ByName("MPI_Finalize").ID)))
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
