package spool

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// The block logs of a process are files of its directory: times-0, times-1, …, values-0,
// values-1, … and chapters-0, …. Each contains full blocks, one after the other. When a file is
// long enough, the next one is created as soon as the last block of the first is written. So the
// packer knows that a file with a successor is complete, and may remove it.
const (
	timesFile     = "times-"
	valuesFile    = "values-"
	chaptersFile  = "chapters-"
	blockLogBytes = 1 << 20  // minimal length of a file of times or values; chapters are rare, and each has its own
	maxBlockFile  = 64 << 20 // longest file that is read: a full file and what one checkpoint adds
)

// A blockLog is the writer's state of a log.
type blockLog struct {
	prefix    string
	fileBytes int64   // length from which on a file gets a successor
	number    int     // of the current file
	bytes     int64   // its length
	present   []int64 // sizes of the earlier files that were not removed, oldest first
	scratch   []byte
}

func (l *blockLog) file(number int) string { return l.prefix + strconv.Itoa(number) }

// writeBlocks writes the full blocks to the logs.
func (s *Spool) writeBlocks() error {
	var times, values, chapters []*recorder.Block
	for _, b := range s.recorder.TakeBlocks() {
		switch {
		case b.Of.IsTimes():
			times = append(times, b)
		case b.Of.IsChapter():
			chapters = append(chapters, b)
		default:
			values = append(values, b)
		}
	}
	var errs [3]error
	times, errs[0] = s.writeLog(&s.times, times)
	values, errs[1] = s.writeLog(&s.values, values)
	chapters, errs[2] = s.writeLog(&s.chapters, chapters)
	s.recorder.KeepBlocks(append(append(times, values...), chapters...))
	return cmp.Or(errs[:]...)
}

// writeLog writes blocks to a log and returns those that it could not write. It opens the file each
// time, because a program may close descriptors that are not its own, and get the same numbers for
// files of its own.
func (s *Spool) writeLog(l *blockLog, full []*recorder.Block) (left []*recorder.Block, err error) {
	for len(full) > 0 {
		// values are many short blocks: write them together
		l.scratch = l.scratch[:0]
		n := 0
		for ; n < len(full) && len(l.scratch) < blockLogBytes; n++ {
			l.scratch = full[n].Append(l.scratch)
		}
		if err := l.write(s.dir, l.scratch); err != nil {
			return full, err
		}
		size := int64(len(l.scratch))
		s.diskBytes += size
		s.written += size
		s.budget.Add(size)
		for _, b := range full[:n] {
			s.recorder.Recycle(b)
		}
		full = full[n:]
		if l.bytes += size; l.bytes >= l.fileBytes {
			l.present = append(l.present, l.bytes)
			l.number, l.bytes = l.number+1, 0
			_ = l.write(s.dir, nil) // creates the next file; if it fails the next block tries again
		}
	}
	if cap(l.scratch) > maxStateKept {
		l.scratch = nil
	}
	return nil, nil
}

// write appends blocks to the log.
func (l *blockLog) write(dir string, blocks []byte) error {
	if err := fitsLimit(l.bytes + int64(len(blocks))); err != nil {
		return err
	}
	flags := os.O_WRONLY | notFollowed
	if l.bytes == 0 {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(filepath.Join(dir, l.file(l.number)), flags, 0o644)
	if err != nil {
		return err
	}
	if l.bytes == 0 {
		err = f.Chmod(0o644)
	}
	if err == nil {
		_, err = f.WriteAt(blocks, l.bytes)
	}
	return errors.Join(err, f.Close())
}

// forgetRemoved finds the files of the logs that the packer has removed: they no longer count
// against this process's limit. In a shared spool the budget has them back already.
func (s *Spool) forgetRemoved() {
	for _, l := range []*blockLog{&s.times, &s.values, &s.chapters} {
		for len(l.present) > 0 {
			if _, err := os.Lstat(filepath.Join(s.dir, l.file(l.number-len(l.present)))); !errors.Is(err, os.ErrNotExist) {
				break
			}
			s.diskBytes -= l.present[0]
			l.present = l.present[1:]
		}
	}
}

// numbered returns the numbers of the directory's files that are named prefix and a
// number, in order.
func (d *Directory) numbered(prefix string) ([]int, error) {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, entry := range entries {
		if text, is := strings.CutPrefix(entry.Name(), prefix); is {
			if number, err := strconv.Atoi(text); err == nil && number >= 0 && prefix+strconv.Itoa(number) == entry.Name() {
				numbers = append(numbers, number)
			}
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// readBlockIndex finds the blocks in logs and in parts. It also returns these parts.
func (d *Directory) readBlockIndex(logs ...string) (x *recorder.BlockIndex, parts []Part, err error) {
	x = &recorder.BlockIndex{Blocks: map[recorder.BlockOf][]recorder.LoggedBlock{}, Read: d.readBlock}
	if parts, err = d.parts(); err != nil {
		return nil, nil, err
	}
	files := make([]*trace.Part, len(parts))
	for i := range parts {
		files[i] = parts[i].Part
	}
	x.Coded = trace.OrderBlocks(files)
	x.Chapters = trace.OrderChapters(files)
	x.Chunks = map[recorder.BlockOf][]*codec.Chunk{}
	for of, chunks := range trace.OrderChunks(files) {
		x.Chunks[recorder.BlockOf{Thread: uint32(of.Thread), Terminal: of.Terminal, Stream: of.Stream}] = chunks
	}
	for _, prefix := range logs {
		var files []string
		if prefix == valuesFile {
			files = append(files, leftFile)
		}
		numbers, err := d.numbered(prefix)
		if err != nil {
			return nil, nil, err
		}
		for _, number := range numbers {
			files = append(files, prefix+strconv.Itoa(number))
		}
		for _, file := range files {
			blocks, err := d.readLog(file)
			if err != nil {
				return nil, nil, err
			}
			for _, b := range blocks {
				x.Blocks[b.Of] = append(x.Blocks[b.Of], b)
			}
		}
	}
	for _, list := range x.Blocks { // a block in leftFile may also be in the log
		slices.SortStableFunc(list, func(a, b recorder.LoggedBlock) int { return cmp.Compare(a.First, b.First) })
	}
	return x, parts, nil
}

// readBlock reads a block as it is in its file. The directory may be closed.
func (d *Directory) readBlock(b *recorder.LoggedBlock) ([]byte, error) {
	text := make([]byte, b.Size)
	_, err := (&fileOf{d, b.File}).ReadAt(text, b.At)
	if errors.Is(err, io.EOF) {
		err = recorder.ErrBlocks
	}
	return text, err
}

// readLog finds the blocks in a file of a log. It ignores what follows a block that is
// damaged or incomplete.
func (d *Directory) readLog(name string) (blocks []recorder.LoggedBlock, err error) {
	text, err := d.read(name, maxBlockFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for at := 0; ; {
		b, size, ok := recorder.ParseBlock(text[at:])
		if !ok {
			return blocks, err
		}
		b.Data = [2][]byte{} // do not keep the text
		blocks = append(blocks, recorder.LoggedBlock{Block: *b, File: name, At: int64(at), Size: size})
		at += size
	}
}
