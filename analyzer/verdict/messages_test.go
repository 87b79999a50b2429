package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestMessages(t *testing.T) {
	assertSays(t, map[string]said{
		"small messages":           {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooMany, Before: send, Calls: 12000, EachSeconds: 2e-6, Bytes: 8, GainSeconds: new(4.0)}, "Many small messages make this job slow: their time goes to MPI_Send at a.c:10 (12,000 calls, 2 µs each, 8 B on average)." + without},
		"large messages":           {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooLarge, Before: send, Calls: 12, EachSeconds: 0.002, Bytes: 3 << 20, GainSeconds: new(4.0)}, "Large messages make this job slow: their time goes to MPI_Send at a.c:10 (12 calls, 2 ms each, 3.0 MiB on average)." + without},
		"small pieces":             {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooLarge, Before: send, Calls: 12, EachSeconds: 0.002, Bytes: 3 << 20, PieceBytes: 4, GainSeconds: new(4.0)}, "Large messages of many small pieces make this job slow: their time goes to MPI_Send at a.c:10 (12 calls, 2 ms each, 3.0 MiB on average, in pieces of 4 B)." + without},
		"many messages of nothing": {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooMany, Before: send, Calls: 12000, EachSeconds: 2e-6, GainSeconds: new(4.0)}, "Many small messages make this job slow: their time goes to MPI_Send at a.c:10 (12,000 calls, 2 µs each)." + without},
		"large halos":              {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooLarge, Before: wait, Completes: true, Calls: 12, EachSeconds: 0.002, Bytes: 6 << 20, GainSeconds: new(4.0)}, "Large messages make this job slow: their time goes to MPI_Waitall at a.c:20 (12 calls, 2 ms each, messages of 6.0 MiB on average)." + without},
		"messages not overlapped":  {verdict.Cause{Kind: verdict.Messages, Form: verdict.NoOverlap, Before: wait, Completes: true, AheadSeconds: 0.015, Calls: 12, EachSeconds: 0.012, Bytes: 6 << 20, GainSeconds: new(4.0)}, "Non-blocking messages make this job slow: they are started 15 ms before the wait for them, and yet their time goes to MPI_Waitall at a.c:20 (12 calls, 12 ms each, messages of 6.0 MiB on average)." + without},
		"messages of unknown size": {verdict.Cause{Kind: verdict.Messages, Before: wait, Calls: 1, EachSeconds: 0.5, GainSeconds: new(4.0)}, "Messages make this job slow: their time goes to MPI_Waitall at a.c:20 (1 call, 500 ms)." + without},
	})
	assertNames(t, map[string]said{
		"messages": {verdict.Cause{Kind: verdict.Messages, Before: send, GainSeconds: new(4.0)}, "messages, all in MPI_Send at a.c:10"},
	})
	assertAdvises(t, map[string]advised{
		"small":   {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooMany, Before: send}, verdict.Neighbors{}, []string{"fewer and larger messages"}, "compressed"},
		"large":   {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooLarge, Before: send}, verdict.Neighbors{}, []string{"Send less"}, "fewer"},
		"pieces":  {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooLarge, Before: send, PieceBytes: 4}, verdict.Neighbors{}, []string{"pieces of 4 B", "contiguous buffer", "MPI_Type_create_subarray"}, "Send less"},
		"halos":   {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooLarge, Before: wait, Completes: true, AheadSeconds: 2e-5}, verdict.Neighbors{}, []string{"Send less", "now it is started 20 µs before"}, "fewer"},
		"waits":   {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooMany, Before: wait, Completes: true, Bytes: 8}, verdict.Neighbors{}, []string{"Send fewer and larger messages: collect what goes to one rank and"}, "MPI_Waitall"},
		"few":     {verdict.Cause{Kind: verdict.Messages, Before: wait, Bytes: 8, EachSeconds: 0.5}, verdict.Neighbors{}, []string{"in the timeline: they take 500 ms each", "neither their number nor their size"}, "fewer"},
		"unknown": {verdict.Cause{Kind: verdict.Messages, Before: wait, EachSeconds: 0.5}, verdict.Neighbors{}, []string{"How much data they move is not known"}, "fewer"},
	})
}
