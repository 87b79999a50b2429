package callsite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

func pathWord(number uint64) uint64 { return rawlayout.EntryTag<<rawlayout.EntryShift | number }

func TestModulesThatCameLater(t *testing.T) {
	s := New(&record.Process{})
	require.Zero(t, s.Of(0x900100), "nobody has said what is there")
	s.Dictionary.Modules = append(s.Dictionary.Modules, record.Module{Base: 0x900000, Limit: 0x901000, BuildID: "f00d", Path: "/opt/plugin.so"})
	s.Refresh()
	require.Equal(t, 1, s.Moves())
	v := s.Of(0x900100)
	require.Equal(t, trace.Site{BuildID: "f00d", Module: "plugin.so", Offset: 0x100}, s.List()[v-1])
	// it was closed, and there is another one at its address now
	s.Dictionary.Modules = append(s.Dictionary.Modules, record.Module{Base: 0x8ff000, Limit: 0x902000, BuildID: "beef", Path: "/opt/other.so"})
	s.Refresh()
	require.Equal(t, 2, s.Moves())
	v = s.Of(0x900100)
	require.Equal(t, trace.Site{BuildID: "beef", Module: "other.so", Offset: 0x1100}, s.List()[v-1])
}

func TestCallPathsShareTheirCallers(t *testing.T) {
	p := &record.Process{Modules: []record.Module{{Base: 0x400000, Limit: 0x500000, BuildID: "cafe", Path: "/bin/app"}}}
	s := New(p)
	s.Dictionary.Paths = [][]uint64{
		{0x401000, 0x401500, 0x401900},
		{0x401010, 0x401500, 0x401900},
		{0x401000, 0x123, 0x401900}, // through something unknown
	}
	first, second, broken := s.Of(pathWord(0)), s.Of(pathWord(1)), s.Of(pathWord(2))
	offsets := func(site int32) (list []uint64) {
		for p := range trace.CallPath(s.List(), &s.List()[site-1]) {
			list = append(list, p.Offset)
		}
		return list
	}
	require.Equal(t, []uint64{0x1000, 0x1500, 0x1900}, offsets(first))
	require.Equal(t, []uint64{0x1010, 0x1500, 0x1900}, offsets(second))
	require.Equal(t, []uint64{0x1000}, offsets(broken))
	require.Len(t, s.List(), 5)
	require.Zero(t, s.Of(pathWord(3)))

	again, e := New(p), &checkpoint.Encoder{}
	s.Encode(e, true)
	again.Decode(&checkpoint.Decoder{Rest: e.Buffer})
	require.Equal(t, s.List(), again.List())
}

// A closed table knows the sites that it has, and notes that it was asked for another one.
func TestClosedTable(t *testing.T) {
	s := New(&record.Process{Modules: []record.Module{{Base: 0x400000, Limit: 0x500000, BuildID: "cafe", Path: "/bin/app"}}})
	known := s.Of(0x401000)
	s.Closed = true
	require.Equal(t, known, s.Of(0x401000))
	require.False(t, s.Missed)
	require.Zero(t, s.Of(0x402000))
	require.True(t, s.Missed)
	require.Len(t, s.List(), 1)
}
