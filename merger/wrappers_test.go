package merger

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

// wrapped are the functions of MPI in the table of the test; the first one is called unless a path
// says otherwise.
var wrapped = []trace.Function{{ID: 1, Name: "MPI_F", Return: "int"}, {ID: 2, Name: "MPI_G", Return: "int"}, {ID: 3, Name: "MPI_Wtime", Return: "double", Class: "time"}}

// sitesOn lists the sites of a path of calls like "main:7 step:12 wrap:3 MPI_G", the outermost
// frame first. A frame is a line of a function of the program, or of a library ("lib/f:3"), or
// an address ("@5").
func sitesOn(path string) (sites []trace.Site) {
	for _, frame := range strings.Fields(path) {
		if strings.HasPrefix(frame, "MPI_") {
			continue
		}
		s := trace.Site{BuildID: "app", Module: "app"}
		if library, rest, in := strings.Cut(frame, "/"); in {
			s.BuildID, s.Module, frame = library, library, rest
		}
		at := max(0, strings.LastIndex(frame, ":"))
		function, line := frame[:at], strings.TrimPrefix(frame[at:], ":")
		if strings.HasPrefix(frame, "@") {
			function, line = frame, ""
		}
		for _, digit := range strings.TrimPrefix(function, "@") + line {
			s.Offset = s.Offset<<8 | uint64(digit)
		}
		if !strings.HasPrefix(function, "@") {
			s.Function, s.File = function, "/src/a.c"
			for _, digit := range line {
				s.Line = 10*s.Line + int(digit-'0')
			}
		}
		sites = append(sites, s)
	}
	return sites
}

