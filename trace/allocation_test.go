package trace

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// pointersAndPaths is a trace with segments and call paths: main -> exchange -> MPI_Send
// of a heap buffer.
func pointersAndPaths(t testing.TB) *Content {
	t.Helper()
	c := stencil(2, 3, true)
	c.Sites = append(c.Sites[:0:0],
		Site{BuildID: "aabb", Module: "stencil", Offset: 0x2000, Function: "main", File: "stencil.c", Line: 40},
		Site{BuildID: "aabb", Module: "stencil", Offset: 0x1234, Function: "exchange", File: "stencil.c", Line: 17, Caller: 1},
		Site{BuildID: "ccdd", Module: "libc.so.6"},
	)
	c.Allocations = []Allocation{
		{Kind: HeapAllocation, Site: 1, Size: 4096, Ordinal: 1},
		{Kind: StackAllocation, Number: 2},
		{Kind: DeviceAllocation, Number: 3, Site: 2, Size: 1 << 40},
	}
	for i := range c.Signatures {
		s := &c.Signatures[i]
		s.Site = uint32(1 + i%2)
		for _, values := range [][]Value{s.In, s.Out} {
			for k := range values {
				if values[k].Form == Pointer {
					values[k].Int, values[k].Offset = int64(1+i%3), int64(i*100-50)
				}
			}
		}
	}
	require.NoError(t, c.Validate())
	return c
}

func TestPointersAndCallPathsRoundTrip(t *testing.T) {
	c := pointersAndPaths(t)
	r := opened(t, written(t, c))
	require.Equal(t, c.Allocations, r.Allocations())
	require.Equal(t, c.Sites, r.Sites())
	require.Equal(t, c.Signatures, r.Signatures())
	require.Positive(t, r.Sizes().Pointers)
	var path []string
	for s := range CallPath(r.Sites(), &r.Sites()[1]) {
		path = append(path, s.Function)
	}
	require.Equal(t, []string{"exchange", "main"}, path)
}

func TestPointersAndCallPathsMustFitTogether(t *testing.T) {
	for name, spoil := range map[string]func(*Content){
		"a path in a circle":            func(c *Content) { c.Sites[0].Caller = 2 },
		"a site that is its own caller": func(c *Content) { c.Sites[1].Caller = 2 },
		"a segment at no site":          func(c *Content) { c.Allocations[0].Site = 4 },
		"a segment of no kind":          func(c *Content) { c.Allocations[0].Kind = 0 },
		"a pointer to no segment":       func(c *Content) { c.Allocations = c.Allocations[:1] },
	} {
		t.Run(name, func(t *testing.T) {
			c := pointersAndPaths(t)
			spoil(c)
			require.Error(t, c.Validate())
		})
	}
}

func TestPointerText(t *testing.T) {
	e := Event{
		Function: &Function{Name: "MPI_F", Return: "int", Parameters: []Parameter{
			{Name: "a", Kind: "buffer", Direction: In}, {Name: "b", Kind: "buffer", Direction: In}, {Name: "c", Kind: "buffer", Direction: In},
		}},
		In:          []Value{{Form: Pointer, Int: 1, Offset: 24}, {Form: Pointer, Int: 2}, {Form: Pointer}},
		Return:      Value{Form: Int},
		Signature:   &Signature{},
		allocations: []Allocation{{Kind: DeviceAllocation, Number: 1, Size: 64, Site: 1}, {Kind: StackAllocation, Number: 3}},
		sites:       []Site{{BuildID: "aa", Module: "m", Offset: 16}},
	}
	require.Equal(t, "MPI_F(a=device#0+24, b=stack#1, c=…) = MPI_SUCCESS", e.Text())
	require.JSONEq(t, `{"rank":0,"thread":0,"index":0,"function":"MPI_F","args":{
		"a":{"kind":"device","segment":0,"offset":24,"device":1,"size":64,
		     "allocated_at":{"module":"m","build_id":"aa","offset":16}},
		"b":{"kind":"stack","segment":1,"offset":0,"thread":3},
		"c":"…"},"return":0,"start_ns":null,"duration_ns":null}`, string(e.AppendJSON(nil)))
}

func TestSecondReaderKnowsPointersAndCallPaths(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.cairn")
	content := written(t, pointersAndPaths(t))
	require.NoError(t, os.WriteFile(file, content, 0o600))
	got, err := exec.Command("python3", "testdata/reader.py", file).CombinedOutput()
	require.NoError(t, err, "%s", got)
	require.Contains(t, string(got), `"call_path"`)
	require.Contains(t, string(got), `"kind":"device"`)
	require.Equal(t, jsonLines(t, opened(t, content)), string(got))
}
