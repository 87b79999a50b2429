package spool

import (
	"errors"
	"os"
	"slices"
	"strconv"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
)

// Blocks in the logs are varints. Another process codes closed files of the logs into parts
// (trace.Part) while the traced process continues: it codes times and values, copies chapters,
// writes part-0, part-1, … in the process's directory, and removes the files of the logs. Each
// block is coded once.
const (
	partFile     = "part-"
	partNew      = "part.new" // being written
	partFiles    = 4          // maximal number of log files that are coded into one part
	partChapters = 64         // the same for chapters, which have a file each
	maxPartFile  = 4 * partFiles * maxBlockFile
)

// Packed is the result of Pack.
type Packed struct {
	Calls  uint64 // calls whose times were coded
	Values uint64 // values of value streams that were coded
	Before int64  // bytes of the files that were removed
	After  int64  // bytes of the files that replaced them
	More   int    // closed files of the logs that were left for the next Pack
}

// Pack codes the closed files of the logs of a process and removes them. The process may be
// alive or have ended. Pack makes at most one part; Packed.More reports whether there is
// enough left for another one. The caller must ensure that nobody else packs or reads the
// directory at the same time.
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
	if online.New(p.Mode) != nil {
		times, chapters = nil, nil // their blocks do not match those of a trace
	}
	logs := []string{timesFile, chaptersFile}
	if len(values) > 0 {
		logs = append(logs, valuesFile)
	}
	last, err := d.readCheckpoint(p, logs...)
	if err != nil || last == nil {
		return done, err
	}
	r := last.recorder
	firstTimes, firstValues := times[:min(len(times), partFiles)], values[:min(len(values), partFiles)]
	firstChapters := chapters[:min(len(chapters), partChapters)]
	k := packer{directory: d, log: r.Blocks, content: &trace.Content{}, next: map[uint32]uint64{}}
	defer k.close()
	for thread, blocks := range r.Blocks.Coded {
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
	// what is not coded yet waits for the next checkpoint
	if len(codedTimes) == len(firstTimes) && len(codedValues) == len(firstValues) {
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

// packTimes codes the times in some files of the log. It returns the leading files of which
// everything is in parts now.
func (k *packer) packTimes(r *recorder.Recorder, files []string) (coded []string, err error) {
	if len(files) == 0 {
		return nil, nil
	}
	blocks, wanted := timesIn(r.Blocks, files)
	if k.content, k.threads, err = r.Outline(wanted); err != nil {
		return nil, err
	}
	for i, name := range files {
		if all, err := k.pack(blocks[name]); err != nil || !all {
			return files[:i], err
		}
	}
	return files, nil
}

// closedLogs returns the files of a log that nothing is written to any more. For a living
// process the last file is excluded, however long it is, because a write that is under way can
// be seen in part.
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

// timesIn returns the blocks of times in some files of the log, in the order of each thread's
// calls, and the ranges of these calls.
func timesIn(x *recorder.BlockIndex, files []string) (blocks map[string][]recorder.LoggedBlock, calls func(thread uint32) recorder.CallRange) {
	blocks = map[string][]recorder.LoggedBlock{}
	in := map[uint32]recorder.CallRange{}
	for of, list := range x.Blocks {
		for _, b := range list {
			if !of.IsTimes() || !slices.Contains(files, b.File) {
				continue
			}
			blocks[b.File] = append(blocks[b.File], b)
			if _, known := in[of.Thread]; !known {
				in[of.Thread] = recorder.CallRange{From: b.First, To: b.First}
			}
			in[of.Thread] = recorder.CallRange{From: in[of.Thread].From, To: b.First + b.N}
		}
	}
	return blocks, func(thread uint32) recorder.CallRange { return in[thread] }
}

// A packer writes a part.
type packer struct {
	directory *Directory
	log       *recorder.BlockIndex
	content   *trace.Content // without times
	threads   []trace.Thread
	next      map[uint32]uint64 // by thread: number of its next block
	file      *os.File          // nil: nothing was coded yet
	part      *trace.PartWriter
	calls     uint64
	values    uint64
	left      []*recorder.Block // values that do not fill a chunk
}

// pack codes the blocks in a file of the log. It reports whether all of them are in parts now.
// Blocks that the last checkpoint does not count cannot be coded yet.
func (k *packer) pack(blocks []recorder.LoggedBlock) (all bool, err error) {
	gaps, durations := make([]int64, timing.BlockCalls), make([]int64, timing.BlockCalls)
	for i := range blocks {
		b := &blocks[i]
		number := b.First / timing.BlockCalls
		t := k.threadOf(b.Of.Thread)
		switch {
		case b.First%timing.BlockCalls != 0 || b.N != timing.BlockCalls:
			return false, nil
		case number < k.next[b.Of.Thread]:
			continue // it is in a part
		case t == nil || number > k.next[b.Of.Thread] || t.Calls < b.First+b.N:
			return false, nil
		}
		from, err := k.log.TimesIn(blocks[i : i+1]).OpenTiming()
		if err != nil {
			return false, err
		}
		if n, err := from.ReadTiming(gaps, durations); err != nil || n < len(gaps) {
			return false, errors.Join(recorder.ErrBlocks, err)
		}
		if err := k.begin(); err != nil {
			return false, err
		}
		if b.Coarse {
			err = k.part.Sums(t, number, b.Before, gaps, durations)
		} else {
			err = k.part.Timing(t, number, b.Before, gaps, durations)
		}
		if err != nil {
			return false, err
		}
		k.next[b.Of.Thread]++
		k.calls += b.N
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

// begin creates the file of the part when there is something to write.
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

// finish renames the complete part to its final name.
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
