package merger

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-mpi/cairn/trace"
)

// decode writes every call of a rank with everything that a reader gets, independent of the trace's
// own numbers: it must be the same before and after a merge. Requests are numbered in order of
// first use, since only their equality has a meaning.
func decode(t *testing.T, c *trace.Content, rank int) []string {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	var calls []string
	requests := map[int64]int64{}
	communicator := func(i int) string {
		if i < 0 {
			return "none"
		}
		comm := c.Communicators[i]
		return fmt.Sprintf("%s %s/%s", comm.GlobalName, comm.Members, comm.Remote)
	}
	for i := range c.Threads.Len() {
		if c.Threads.At(i).Rank != rank {
			continue
		}
		cursor, err := c.Cursor(rank, c.Threads.At(i).Thread)
		if err != nil {
			t.Fatal(err)
		}
		for cursor.Next() {
			e := cursor.Event()
			shown := trace.Signature{In: slices.Clone(e.In), Out: slices.Clone(e.Out)}
			for _, v := range e.Function.Requests(&shown) {
				ids, _ := requestsIn(v)
				for _, id := range ids {
					if _, known := requests[id]; !known {
						requests[id] = int64(len(requests))
					}
				}
				*v = replaced(*v, requests)
			}
			var line strings.Builder
			fmt.Fprintf(&line, "%d.%d %s %v %v %v", e.Rank, e.Thread, e.Function.Name, shown.In, shown.Out, e.Return)
			fmt.Fprintf(&line, " on %s as %d makes %s", communicator(e.Comm), e.OwnRank, communicator(e.NewComm))
			if e.Site != nil {
				fmt.Fprintf(&line, " at %s+%x", e.Site.BuildID, e.Site.Offset)
			}
			fmt.Fprintf(&line, " %d-%d", e.EnterTicks, e.ExitTicks)
			calls = append(calls, line.String())
		}
		if err := cursor.Err(); err != nil {
			t.Fatal(err)
		}
		if uint64(len(calls)) < c.Threads.At(i).Calls {
			t.Fatalf("rank %d: %d calls decoded", rank, len(calls))
		}
	}
	for i := range c.Ranks.Len() {
		if c.Ranks.At(i).Rank == rank {
			for _, id := range c.Ranks.At(i).CommunicatorsOwn {
				calls = append(calls, "has "+communicator(int(id)))
			}
		}
	}
	return calls
}
