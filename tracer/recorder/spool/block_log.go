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

// The block logs of a process are files of its directory: times-0, times-1, …, values-0, values-1, … and chapters-0, …, in
// each full blocks, one after the other. A file that is long enough is followed by another one, which is made when the last
// block is in it: so those who take over what is in it know that nothing more will be, and may remove it.
const (
	timesFile     = "times-"
	valuesFile    = "values-"
	chaptersFile  = "chapters-"
	blockLogBytes = 1 << 20  // of a file of times or values, at least; chapters are seldom, and each has its own
	maxBlockFile  = 64 << 20 // is read: one that is long enough, and what one checkpoint adds
)

// A blockLog is a log as the process itself knows it.
type blockLog struct {
	prefix    string
	fileBytes int64   // bytes at which a file is followed by another one
	number    int     // of the file that is written to
	bytes     int64   // in it
	present   []int64 // sizes of the files before it, from the oldest that was not removed on
	scratch   []byte
}

func (l *blockLog) file(number int) string { return l.prefix + strconv.Itoa(number) }

// writeBlocks writes the blocks that are full to the logs.
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

// writeLog writes blocks to a log; those that it returns are not in it. The file is opened each time: a program may close
// descriptors that are not its own, and get them again for files of its own.
func (s *Spool) writeLog(l *blockLog, full []*recorder.Block) (left []*recorder.Block, err error) {
	for len(full) > 0 {
		// values are many short blocks: they are written together
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
			_ = l.write(s.dir, nil) // the next block makes it, where this does not
		}
	}
	if cap(l.scratch) > maxStateKept {
		l.scratch = nil
	}
	return nil, nil
}

// write writes blocks at the end of the log.
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

// forgetRemoved finds out which files of the log somebody has taken over and removed: they count for this process no more.
// On the account of a shared spool they are already given back.
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

// numbered lists the files of the directory that a name and a number make, by number.
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

// readBlockIndex finds the blocks in logs and in parts, and these parts.
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
	for _, list := range x.Blocks { // what is in leftFile may be in the log, too
		slices.SortStableFunc(list, func(a, b recorder.LoggedBlock) int { return cmp.Compare(a.First, b.First) })
	}
	return x, parts, nil
}

// readBlock reads a block as it stands in its file. The directory may be closed.
func (d *Directory) readBlock(b *recorder.LoggedBlock) ([]byte, error) {
	text := make([]byte, b.Size)
	_, err := (&fileOf{d, b.File}).ReadAt(text, b.At)
	if errors.Is(err, io.EOF) {
		err = recorder.ErrBlocks
	}
	return text, err
}

// readLog finds the blocks in a file of a log. What follows on one that is damaged, or not written to its end, is no block.
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
		b.Data = [2][]byte{} // the text is not kept
		blocks = append(blocks, recorder.LoggedBlock{Block: *b, File: name, At: int64(at), Size: size})
		at += size
	}
}
