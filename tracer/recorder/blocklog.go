package recorder

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
)

// The block logs of a process are files of its directory: times-0, times-1, …, values-0, values-1, … and chapters-0, …, in
// each full blocks, one after the other. A file that is long enough is followed by another one, which is made when the last
// block is in it: so those who take over what is in it know that nothing more will be, and may remove it.
const (
	timesFile     = "times-"
	valuesFile    = "values-"
	chaptersFile  = "chapters-"
	blockLogBytes = 1 << 20  // of a file of times or values, at least; chapters are seldom, and each has its own
	mostBlockFile = 64 << 20 // is read: one that is long enough, and what one checkpoint adds
)

// A blockLog is a log as the process itself knows it.
type blockLog struct {
	prefix  string
	most    int64   // bytes at which a file is followed by another one
	number  int     // of the file that is written to
	bytes   int64   // in it
	present []int64 // sizes of the files before it, from the oldest that was not removed on
	scratch []byte
}

func (l *blockLog) file(number int) string { return l.prefix + strconv.Itoa(number) }

// writeBlocks writes the blocks that are full to the logs.
func (s *Spool) writeBlocks() error {
	var times, values, chapters []*block
	for _, b := range s.recorder.full {
		switch b.of.terminal {
		case none:
			times = append(times, b)
		case aChapter:
			chapters = append(chapters, b)
		default:
			values = append(values, b)
		}
	}
	var errs [3]error
	times, errs[0] = s.writeLog(&s.times, times)
	values, errs[1] = s.writeLog(&s.values, values)
	chapters, errs[2] = s.writeLog(&s.chapters, chapters)
	s.recorder.full = append(append(times, values...), chapters...)
	return cmp.Or(errs[:]...)
}

// writeLog writes blocks to a log; those that it returns are not in it. The file is opened each time: a program may close
// descriptors that are not its own, and get them again for files of its own.
func (s *Spool) writeLog(l *blockLog, full []*block) (left []*block, err error) {
	for len(full) > 0 {
		// values are many short blocks: they are written together
		l.scratch = l.scratch[:0]
		n := 0
		for ; n < len(full) && len(l.scratch) < blockLogBytes; n++ {
			l.scratch = full[n].append(l.scratch)
		}
		if err := l.write(s.dir, l.scratch); err != nil {
			return full, err
		}
		size := int64(len(l.scratch))
		s.diskBytes += size
		s.written += size
		s.budget.Add(size)
		for _, b := range full[:n] {
			s.recorder.recycle(b)
		}
		full = full[n:]
		if l.bytes += size; l.bytes >= l.most {
			l.present = append(l.present, l.bytes)
			l.number, l.bytes = l.number+1, 0
			_ = l.write(s.dir, nil) // the next block makes it, where this does not
		}
	}
	if cap(l.scratch) > mostStateKept {
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

// A loggedBlock says where a block of a log is.
type loggedBlock struct {
	block        // without its data
	file  string // of the log
	at    int64  // of the header
	size  int    // with the header
}

// A blockIndex says where the blocks of a process are that somebody else reads.
type blockIndex struct {
	directory *Directory
	blocks    map[blockOf][]loggedBlock
	parts     []Part
	coded     map[int][]trace.PartBlock  // of each thread's times: the first blocks, where they are in parts
	chunks    map[blockOf][]*codec.Chunk // of each stream: the same
	chapters  map[int][]*trace.Chapter   // of each thread: the same
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

// readBlockIndex finds the blocks in logs and in parts.
func (d *Directory) readBlockIndex(logs ...string) (*blockIndex, error) {
	x := &blockIndex{directory: d, blocks: map[blockOf][]loggedBlock{}}
	parts, err := d.parts()
	if err != nil {
		return nil, err
	}
	x.parts = parts
	files := make([]*trace.Part, len(parts))
	for i := range parts {
		files[i] = parts[i].Part
	}
	x.coded = trace.OrderBlocks(files)
	x.chapters = trace.OrderChapters(files)
	x.chunks = map[blockOf][]*codec.Chunk{}
	for of, chunks := range trace.OrderChunks(files) {
		x.chunks[blockOf{uint32(of.Thread), of.Terminal, of.Stream}] = chunks
	}
	for _, prefix := range logs {
		var files []string
		if prefix == valuesFile {
			files = append(files, leftFile)
		}
		numbers, err := d.numbered(prefix)
		if err != nil {
			return nil, err
		}
		for _, number := range numbers {
			files = append(files, prefix+strconv.Itoa(number))
		}
		for _, file := range files {
			blocks, err := d.readLog(file)
			if err != nil {
				return nil, err
			}
			for _, b := range blocks {
				x.blocks[b.of] = append(x.blocks[b.of], b)
			}
		}
	}
	for _, list := range x.blocks { // what is in leftFile may be in the log, too
		slices.SortStableFunc(list, func(a, b loggedBlock) int { return cmp.Compare(a.first, b.first) })
	}
	return x, nil
}

// readLog finds the blocks in a file of a log. What follows on one that is damaged, or not written to its end, is no block.
func (d *Directory) readLog(name string) (blocks []loggedBlock, err error) {
	text, err := d.read(name, mostBlockFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for at := 0; ; {
		b, size, ok := parseBlock(text[at:])
		if !ok {
			return blocks, err
		}
		b.data = [2][]byte{} // the text is not kept
		blocks = append(blocks, loggedBlock{*b, name, int64(at), size})
		at += size
	}
}

// between lists the blocks that have the values from one number on up to another one of a column or stream. The first may
// begin before them.
func (x *blockIndex) between(of blockOf, from, to uint64) ([]loggedBlock, error) {
	if from == to {
		return nil, nil
	}
	if x == nil {
		return nil, errBlocks
	}
	var list []loggedBlock
	for _, b := range x.blocks[of] {
		if from == to {
			break
		}
		end := b.first + b.n
		if end <= from {
			continue // a part has it, or the block before
		}
		if b.first > from || end < b.first || end > to {
			return nil, errBlocks
		}
		list = append(list, b)
		from = end
	}
	if from != to {
		return nil, errBlocks
	}
	return list, nil
}

// open reads a block. The directory may be closed.
func (x *blockIndex) open(b *loggedBlock) (*block, error) {
	text := make([]byte, b.size)
	if _, err := (&fileOf{x.directory, b.file}).ReadAt(text, b.at); err != nil {
		if errors.Is(err, io.EOF) {
			err = errBlocks
		}
		return nil, err
	}
	whole, size, ok := parseBlock(text)
	if !ok || size != b.size || whole.of != b.of || whole.first != b.first || whole.n != b.n {
		return nil, errBlocks
	}
	return whole, nil
}
