package shimtest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecordsAtEveryMoment: whenever a process ends, even between two instructions of the shim, its
// record buffer has the calls so far, word for word, for a reader that knows only the format's text
// (docs/decisions/0001-seams.md).
func TestRecordsAtEveryMoment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ flags, arguments string }{
		"optimized": {"-O2", "between 96 80"},
		"sanitized": {"-O1 -fsanitize=address,undefined -fno-sanitize-recover=all", "between 201 20"},
		"stepped":   {"-O2", "within 1 10"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "records")
			flags := strings.Fields("-std=c11 -D_GNU_SOURCE -g -Wall -Wextra -Werror " + test.flags + " -o")
			source := filepath.Join(Root(), "tracer", "shim", "testdata", "records.c")
			out, err := exec.Command("gcc", append(flags, program, source)...).CombinedOutput()
			require.NoError(t, err, string(out))
			out, err = exec.Command(program, strings.Fields(test.arguments)...).CombinedOutput()
			require.NoError(t, err, string(out))
			t.Log(string(out))
		})
	}
}
