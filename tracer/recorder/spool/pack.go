package spool

import (
	"bytes"
	"cmp"
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

// packedLogs are the logs in the order in which they are coded, and how many files of each at most.
var packedLogs = [...]struct {
	prefix string
	most   int
	pack   func(k *packer, r *recorder.Recorder, files []string) (coded []string, err error)
}{
	{timesFile, partFiles, (*packer).packTimes},
	{valuesFile, partFiles, (*packer).packValues},
	{chaptersFile, partChapters, (*packer).packChapters},
}

// Pack codes the closed files of the logs of a process and removes them. The process may be
// alive or have ended. Pack makes at most one part; Packed.More reports whether there is
// enough left for another one. The caller must ensure that nobody else packs or reads the
// directory at the same time.
func (d *Directory) Pack() (done Packed, err error) {
	var closed [len(packedLogs)][]string
	for i, log := range packedLogs {
		if closed[i], err = d.closedLogs(log.prefix); err != nil {
			return done, err
		}
	}
	if len(slices.Concat(closed[:]...)) == 0 {
		return done, nil
	}
	last, err := d.readCheckpoint()
	if err != nil || !last.found {
		return done, err
	}
	k := packer{directory: d, log: last.recorder.Blocks, content: &trace.Content{}, next: map[uint32]uint64{}}
	defer k.close()
	for thread, blocks := range k.log.Coded {
		k.next[uint32(thread)] = uint64(len(blocks))
	}
	var files []string
	waits := false
	for i, log := range packedLogs {
		if log.prefix != valuesFile && online.New(last.process.Mode) != nil {
			continue // its blocks do not match those of a trace
		}
		first := closed[i][:min(len(closed[i]), log.most)]
		coded, err := log.pack(&k, last.recorder, first)
		if err != nil {
			return done, err
		}
		files = append(files, coded...)
		if log.prefix != chaptersFile { // which wait for their times
			waits = waits || len(coded) < len(first)
			done.More += len(closed[i]) - len(coded)
		}
	}
	if waits { // for the next checkpoint
		done.More = 0
	}
	if done.After, err = k.finish(); err != nil {
		return done, err
	}
	done.Calls, done.Values = k.calls, k.values
	for _, name := range files {
		size := d.sizeOf(name)
		if err := d.root.Remove(name); err != nil {
			return done, err
		}
		done.Before += size
	}
	return done, nil
}

// packTimes codes the times in some files of the log. It returns the leading files of which
// everything is in parts now.
func (k *packer) packTimes(r *recorder.Recorder, files []string) (coded []string, err error) {
	if len(files) == 0 {
		return nil, nil
	}
	blocks := make([][]recorder.StoredBlock, len(files))
	calls := callRanges{}
	for i, name := range files {
		blocks[i] = k.blocksIn(name, recorder.BlockOf.IsTimes)
		for _, b := range blocks[i] {
			calls.add(b.Of.Thread, b.First, b.First+b.N)
		}
	}
	if k.content, k.threads, err = r.Outline(calls.of); err != nil {
		return nil, err
	}
	for i := range files {
		if all, err := k.pack(blocks[i]); err != nil || !all {
			return files[:i], err
		}
	}
	return files, nil
}

// blocksIn returns the blocks of a kind in a file of a log, in their order.
func (k *packer) blocksIn(name string, kind func(recorder.BlockOf) bool) (blocks []recorder.StoredBlock) {
	for of, list := range k.log.Blocks {
		for _, b := range list {
			if kind(of) && b.File == name {
				blocks = append(blocks, b)
			}
		}
	}
	slices.SortFunc(blocks, func(a, b recorder.StoredBlock) int { return cmp.Compare(a.At, b.At) })
	return blocks
}

// closedLogs returns the files of a log that nothing is written to any more. For a living
// process the last file is excluded, however long it is, because a write that is under way can
// be seen in part.
func (d *Directory) closedLogs(prefix string) (closed []string, err error) {
	closed, err = d.files(prefix)
	if !d.Ended {
		closed = closed[:max(len(closed)-1, 0)]
	}
	return closed, err
}

// callRanges are ranges of calls, by thread.
type callRanges map[uint32]recorder.CallRange

func (c callRanges) of(thread uint32) recorder.CallRange { return c[thread] }

// add makes the range of a thread include some calls.
func (c callRanges) add(thread uint32, from, to uint64) {
	if have, known := c[thread]; known {
		from, to = min(from, have.From), max(to, have.To)
	}
	c[thread] = recorder.CallRange{From: from, To: to}
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
	left      []byte // the new leftFile; nil: it stays as it is
}

// pack codes the blocks in a file of the log. It reports whether all of them are in parts now.
// Blocks that the last checkpoint does not count cannot be coded yet.
func (k *packer) pack(blocks []recorder.StoredBlock) (all bool, err error) {
	gaps, durations := make([]int64, timing.BlockCalls), make([]int64, timing.BlockCalls)
	for i := range blocks {
		b := &blocks[i]
		number := b.First / timing.BlockCalls
		t := threadOf(k.threads, int(b.Of.Thread))
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

func threadOf(threads []trace.Thread, number int) *trace.Thread {
	if i := slices.IndexFunc(threads, func(t trace.Thread) bool { return t.Thread == number }); i >= 0 {
		return &threads[i]
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

// finish renames the complete part to its final name, and replaces leftFile. It returns by how much
// these have grown.
func (k *packer) finish() (grown int64, err error) {
	d := k.directory
	if k.file != nil {
		if err := k.part.Close(); err != nil {
			return 0, err
		}
		next := 0
		for _, prefix := range []string{partFile, storedFile} {
			numbers, err := d.numbered(prefix)
			if err != nil {
				return 0, err
			}
			if len(numbers) > 0 {
				next = max(next, numbers[len(numbers)-1]+1)
			}
		}
		grown = d.sizeOf(partNew)
		if err := d.root.Rename(partNew, partFile+strconv.Itoa(next)); err != nil {
			return 0, err
		}
	}
	if k.left != nil {
		grown += int64(len(k.left)) - d.sizeOf(leftFile)
		err = d.replace(leftFile, bytes.NewReader(k.left))
	}
	return grown, err
}

func (k *packer) close() {
	if k.file != nil {
		k.file.Close()
	}
}
