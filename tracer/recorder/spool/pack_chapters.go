package spool

import (
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// packChapters copies the chapters in some files of the log. It returns the leading files of
// which everything will be in parts when this part is finished. A chapter is not copied before
// the times of its calls are coded: coding them needs the chapter, which must not have to be
// read from the store.
func (k *packer) packChapters(r *recorder.Recorder, files []string) (coded []string, err error) {
	ready := map[uint32]uint64{}         // by thread: calls whose times are coded
	next := map[uint32]trace.ChapterOf{} // by thread: first call (Calls) of its next chapter
	for _, c := range r.ClosedChapters() {
		ready[c.Thread] = c.Calls // a later checkpoint counts more
		if c.Timed {
			ready[c.Thread] = min(c.Calls, k.next[c.Thread]*timing.BlockCalls)
		}
		next[c.Thread] = trace.ChapterOf{Thread: int(c.Thread), Number: uint64(c.Coded), Calls: c.CodedCalls}
	}
	for i, name := range files {
		for _, b := range k.blocksIn(name, recorder.BlockOf.IsChapter) {
			at := next[b.Of.Thread]
			switch {
			case b.First+b.N <= at.Calls:
				continue // it is in a part
			case b.First+b.N > ready[b.Of.Thread]:
				return files[:i], nil
			case b.First != at.Calls:
				return files[:i], recorder.ErrBlocks
			}
			whole, err := k.log.Open(&b)
			if err == nil {
				err = k.begin()
			}
			if err == nil {
				err = k.part.Chapter(trace.ChapterOf{Thread: at.Thread, Number: at.Number, Calls: b.N}, whole.Data[0])
			}
			if err != nil {
				return files[:i], err
			}
			at.Number, at.Calls = at.Number+1, at.Calls+b.N
			next[b.Of.Thread] = at
		}
	}
	return files, nil
}
