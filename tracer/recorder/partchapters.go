package recorder

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// packChapters copies the chapters in some files of the log, and returns the first ones of which all is in parts once this
// one has its name. Chapters wait for the times of their calls: these are coded with what the calls are, and that must not
// have to be read from the store.
func (k *packer) packChapters(r *Recorder, files []string) (coded []string, err error) {
	ready := map[uint32]uint64{}         // calls of each thread
	next := map[uint32]trace.ChapterOf{} // where the next one of each thread begins, in Calls
	for _, t := range r.threads {
		ready[t.number] = t.inChapters // a later checkpoint counts more
		if len(t.aggregates) == 0 {
			ready[t.number] = min(t.inChapters, k.next[t.number]*timing.BlockCalls)
		}
		list, calls := r.codedChapters(t)
		next[t.number] = trace.ChapterOf{Thread: int(t.number), Number: uint64(len(list)), Calls: calls}
	}
	for i, file := range files {
		var blocks []loggedBlock
		for of, list := range k.log.blocks {
			for _, b := range list {
				if of.terminal == aChapter && b.file == file {
					blocks = append(blocks, b)
				}
			}
		}
		slices.SortFunc(blocks, func(a, b loggedBlock) int { return cmp.Compare(a.at, b.at) })
		for j := range blocks {
			b := &blocks[j]
			at := next[b.of.thread]
			switch {
			case b.first+b.n <= at.Calls:
				continue // a part has it
			case b.first+b.n > ready[b.of.thread]:
				return files[:i], nil
			case b.first != at.Calls:
				return files[:i], errBlocks
			}
			whole, err := k.log.open(b)
			if err != nil {
				return files[:i], err
			}
			if err := k.begin(); err != nil {
				return files[:i], err
			}
			of := at
			of.Calls = b.n
			if err := k.part.Chapter(of, whole.data[0]); err != nil {
				return files[:i], err
			}
			at.Number, at.Calls = at.Number+1, at.Calls+b.n
			next[b.of.thread] = at
		}
	}
	return files, nil
}
