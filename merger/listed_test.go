package merger

import (
	"github.com/google/go-cmp/cmp"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
)

// listed compares tables by what they hold.
var listed = cmp.Options{
	cmp.Transformer("ranks", func(t trace.RankTable) []trace.Rank { return t.List() }),
	cmp.Transformer("threads", func(t trace.ThreadTable) []trace.Thread { return t.List() }),
	cmp.Transformer("numbers", func(n codec.Numbers) []int64 { return n.Values(nil) }),
}
