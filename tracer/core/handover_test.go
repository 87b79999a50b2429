package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Threads hand over buffers as fast as they can, under the thread sanitizer. The buffers must
// arrive unchanged and in order, and threads that wait when tracing stops must be released.
func TestHandoverUnderThreadSanitizer(t *testing.T) {
	program := filepath.Join(t.TempDir(), "handover")
	// the sanitizer does not see fences, which here only order what a killed process leaves
	out, err := exec.Command("gcc", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-tsan", "-fsanitize=thread", "-pthread",
		"-o", program, "testdata/handover.c", "handover.c").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, test := range []string{"1 2000 all", "2 2000 all", "4 1000 all", "64 60 all", "4 1000 early", "64 60 early"} {
		t.Run(strings.ReplaceAll(test, " ", ","), func(t *testing.T) {
			command := exec.Command(program, strings.Fields(test)...)
			command.Env = append(os.Environ(), "TSAN_OPTIONS=halt_on_error=1")
			if out, err := command.CombinedOutput(); err != nil {
				t.Errorf("%v\n%.4000s", err, out)
			}
		})
	}
}
