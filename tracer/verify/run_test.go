//go:build mpi

package verify

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// open makes one final trace of process directories and opens it.
func open(t *testing.T, directories []string) *trace.Reader {
	t.Helper()
	var m merger.Merger
	for _, dir := range directories {
		c, _, err := spool.Recover(dir)
		require.NoError(t, err)
		require.NoError(t, m.Add(c))
	}
	contents, err := m.Finish(merger.Options{Final: true})
	require.NoError(t, err)
	require.Len(t, contents, 1)
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, contents[0]))
	reader, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.WithMemoryLimit(4<<30))
	require.NoError(t, err)
	return reader
}

// ranksToTry returns square numbers, which grids need. The behavior of an example on more ranks
// does not depend on the MPI.
func ranksToTry(implementation string) []int {
	switch {
	case testing.Short():
		return []int{4}
	case implementation == "openmpi":
		return []int{4, 16}
	}
	return []int{4, 9}
}

// arguments shorten examples with very many collectives: if more ranks than processors poll, each
// takes a time slice.
var arguments = map[string][]string{"phases": {"--iterations", "50"}}

// Every example, under both MPIs: the decoded trace agrees with the reference log. With -short each
// runs under one of them; test/mpi's TestVerify has it under the other one.
func TestExamples(t *testing.T) {
	t.Parallel()
	programs, err := filepath.Glob(shimtest.Example("mpich", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, programs, "`make examples` builds them")
	for i, path := range programs {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			program := shimtest.Example(implementation, filepath.Base(path))
			for _, ranks := range ranksToTry(implementation) {
				t.Run(strings.Join([]string{implementation, filepath.Base(program), string(rune('0'+ranks/10)) + string(rune('0'+ranks%10))}, "/"), func(t *testing.T) {
					tracer := shimtest.NewTracer(t, map[string]any{"call_sites": "caller", "verify": true})
					r := tracer.Run(t, shimtest.Launch(implementation, ranks, program, arguments[filepath.Base(program)]...)...)
					require.Equal(t, 0, r.Code, r.Stdout+r.Stderr)
					directories := tracer.Processes(t)
					require.Len(t, directories, ranks)
					result, err := Compare(open(t, directories), directories)
					require.NoError(t, err)
					for _, d := range result.Disagreements {
						t.Error(d)
					}
					require.Equal(t, ranks, result.Ranks)
					require.NotZero(t, result.Calls)
					t.Logf("%d calls on %d ranks", result.Calls, result.Ranks)
				})
			}
		}
	}
}

// compareProgram runs a program and compares.
func compareProgram(t *testing.T, implementation string, ranks int, program string, arguments ...string) (Result, []string) {
	t.Helper()
	tracer := shimtest.NewTracer(t, map[string]any{"call_sites": "caller", "verify": true})
	r := tracer.Run(t, shimtest.Launch(implementation, ranks, program, arguments...)...)
	require.Equal(t, 0, r.Code, r.Stdout+r.Stderr)
	directories := tracer.Processes(t)
	require.Len(t, directories, ranks)
	result, err := Compare(open(t, directories), directories)
	require.NoError(t, err)
	return result, directories
}

// A log with one changed value, one call less or one more must not agree.
func TestCorruptedLog(t *testing.T) {
	t.Parallel()
	for name, corrupt := range map[string]func(log string) string{
		"tag":       func(s string) string { return strings.Replace(s, " tag=", " tag=1", 1) },
		"function":  func(s string) string { return strings.Replace(s, "MPI_Isend", "MPI_Issend", 1) },
		"status":    func(s string) string { return strings.Replace(s, "[{", "[{9", 1) },
		"handle":    func(s string) string { return strings.Replace(s, " comm=", " comm=7", 1) },
		"moments":   func(s string) string { return moveWindows(s, 1e9, 1e9) },
		"durations": func(s string) string { return moveWindows(s, -5e8, 5e8) },
		"stamps": func(s string) string {
			return regexp.MustCompile(`(@\d+:\d+:\d+:\d+)\d `).ReplaceAllString(s, "${1}9 ")
		},
		"less": func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			return strings.Join(lines[:len(lines)-3], "")
		},
		"result": func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			for i, l := range lines {
				if strings.HasPrefix(l, "R 3 ") {
					fields := strings.SplitN(l, " ", 5)
					fields[3] = "15"
					lines[i] = strings.Join(fields, " ")
				}
			}
			return strings.Join(lines, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			result, directories := compareProgram(t, "mpich", 4, shimtest.Example("mpich", "stencil"), "--iterations", "12")
			require.Empty(t, result.Disagreements)
			reader := open(t, directories)
			path := filepath.Join(directories[0], "reference", "0.log")
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			changed := corrupt(string(b))
			require.NotEqual(t, string(b), changed)
			require.NoError(t, os.WriteFile(path, []byte(changed), 0o644))
			result, err = Compare(reader, directories)
			require.NoError(t, err)
			require.NotEmpty(t, result.Disagreements)
			require.Equal(t, 3, result.Ranks)
			t.Log(result.Disagreements[0])
		})
	}
}

// moveWindows shifts the beginnings and ends of the windows of all calls.
func moveWindows(log string, from, to int64) string {
	return regexp.MustCompile(`@\d+:\d+:`).ReplaceAllStringFunc(log, func(window string) string {
		var a, b int64
		if _, err := fmt.Sscanf(window, "@%d:%d:", &a, &b); err != nil {
			panic(err)
		}
		return fmt.Sprintf("@%d:%d:", a+from, b+to)
	})
}
