package detail

import (
	"cmp"
	"context"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A Window selects calls, in times of the event log.
type Window struct {
	Start    int64 // start of the run: times are relative to it
	From, To int64
	Ranks    []int // in the order in which they are shown; the first MaxRanks are used
}

// Names returns the names of the function and the call site of a signature.
type Names func(function uint16, site uint32) (name, callSite string)

// Take returns the window's calls and messages from an event log.
func Take(ctx context.Context, j *eventlog.Log, names Names, w Window) (*Detail, error) {
	w.Ranks = w.Ranks[:min(len(w.Ranks), MaxRanks)]
	k := taking{Window: w}
	for _, rank := range w.Ranks {
		for i, l := range j.Locations {
			if l.Rank != rank {
				continue
			}
			if err := k.read(ctx, j, i); err != nil {
				return nil, err
			}
		}
	}
	k.narrow()
	d := &Detail{FromNS: k.From - w.Start, ToNS: k.To - w.Start, Ranks: w.Ranks, Calls: make([]Call, len(k.calls)), Messages: []Message{}, Waits: []Wait{}}
	posted := make(map[match.EventID]int, len(k.calls))
	for i := range k.calls {
		c := &k.calls[i]
		name, site := names(c.record.Signature.Function, c.record.Signature.Site)
		l := j.Locations[c.record.Location]
		d.Calls[i] = Call{Rank: l.Rank, Thread: l.Thread, Function: name, CallSite: site, BeginNS: c.record.Enter - w.Start, EndNS: c.record.Exit - w.Start}
		if c.sends {
			posted[c.mark] = i
		}
	}
	for to := range k.calls {
		for _, m := range k.calls[to].received {
			if from, there := posted[m.from]; there {
				d.Messages = append(d.Messages, Message{From: from, To: to, SentNS: d.Calls[from].BeginNS, ReceivedNS: d.Calls[to].EndNS, Bytes: m.bytes})
			}
		}
	}
	slices.SortStableFunc(d.Messages, func(a, b Message) int {
		return cmp.Or(cmp.Compare(a.ReceivedNS, b.ReceivedNS), cmp.Compare(a.SentNS, b.SentNS), cmp.Compare(a.From, b.From))
	})
	return d, nil
}

// taking is a window with the calls found so far.
type taking struct {
	Window
	calls []taken
}

// taken is a call of the window.
type taken struct {
	record   timeline.Record
	mark     match.EventID // id that dependencies refer to
	sends    bool
	received []received
}

type received struct {
	from  match.EventID
	bytes int64
}

// read reads the calls of one location. Earlier calls must be read as well, because each is encoded
// relative to the previous one.
func (k *taking) read(ctx context.Context, j *eventlog.Log, location int) error {
	r := j.Read(location)
	ordinal := uint32(0)
	for range j.Slabs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for r.Next() {
			if r.Record.Enter >= k.To {
				return r.Err()
			}
			if r.Posted {
				ordinal++
			}
			var depends []eventlog.Dependency
			if r.Completes {
				_, depends = r.Completion()
			}
			if r.Record.Exit < k.From || r.Record.Outside {
				continue
			}
			c := taken{record: r.Record}
			if r.Posted {
				c.mark, c.sends = match.EventID{Location: int32(location), Ordinal: ordinal}, sends(r.Record.Semantics.Operation)
			}
			for i := range depends {
				if d := &depends[i]; carries(d) {
					c.received = append(c.received, received{d.On, d.Bytes})
				}
			}
			if k.calls = append(k.calls, c); len(k.calls) >= 8*MaxCalls {
				k.narrow()
			}
		}
	}
	return r.Err()
}

// sends reports whether the event that a call posts is a message. The event of a collective is its
// entry, and the events of windows carry no data.
func sends(o semantics.Operation) bool {
	switch o {
	case semantics.Send, semantics.SendReceive, semantics.Start, semantics.PartitionReady:
		return true
	}
	return false
}

// carries reports whether a dependency is a received message. It is not one if it is the receiver's
// answer to a message that the call sends, or part of a collective operation.
func carries(d *eventlog.Dependency) bool {
	if d.On.Ordinal == 0 || d.Own {
		return false
	}
	return !d.Handshake || d.Hops == dataLegs
}

// dataLegs is the number of latencies until the data of a message with a handshake has arrived.
const dataLegs = 3

// narrow narrows the window around its middle so that it has at most MaxCalls.
func (k *taking) narrow() {
	if len(k.calls) <= MaxCalls {
		return
	}
	middle := k.From + (k.To-k.From)/2
	distance := func(c *taken) int64 { return max(0, c.record.Enter-middle, middle-c.record.Exit) }
	distances := make([]int64, len(k.calls))
	for i := range k.calls {
		distances[i] = distance(&k.calls[i])
	}
	slices.Sort(distances)
	limit := distances[MaxCalls] // calls at this distance are too many
	k.calls = slices.DeleteFunc(k.calls, func(c taken) bool { return distance(&c) >= limit })
	k.From, k.To = max(k.From, middle-limit+1), min(k.To, middle+limit-1)
}
