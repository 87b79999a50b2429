package recorder

import (
	"errors"
	"os"
	"slices"
	"strconv"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// The blocks in the logs take the space of varints. Somebody else, while the process goes on, codes those of times and
// values, and copies chapters, into parts (trace.Part), part-0, part-1, … in the process's directory, and removes the files of the logs that they
// came from. Each block is coded once.
const (
	partFile     = "part-"
	partNew      = "part.new" // being written
	partFiles    = 4          // of the log are coded into one part, at most
	partChapters = 64         // the same of chapters, which have a file each
	mostPartFile = 4 * partFiles * mostBlockFile
)

// Packed says what Pack has done.
type Packed struct {
	Calls  uint64 // whose times were coded
	Values uint64 // of value streams that were coded
	Before int64  // bytes of the files that were removed
	After  int64  // bytes of those that took their place
	More   int    // files of the logs that are closed and were left for the next time
}

// Pack codes what is in the files of the logs that are closed, of a process that lives or has ended, and removes the files.
// It does nothing when there is none, and goes no further than what makes one part: More says whether there is work for
// another one. The caller sees to it that nobody else packs or reads the directory meanwhile.
func (d *Directory) Pack() (done Packed, err error) {
	times, err := d.closedLogs(timesFile)
	if err != nil {
		return done, err
	}
	values, err := d.closedLogs(valuesFile)
	if err != nil {
		return done, err
	}
	chapters, err := d.closedLogs(chaptersFile)
	if err != nil || len(times)+len(values)+len(chapters) == 0 {
		return done, err
	}
	p, err := d.Process()
	if err != nil {
		return done, err
	}
	if newClustering(p.Mode) != nil {
		times, chapters = nil, nil // these do not come in blocks of a trace
	}
	logs := []string{timesFile, chaptersFile}
	if len(values) > 0 {
		logs = append(logs, valuesFile)
	}
	r, _, err := d.readCheckpoint(p, logs...)
	if err != nil || r == nil {
		return done, err
	}
	firstTimes, firstValues := times[:min(len(times), partFiles)], values[:min(len(values), partFiles)]
	firstChapters := chapters[:min(len(chapters), partChapters)]
	k := packer{directory: d, log: r.blocks, content: &trace.Content{}, next: map[uint32]uint64{}}
	defer k.close()
	for thread, blocks := range r.blocks.coded {
		k.next[uint32(thread)] = uint64(len(blocks))
	}
	codedTimes, err := k.packTimes(r, firstTimes)
	if err != nil {
		return done, err
	}
	codedValues, err := k.packValues(r, firstValues)
	if err != nil {
		return done, err
	}
	codedChapters, err := k.packChapters(r, firstChapters)
	if err != nil {
		return done, err
	}
	if len(codedTimes) == len(firstTimes) && len(codedValues) == len(firstValues) { // else the next checkpoint has the others
		done.More = len(times) - len(codedTimes) + len(values) - len(codedValues)
	}
	if done.After, err = k.finish(); err != nil {
		return done, err
	}
	if len(codedValues) > 0 {
		grown, err := d.keepLeft(k.left)
		if done.After += grown; err != nil {
			return done, err
		}
	}
	done.Calls, done.Values = k.calls, k.values
	for _, name := range slices.Concat(codedTimes, codedValues, codedChapters) {
		info, err := d.root.Lstat(name)
		if err == nil {
			err = d.root.Remove(name)
		}
		if err != nil {
			return done, err
		}
		done.Before += info.Size()
	}
	return done, nil
}

// packTimes codes the times in some files of the log, and returns the first ones of which all is in parts now.
func (k *packer) packTimes(r *Recorder, files []string) (coded []string, err error) {
	if len(files) == 0 {
		return nil, nil
	}
	blocks, wanted := r.blocks.timesIn(files)
	if k.content, k.threads, err = r.outline(wanted); err != nil {
		return nil, err
	}
	for i, name := range files {
		if all, err := k.pack(blocks[name]); err != nil || !all {
			return files[:i], err
		}
	}
	return files, nil
}

// closedLogs are the files of a log that nothing is written to any more: of a process that lives all but the last, however
// long that is. A write that is under way can be seen in part.
func (d *Directory) closedLogs(prefix string) (closed []string, err error) {
	numbers, err := d.numbered(prefix)
	if !d.Ended {
		numbers = numbers[:max(len(numbers)-1, 0)]
	}
	for _, number := range numbers {
		closed = append(closed, prefix+strconv.Itoa(number))
	}
	return closed, err
}

// timesIn lists the blocks of times in some files of the log, in the order of each thread's calls, and says of which calls
// these are.
func (x *blockIndex) timesIn(files []string) (blocks map[string][]loggedBlock, calls func(thread uint32) callRange) {
	blocks = map[string][]loggedBlock{}
	in := map[uint32]callRange{}
	for of, list := range x.blocks {
		for _, b := range list {
			if of.terminal != none || !slices.Contains(files, b.file) {
				continue
			}
			blocks[b.file] = append(blocks[b.file], b)
			if _, known := in[of.thread]; !known {
				in[of.thread] = callRange{b.first, b.first}
			}
			in[of.thread] = callRange{in[of.thread].from, b.first + b.n}
		}
	}
	return blocks, func(thread uint32) callRange { return in[thread] }
}

// A packer writes a part.
type packer struct {
	directory *Directory
	log       *blockIndex
	content   *trace.Content // without times
	threads   []trace.Thread
	next      map[uint32]uint64 // number of the next block of each thread
	file      *os.File          // nil: nothing was coded yet
	part      *trace.PartWriter
	calls     uint64
	values    uint64
	left      []*block // values that do not fill a chunk
}

// pack codes the blocks in a file of the log. It reports whether all are in parts now: those that the last checkpoint does
// not count cannot be coded yet.
func (k *packer) pack(blocks []loggedBlock) (all bool, err error) {
	gaps, durations := make([]int64, timing.BlockCalls), make([]int64, timing.BlockCalls)
	for i := range blocks {
		b := &blocks[i]
		number := b.first / timing.BlockCalls
		t := k.threadOf(b.of.thread)
		switch {
		case b.first%timing.BlockCalls != 0 || b.n != timing.BlockCalls:
			return false, nil
		case number < k.next[b.of.thread]:
			continue // a part has it
		case t == nil || number > k.next[b.of.thread] || t.Calls < b.first+b.n:
			return false, nil
		}
		times := &threadTimes{log: k.log, logged: blocks[i : i+1]}
		from, err := times.OpenTiming()
		if err != nil {
			return false, err
		}
		if n, err := from.ReadTiming(gaps, durations); err != nil || n < len(gaps) {
			return false, errors.Join(errBlocks, err)
		}
		if err := k.begin(); err != nil {
			return false, err
		}
		if err := k.part.Timing(t, number, b.before, gaps, durations); err != nil {
			return false, err
		}
		k.next[b.of.thread]++
		k.calls += b.n
	}
	return true, nil
}

func (k *packer) threadOf(number uint32) *trace.Thread {
	for i := range k.threads {
		if k.threads[i].Thread == int(number) {
			return &k.threads[i]
		}
	}
	return nil
}

// begin makes the file when there is something for it.
func (k *packer) begin() (err error) {
	if k.file != nil {
		return nil
	}
	if k.file, err = plainfile.Create(k.directory.root, partNew); err != nil {
		return err
	}
	k.part, err = trace.NewPartWriter(k.file, k.content)
	return err
}

// finish gives the part its name. Whoever sees it sees all of it.
func (k *packer) finish() (size int64, err error) {
	if k.file == nil {
		return 0, nil
	}
	if err := k.part.Close(); err != nil {
		return 0, err
	}
	info, err := k.file.Stat()
	if err != nil {
		return 0, err
	}
	next := 0
	for _, prefix := range []string{partFile, storedFile} {
		numbers, err := k.directory.numbered(prefix)
		if err != nil {
			return 0, err
		}
		if len(numbers) > 0 {
			next = max(next, numbers[len(numbers)-1]+1)
		}
	}
	return info.Size(), k.directory.root.Rename(partNew, partFile+strconv.Itoa(next))
}

func (k *packer) close() {
	if k.file != nil {
		k.file.Close()
	}
}
