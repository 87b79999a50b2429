package quote

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/test/built"
)

// kubeletLogBytes is how much of a log the kubelet takes for a container that failed
// without a message.
const kubeletLogBytes = 2048

// fails runs a command of Cairn that fails, and returns the termination message that the kubelet
// would make of it.
func fails(t *testing.T, cairn string, environment []string, arguments ...string) string {
	t.Helper()
	log := filepath.Join(t.TempDir(), "termination-log")
	require.NoError(t, os.WriteFile(log, nil, 0o644))
	var output bytes.Buffer
	command := exec.Command(cairn, append(arguments, "--termination-log", log)...)
	command.Env = append(os.Environ(), environment...)
	command.Stdout, command.Stderr = &output, &output
	var exit *exec.ExitError
	require.True(t, errors.As(command.Run(), &exit), "%v", arguments)
	message, err := os.ReadFile(log)
	require.NoError(t, err)
	if len(message) == 0 {
		message = output.Bytes()[max(0, output.Len()-kubeletLogBytes):]
	}
	return string(message)
}

// TestWordsOfRealCommands: the messages of failing commands are readable sentences in a condition.
func TestWordsOfRealCommands(t *testing.T) {
	cairn := built.Command(t, "cairn")
	empty := t.TempDir()
	damaged := t.TempDir()
	shards := filepath.Join(damaged, "shards", "pod", "world")
	require.NoError(t, os.MkdirAll(shards, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(shards, "manifest.json"), []byte(`{"world":"w","size":`), 0o644))
	noKey := []string{"CAIRN_S3_CREDENTIALS_DIR=" + filepath.Join(empty, "none"), "CAIRN_S3_ENDPOINT=http://127.0.0.1:1"}
	for _, test := range []struct {
		name        string
		environment []string
		arguments   []string
	}{
		{"unknown flag", nil, []string{"merge", "--jbo"}},
		{"no key", noKey, []string{"check-storage", "--store", "s3://traces/x"}},
		{"nothing to analyze", nil, []string{"analyze", "--job", "--store", empty, "--analysis", "critical-path", "--index", "0"}},
		{"damaged manifest", nil, []string{"merge", "--job", "--store", damaged, "--collect-timeout", "0", "--pods", "1", "--attempts", "[]"}},
		{"no attempts", nil, []string{"merge", "--job", "--store", empty, "--collect-timeout", "0", "--pods", "1", "--attempts", "[{"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			raw := fails(t, cairn, test.environment, test.arguments...)
			words := Termination(raw)
			t.Logf("%q -> %q", raw, words)
			require.NotEmpty(t, words)
			require.NotContains(t, words, `{"`)
			require.NotContains(t, words, "\n")
			require.LessOrEqual(t, len(words), MaxLength)
		})
	}
}
