package trace

import (
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/google/go-cmp/cmp"
)

// listed compares tables by what they hold.
var listed = cmp.Options{
	cmp.Transformer("ranks", func(t RankTable) []Rank { return t.List() }),
	cmp.Transformer("threads", func(t ThreadTable) []Thread { return t.List() }),
	cmp.Transformer("numbers", func(n codec.Numbers) []int64 { return n.Values(nil) }),
}
