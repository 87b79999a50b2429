package spool

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
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

// A logEnd is where a log ends at a checkpoint.
type logEnd struct {
	Number uint64 // of its current file
	Bytes  int64  // the length of that
}

func (l *blockLog) end() logEnd { return logEnd{uint64(l.number), l.bytes} }

// resume makes the log end where the last checkpoint says, and returns the bytes of its files.
// What a compressor wrote after that, before it was killed, is written again.
func (l *blockLog) resume(d *Directory, end logEnd) (bytes int64, err error) {
	l.number, l.bytes = int(end.Number), end.Bytes
	numbers, err := d.numbered(l.prefix)
	if err != nil {
		return 0, err
	}
	for _, number := range numbers {
		info, err := d.root.Lstat(l.file(number))
		switch {
		case err != nil:
		case number > l.number || number == l.number && l.bytes == 0:
			err = d.root.Remove(l.file(number))
		case number == l.number:
			err = d.truncate(l.file(number), l.bytes)
			bytes += l.bytes
		default:
			l.present = append(l.present, info.Size())
			bytes += info.Size()
		}
		if err != nil {
			return 0, err
		}
	}
	return bytes, nil
}

// writeBlocks writes the full blocks to the logs.
func (w *Writer) writeBlocks() error {
	var full [3][]*recorder.Block
	for _, b := range w.recorder.TakeBlocks() {
		log := 1
		switch {
		case b.Of.IsTimes():
			log = 0
		case b.Of.IsChapter():
			log = 2
		}
		full[log] = append(full[log], b)
	}
	var errs [3]error
	var left []*recorder.Block
	for i := range w.logs {
		full[i], errs[i] = w.writeLog(&w.logs[i], full[i])
		left = append(left, full[i]...)
	}
	w.recorder.KeepBlocks(left)
	return cmp.Or(errs[:]...)
}

// writeLog writes blocks to a log and returns those that it could not write.
func (w *Writer) writeLog(l *blockLog, full []*recorder.Block) (left []*recorder.Block, err error) {
	for len(full) > 0 {
		// values are many short blocks: write them together
		l.scratch = l.scratch[:0]
		n := 0
		for ; n < len(full) && len(l.scratch) < blockLogBytes; n++ {
			l.scratch = full[n].Append(l.scratch)
		}
		if err := w.directory.append(l.file(l.number), l.bytes, l.scratch); err != nil {
			return full, err
		}
		size := int64(len(l.scratch))
		w.diskBytes += size
		w.usage.Written += uint64(size)
		w.budget.Add(size)
		for _, b := range full[:n] {
			w.recorder.Recycle(b)
		}
		full = full[n:]
		if l.bytes += size; l.bytes >= l.fileBytes {
			l.present = append(l.present, l.bytes)
			l.number, l.bytes = l.number+1, 0
			// creates the next file; if that fails the next block tries again
			_ = w.directory.append(l.file(l.number), 0, nil)
		}
	}
	if cap(l.scratch) > maxStateKept {
		l.scratch = nil
	}
	return nil, nil
}

// forgetRemoved finds the files of the logs that the packer has removed: they no longer count
// against this process's limit. In a shared spool the budget has them back already.
func (w *Writer) forgetRemoved() {
	for i := range w.logs {
		l := &w.logs[i]
		for len(l.present) > 0 {
			if _, err := w.directory.root.Lstat(l.file(l.number - len(l.present))); !errors.Is(err, os.ErrNotExist) {
				break
			}
			w.diskBytes -= l.present[0]
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

// files returns the names of the directory's files that are named prefix and a number, in order.
func (d *Directory) files(prefix string) (names []string, err error) {
	numbers, err := d.numbered(prefix)
	for _, number := range numbers {
		names = append(names, prefix+strconv.Itoa(number))
	}
	return names, err
}

// readBlockIndex finds the blocks in logs and in parts. It also returns these parts.
func (d *Directory) readBlockIndex() (x *recorder.BlockIndex, parts []Part, err error) {
	x = &recorder.BlockIndex{Blocks: map[recorder.BlockOf][]recorder.StoredBlock{}, Read: d.readBlock}
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
	logs := []string{leftFile}
	for _, prefix := range []string{timesFile, valuesFile, chaptersFile} {
		files, err := d.files(prefix)
		if err != nil {
			return nil, nil, err
		}
		logs = append(logs, files...)
	}
	for _, name := range logs {
		if err := d.readLog(name, x.Blocks); err != nil {
			return nil, nil, err
		}
	}
	for _, list := range x.Blocks { // a block in leftFile may also be in the log
		slices.SortStableFunc(list, func(a, b recorder.StoredBlock) int { return cmp.Compare(a.First, b.First) })
	}
	return x, parts, nil
}

// readBlock reads a block as it is in its file. The directory may be closed.
func (d *Directory) readBlock(b *recorder.StoredBlock) ([]byte, error) {
	text := make([]byte, b.Size)
	_, err := (&fileOf{d, b.File}).ReadAt(text, b.At)
	if errors.Is(err, io.EOF) {
		err = recorder.ErrBlocks
	}
	return text, err
}

// readLog adds the blocks in a file of a log. It ignores what follows a block that is damaged or
// incomplete.
func (d *Directory) readLog(name string, blocks map[recorder.BlockOf][]recorder.StoredBlock) error {
	text, err := d.read(name, maxBlockFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for at := 0; ; {
		b, size, ok := recorder.ParseBlock(text[at:])
		if !ok {
			return err
		}
		b.Data = [2][]byte{} // do not keep the text
		blocks[b.Of] = append(blocks[b.Of], recorder.StoredBlock{Block: *b, File: name, At: int64(at), Size: size})
		at += size
	}
}
