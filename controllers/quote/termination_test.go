package quote

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/api/messages"
)

func TestTerminationWords(t *testing.T) {
	whole, err := messages.Encode(messages.Merge{Runs: []messages.Run{}, Message: "shard x: checksum mismatch"}.Fit())
	require.NoError(t, err)
	storage, err := messages.Encode(messages.Analysis{Storage: &messages.StorageTrouble{Reason: messages.StorageUnreachable, Message: "dial tcp: refused"}}.Fit())
	require.NoError(t, err)
	for _, test := range []struct{ name, raw, want string }{
		{"nothing", " \n", ""},
		{"a line", "cairn: no route to host\n", "no route to host"},
		{"a message", string(whole), "shard x: checksum mismatch"},
		{"a storage trouble", string(storage), "dial tcp: refused"},
		{"a reason only", `{"ok":false,"reason":"Other"}`, "Other"},
		{"JSON that says nothing", `{"ok":false}`, ""},
		{"cut within the text", `{"ok":false,"message":"cannot write \"a\"`, `cannot write "a"…`},
		{"cut within an escape", `{"message":"caf\u00`, `caf…`},
		{"cut after the text", `{"message":"no key","more":[1,2`, "no key"},
		{"cut before the text", `{"runs":[{"id":"0/0"`, ""},
		{"a log", "time=1 level=INFO msg=reading\n\ncairn: shard x: checksum mismatch\n", "shard x: checksum mismatch"},
		{"a log that ends in a message", "reading\n{\"ok\":false,\"message\":\"no key\"}\n", "no key"},
		{"a panic", "reading\npanic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:3 +0x1d\nexit status 2\n", "panic: runtime error: index out of range [3]"},
		{"out of memory", "fatal error: runtime: out of memory\n\nruntime stack:\n", "fatal error: runtime: out of memory"},
		{"the end of a stack", "cairn: bad\ngoroutine 7 [select]:\n\t/src/x.go:1 +0x2\n", "bad"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, Termination(test.raw))
		})
	}
	require.LessOrEqual(t, len(Termination(strings.Repeat("word ", 1000))), MaxLength)
}

// No JSON gets into a condition, whatever a container's message is.
func FuzzTerminationWords(f *testing.F) {
	f.Add(`{"message":"a \"quoted\" word`)
	f.Add(`{"runs":[{"id":"0/0"}],"message":"x"}`)
	f.Add("a log\n{\"reason\":")
	f.Fuzz(func(t *testing.T, raw string) {
		words := Termination(raw)
		require.NotContains(t, words, "\n")
		if strings.HasPrefix(strings.TrimSpace(raw), `{"runs"`) {
			require.False(t, strings.HasPrefix(words, `{"runs"`), words)
		}
	})
}

func TestShortened(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 10, "short"},
		{"cut at a word", 11, "cut at a…"},
		{"cut at a word", 10, "cut at…"},
		{"a list, of things", 10, "a list…"},
		{"one-word-that-is-cut", 10, "one-wor…"},
		{"ärger über ärger", 10, "ärger…"},
	} {
		got := Shorten(test.text, test.limit)
		require.Equal(t, test.want, got)
		require.LessOrEqual(t, len(got), test.limit)
		require.True(t, utf8.ValidString(got))
	}
	long := strings.Repeat("x", 500)
	require.Len(t, Shorten("words "+long, 200), 200, "a word longer than a line is cut")
}
