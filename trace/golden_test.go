package trace

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write golden files that are not there; remove one first to have another, before it was ever in a release")

// The golden files that are written here; see golden_features_test.go for the others.
func goldenContents(t *testing.T) map[string]*Content {
	paths := pointersAndPaths(t)
	paths.Meta.Excluded = []string{"io"}
	paths.Ranks.Change(1, func(r *Rank) {
		r.Context = []ContextSample{{MonotonicNS: 5 << 16, CPUNS: 1 << 16, ThrottledPeriods: 12, CPU: 3, StealNS: Unknown}}
	})
	near, err := opened(t, written(t, roundedTimes(t, clockReader(wallClocks["since boot, as MPICH"], 17, 40)))).Content()
	require.NoError(t, err) // readings are near now, and stay what they are
	return map[string]*Content{
		"stencil": stencil(4, 12, true), "lists": lists(), "clustered": clustered(4, 12),
		"forms":    forms(),
		"readings": clockReader(wallClocks["since the start, as Open MPI"], 13, 40),
		"near":     near,
		"pointers": paths, // and call paths, and the conditions of the run
		"long":     longLists(300, func(i int) int64 { return int64(i%7)*1e6 + int64(i)*48 }),
	}
}

// goldenName returns the name of a golden file without its extension. b is what is written today.
func goldenName(name string, b []byte) string {
	return fmt.Sprintf("testdata/%s.v%d", name, b[len(magic)])
}

// longLists has a datatype of n blocks whose displacements are given.
func longLists(n int, displacement func(i int) int64) *Content {
	c := stencil(2, 2, false)
	c.Functions = append(c.Functions[:len(c.Functions):len(c.Functions)], Function{ID: 315, Name: "MPI_Type_create_struct", Return: "int",
		Parameters: []Parameter{{"count", "count", In, false}, {"array_of_blocklengths", "count", In, true},
			{"array_of_displacements", "extent", In, true}, {"array_of_types", "datatype", In, true}, {"newtype", "datatype", Out, false}}})
	lengths, displacements, types := Value{Form: List}, Value{Form: List}, Value{Form: List}
	for i := range n {
		lengths.List = append(lengths.List, number(1+int64(i%3)))
		displacements.List = append(displacements.List, number(displacement(i)))
		types.List = append(types.List, named("MPI_INT"))
	}
	terminal := int32(len(c.Signatures))
	c.Signatures = append(c.Signatures, Signature{Function: 315, OwnRank: -1, Return: number(0),
		In: []Value{number(int64(n)), lengths, displacements, types}, Out: []Value{{Form: Handle}}})
	done := map[int]bool{}
	for i := range c.Threads.Len() {
		c.Threads.Change(i, func(t *Thread) {
			if !done[t.Root] {
				c.Grammar.Rules[t.Root] = append([]grammar.Symbol{{Value: terminal, Count: 1}}, c.Grammar.Rules[t.Root]...)
				done[t.Root] = true
			}
			t.Calls++
		})
	}
	return c
}

// forms has the forms of values that simulated programs lack: floating-point numbers, functions of
// the program, values by case and relative to the rank in each call, own ranks in a column.
func forms() *Content {
	c := stencil(3, 2, false)
	c.Functions = append(c.Functions[:len(c.Functions):len(c.Functions)],
		Function{ID: 20, Name: "MPI_Op_create", Return: "int", Parameters: []Parameter{
			{"user_fn", "function", In, false}, {"commute", "bool", In, false}, {"op", "op", Out, false}}},
		Function{ID: 21, Name: "MPI_Weigh", Return: "double", Parameters: []Parameter{{"weights", "double", In, true}}},
	)
	c.Columns = []codec.Numbers{{}, {}, {}}
	for rank := range int64(3) {
		c.Columns[0].Push(min(rank, 2))
		c.Columns[1].Push(rank * rank)
		c.Columns[2].Push(2 - rank)
	}
	float := func(x float64) Value { return Value{Form: Float, Int: int64(math.Float64bits(x))} }
	elastic := func(o Operator, operands ...Value) Value { return Value{Form: Elastic, Int: int64(o), List: operands} }
	send := func(own int32, count, to Value) Signature {
		return Signature{Function: 3, OwnRank: own, Return: number(0),
			In: []Value{{Form: Pointer}, count, named("MPI_INT"), to, number(1), named("MPI_COMM_WORLD")}}
	}
	first := int32(len(c.Signatures))
	c.Signatures = append(c.Signatures,
		Signature{Function: 20, OwnRank: -1, Return: number(0), In: []Value{{Form: Code, Int: 2}, number(1)},
			Out: []Value{{Form: Handle, Int: 0}}},
		Signature{Function: 21, OwnRank: -1, Return: float(0.5), In: []Value{{Form: List, List: []Value{float(-1.5), float(1e300)}}}},
		send(-1, Value{Form: Column, Int: 1}, elastic(Cases, number(0), named("MPI_PROC_NULL"), Value{Form: RankOffset, Int: -1},
			elastic(Modulo, number(4), number(3)))),
		send(-4, elastic(Stride, number(5), number(2), number(2), number(0)), elastic(RelativeStream, number(0))),
	)
	prefix := []grammar.Symbol{{Value: first, Count: 1}, {Value: first + 1, Count: 1}, {Value: first + 2, Count: 1}, {Value: first + 3, Count: 2}}
	done := map[int]bool{}
	c.Sequences = append(c.Sequences, codec.Sequence{Values: []int64{1, -1}})
	for i := range c.Threads.Len() {
		c.Threads.Change(i, func(t *Thread) {
			if !done[t.Root] {
				c.Grammar.Rules[t.Root] = append(prefix[:len(prefix):len(prefix)], c.Grammar.Rules[t.Root]...)
				done[t.Root] = true
			}
			t.Calls += 5
			t.Streams = append(t.Streams, StreamRef{Terminal: first + 3, Sequence: int32(len(c.Sequences) - 1)})
		})
	}
	return c
}