// TestWrappersAreNotCallSites: the oracle is the table. "path -> frame": the call on the path has
// that site.
func TestWrappersAreNotCallSites(t *testing.T) {
	for name, calls := range map[string][]string{
		"a wrapper":               {"main:1 wrap:9 -> main:1", "main:2 wrap:9 -> main:2"},
		"called once":             {"main:1 f:9 -> f:9"},
		"two calls in a function": {"main:1 f:8 -> f:8", "main:2 f:9 -> f:9"},
		"one of many":             {"main:1 f:9 -> f:9", "main:2 f:9 -> f:9", "g:3 -> g:3", "h:3 -> h:3"},
		"all but one":             {"main:1 wrap:9 -> main:1", "main:2 wrap:9 -> main:2", "main:3 -> main:3"},
		"several wrappers": {
			"main:1 sum:9 -> main:1", "main:2 sum:9 -> main:2", "main:3 max:8 -> main:3", "main:4 max:8 -> main:4", "main:5 -> main:5",
		},
		"a wrapper of a wrapper":          {"main:1 upper:8 wrap:9 -> main:1", "main:2 upper:8 wrap:9 -> main:2"},
		"both are called":                 {"main:1 upper:8 wrap:9 -> upper:8", "main:2 upper:8 wrap:9 -> upper:8", "g:3 wrap:9 -> g:3", "g:4 wrap:9 -> g:4"},
		"the upper one more often":        {"main:1 upper:8 wrap:9 -> main:1", "main:2 upper:8 wrap:9 -> main:2", "main:3 wrap:9 -> main:3"},
		"paths of different length":       {"main:1 wrap:9 -> main:1", "wrap:9 -> wrap:9", "main:2 wrap:9 -> main:2"},
		"the program is in a library":     {"main:1 lib/run:1 lib/f:9 -> lib/f:9", "main:1 lib/run:2 lib/g:9 -> lib/g:9", "main:1 lib/h:9 -> lib/h:9"},
		"other places are in a library":   {"main:1 wrap:9 -> main:1", "main:2 wrap:9 -> main:2", "lib/f:1 -> lib/f:1", "lib/g:1 -> lib/g:1", "lib/h:1 -> lib/h:1"},
		"a library is a wrapper":          {"main:1 lib/f:9 -> main:1", "main:2 lib/f:9 -> main:2"},
		"it does something else, too":     {"main:1 f:8 -> f:8", "main:2 f:8 -> f:8", "main:1 f:9 MPI_G -> f:9", "main:2 f:9 MPI_G -> f:9"},
		"it asks for something, too":      {"main:1 f:9 -> main:1", "main:2 f:9 -> main:2", "main:1 f:8 MPI_Wtime -> f:8", "main:2 f:8 MPI_Wtime -> f:8"},
		"two methods of a template":       {"main:1 C<int>::send:8 -> main:1", "main:2 C<double>::send:8 -> main:2", "main:1 C<int>::recv:9 MPI_G -> main:1", "main:3 C<int>::recv:9 MPI_G -> main:3"},
		"one source in two binaries":      {"main:1 wrap:9 -> main:1", "main:2 wrap:9 -> main:2", "lib/main:5 lib/wrap:9 -> lib/main:5"},
		"without lines":                   {"@1 @9 -> @1", "@2 @9 -> @2"},
		"copies of one text":              {"main:1 f:9 -> f:9", "main:1 f:9 -> f:9"},
		"from several functions, in turn": {"a:1 x:5 wrap:9 -> x:5", "b:1 y:5 wrap:9 -> y:5"},
	} {
		t.Run(name, func(t *testing.T) {
			for range len(calls) {
				calls = append(calls[1:], calls[0]) // the order does not count
				var paths [][]trace.Site
				var want []trace.Site
				for _, call := range calls {
					path, shown, _ := strings.Cut(call, " -> ")
					paths = append(paths, sitesOn(path))
					want = append(want, sitesOn(shown)[0])
				}
				a, b := made(0, paths...), made(1, reversed(paths)...)
				for i, call := range calls {
					for _, f := range wrapped {
						if strings.Contains(call, " "+f.Name+" ") {
							a.Signatures[i].Function, b.Signatures[len(calls)-1-i].Function = f.ID, f.ID
						}
					}
				}
				for _, c := range []*trace.Content{a, b} {
					c.Meta.CallSites, c.Functions = "caller", wrapped
				}
				merged, err := Merge([]*trace.Content{a, b}, Options{Final: true})
				require.NoError(t, err)
				require.NoError(t, merged.Validate())
				shard, err := Merge([]*trace.Content{b, a}, Options{})
				require.NoError(t, err)
				again, err := Merge([]*trace.Content{shard}, Options{Final: true})
				require.NoError(t, err)
				require.Equal(t, merged, again, "a tree of merges makes the same trace")
				require.Equal(t, want, sitesOfCalls(merged, 0))
				require.Equal(t, reversed(want), sitesOfCalls(merged, 1))
			}
		})
	}
}

func reversed[T any](list []T) []T {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// sitesOfCalls lists the sites of the calls of a rank, in order.
func sitesOfCalls(c *trace.Content, rank int) (sites []trace.Site) {
	for _, thread := range c.Threads.All() {
		if thread.Rank != rank {
			continue
		}
		for terminal := range c.Grammar.All(thread.Root) {
			sites = append(sites, c.Sites[c.Signatures[terminal].Site-1])
		}
	}
	return sites
}

// TestCopiesAreNoWrappers: each rank calls a function from one place, though not all from the same
// one: what they do is one region.
func TestCopiesAreNoWrappers(t *testing.T) {
	var inputs []*trace.Content
	for rank, path := range []string{"main:1 f:9", "main:2 f:9", "main:3 f:9", "main:3 f:9"} {
		c := made(rank, sitesOn(path))
		c.Meta.CallSites, c.Meta.WorldSize = "caller", 4
		inputs = append(inputs, c)
	}
	merged, err := Merge(inputs, Options{Final: true})
	require.NoError(t, err)
	require.Equal(t, sitesOn("f:9"), merged.Sites)
	require.Len(t, merged.Signatures, 1)
}
