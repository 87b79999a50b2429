package program

import (
	"context"

	"github.com/cairn-mpi/cairn/internal/passes"
)

// An argumentOf is a parameter of a signature: the k-th input, number in the function's list.
type argumentOf struct {
	terminal  int32
	k, number int
}

// streamed returns the term for an argument that has to be looked up call by call.
func (w *writer) streamed(a argumentOf) Term {
	number, known := w.looked[a]
	if !known {
		number = len(w.looked)
		if w.looked == nil {
			w.looked = map[argumentOf]int{}
		}
		w.looked[a] = number
	}
	return Term{Stream: &number}
}

// lookUp reads the values of the terms of streamed from the calls of all threads, whose roles are
// given.
func (w *writer) lookUp(ctx context.Context, roles []int) ([]Stream, error) {
	streams := []Stream{}
	if len(w.looked) == 0 {
		return streams, nil
	}
	arguments := map[int32][]argumentOf{}
	for a := range w.looked {
		arguments[a.terminal] = append(arguments[a.terminal], a)
	}
	_, pass, end := passes.Begin(ctx, "reading arguments", "threads", uint64(w.trace.Threads().Len()))
	defer end()
	type key struct {
		stream, thread int
		turns          string
	}
	at, ranks := map[key]int{}, [][]int{}
	for i, thread := range w.trace.Threads().All() {
		pass.Add(1)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lists, err := w.argumentsOf(thread.Rank, thread.Thread, arguments)
		if err != nil {
			return nil, err
		}
		for stream := range len(w.looked) {
			list := lists[stream]
			if list == nil {
				continue
			}
			k := key{stream, roles[i], marshaled(list.list)}
			s, known := at[k]
			if !known {
				s = len(streams)
				at[k] = s
				streams, ranks = append(streams, Stream{Stream: stream, Thread: roles[i], Turns: list.list}), append(ranks, nil)
			}
			ranks[s] = append(ranks[s], thread.Rank)
		}
	}
	for i := range streams {
		streams[i].Ranks = ranksText(ranks[i])
	}
	return streams, nil
}

// argumentsOf returns the arguments of a thread, by stream.
func (w *writer) argumentsOf(rank, thread int, arguments map[int32][]argumentOf) (map[int]*turnList, error) {
	lists := map[int]*turnList{}
	cursor, err := w.trace.Calls(rank, thread)
	if err != nil {
		return nil, err
	}
	for cursor.Next() {
		e := cursor.Event()
		for _, a := range arguments[e.Terminal] {
			stream := w.looked[a]
			if lists[stream] == nil {
				lists[stream] = &turnList{}
			}
			value := e.In[a.k]
			lists[stream].add([]Term{w.plain(&value, e.Function.Parameters[a.number].Kind)})
		}
	}
	return lists, cursor.Err()
}