// The golden files of each format version stay readable, with the same content.
func TestGoldenFile(t *testing.T) {
	for name, c := range goldenContents(t) {
		again := written(t, c)
		file, text := goldenName(name, again)+".cairn", goldenName(name, again)+".jsonl"
		if *update {
			WriteGolden(t, file, again)
			WriteGolden(t, text, []byte(jsonLines(t, opened(t, again))))
		}
		golden, err := os.ReadFile(file)
		require.NoError(t, err)
		want, err := os.ReadFile(text)
		require.NoError(t, err)
		r := opened(t, golden)
		require.Equal(t, string(want), jsonLines(t, r))
		got, err := r.Content()
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(c, got, cmpopts.EquateEmpty(), listed))
		// today's writer may write other bytes, but not many more
		require.Equal(t, string(want), jsonLines(t, opened(t, again)))
		require.LessOrEqual(t, len(again), len(golden)+len(golden)/20, name)
	}
}

// WriteGolden writes a new file and its checksum.
func WriteGolden(t testing.TB, path string, b []byte) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return
	}
	require.NoError(t, err)
	_, err = f.Write(b)
	require.NoError(t, errors.Join(err, f.Close()))
}

// Golden files never change: each has the checksum in testdata/SHA256SUMS (sha256sum *.v*.*).
func TestGoldenFilesNeverChange(t *testing.T) {
	sums, err := os.ReadFile("testdata/SHA256SUMS")
	require.NoError(t, err)
	want := map[string]string{}
	for line := range strings.Lines(string(sums)) {
		fields := strings.Fields(line)
		require.Len(t, fields, 2)
		want[fields[1]] = fields[0]
	}
	files, err := filepath.Glob("testdata/*.v*.*")
	require.NoError(t, err)
	require.Len(t, want, len(files))
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, want[filepath.Base(file)], fmt.Sprintf("%x", sha256.Sum256(b)), file)
	}
}

// A file of another version is refused, and the error says what to do.
func TestOtherVersionsAreRefused(t *testing.T) {
	b := written(t, stencil(2, 3, true))
	require.Equal(t, 3, opened(t, b).Version())
	for version, want := range map[byte]string{
		1: "format version 1 is older than what this Cairn reads, version 3: read the file with the Cairn that wrote it, or with 0feb64e, the last that reads versions 1 and 2",
		2: "format version 2 is older",
		4: ErrHistograms.Error(),
		6: "format version 6 is unknown to this Cairn, which reads versions 3 and 5: read the file with a newer one",
	} {
		b[len(magic)] = version
		_, err := Open(bytes.NewReader(b), int64(len(b)))
		require.ErrorContains(t, err, want)
	}
}

// A block of an unknown type, which a later Cairn may add, is skipped.
func TestUnknownBlocksArePassedOver(t *testing.T) {
	c := stencil(2, 3, true)
	whole := written(t, c)
	entries, _ := wholeBlocksOf(t, whole)
	var b bytes.Buffer
	w := &fileWriter{w: &b, chain: &Chain{}}
	w.write(whole[:headerSize])
	for i, e := range entries {
		if i == 1 {
			w.block(blockIndex-1, 5, 7, []byte("what is to come"))
		}
		w.index.Add(codec.Entry{Kind: e.Kind, Offset: w.written, Size: e.Size, Key: e.Key, Part: e.Part})
		w.write(whole[e.Offset:][:e.Size])
	}
	w.finish()
	require.Equal(t, jsonLines(t, opened(t, whole)), jsonLines(t, opened(t, b.Bytes())))
}

func jsonLines(t testing.TB, r *Reader) string {
	var b strings.Builder
	for _, thread := range r.Threads().All() {
		cursor, err := r.Cursor(thread.Rank, thread.Thread)
		require.NoError(t, err)
		for cursor.Next() {
			b.Write(append(cursor.Event().AppendJSON(nil), '\n'))
		}
		require.NoError(t, cursor.Err())
	}
	return b.String()
}

// A reader in another language, written from docs/format.md, reads the same of all golden files.
func TestSecondReader(t *testing.T) {
	for _, program := range []string{"python3", "zstd"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatal(err, "(hack/install.sh base installs python3 and zstd)")
		}
	}
	files, err := filepath.Glob("testdata/*.cairn")
	require.NoError(t, err)
	var want []byte
	for _, file := range files {
		text, err := os.ReadFile(strings.TrimSuffix(file, ".cairn") + ".jsonl")
		require.NoError(t, err)
		want = append(want, text...)
	}
	got, err := exec.Command("python3", append([]string{"testdata/reader.py"}, files...)...).CombinedOutput()
	require.NoError(t, err, "%s", got)
	require.Equal(t, string(want), string(got))
}
