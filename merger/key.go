package merger

import (
	"cmp"
	"encoding/binary"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// These functions encode values so that equal values, and only those, have equal bytes. For
// signatures, trace.AppendSignature does.

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// communicatorKey omits label and remote world, which are not part of the identity.
func communicatorKey(c *trace.Communicator) []byte {
	b := appendString(nil, c.GlobalName)
	b = appendRankList(b, c.Members)
	b = appendRankList(b, c.Remote)
	b = binary.AppendUvarint(b, uint64(len(c.Topology.Dims)))
	for _, d := range c.Topology.Dims {
		b = binary.AppendVarint(b, int64(d))
	}
	b = binary.AppendUvarint(b, uint64(len(c.Topology.Periodic)))
	for _, p := range c.Topology.Periodic {
		b = appendBool(b, p)
	}
	return appendBool(b, c.Topology.Graph)
}

func appendRankList(b []byte, l trace.RankList) []byte {
	b = binary.AppendUvarint(b, uint64(len(l)))
	for _, r := range l {
		b = binary.AppendVarint(b, int64(r.Start))
		b = binary.AppendVarint(b, int64(r.Count))
		b = binary.AppendVarint(b, int64(r.Stride))
	}
	return b
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendRule(b []byte, body []grammar.Symbol) []byte {
	for _, s := range body {
		b = binary.AppendVarint(b, int64(s.Value))
		b = binary.AppendUvarint(b, s.Count)
	}
	return b
}

func appendCount(b []byte, n int64) []byte { return binary.AppendUvarint(b, uint64(n)) }

func compareSites(a, b trace.Site) int {
	return cmp.Or(
		cmp.Compare(a.BuildID, b.BuildID),
		cmp.Compare(a.Module, b.Module),
		cmp.Compare(a.Offset, b.Offset),
		cmp.Compare(a.Function, b.Function),
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
	)
}
