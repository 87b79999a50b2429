package spooltest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/tracer/budget"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// A Long is a process that makes more calls than fit into a record buffer. Its records are
// compressed like those of a rank. Repeat repeats the calls of its Process since the
// last Repeat.
type Long struct {
	t         testing.TB
	process   *Process
	writer    *spool.Writer
	account   *budget.Budget // nil: none
	buffer    []uint64
	at        int
	sequence  uint64
	Directory string
	Jitter    uint64 // of a call's times, in ns; 0: 64
}

const headerWords = headerBytes / 8

// Begin makes the directory of the process in the spool of a node.
func (p *Process) Begin(t testing.TB, node string) *Long {
	t.Helper()
	dir := filepath.Join(node, p.Directory())
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"lock": nil, "process.json": p.description(t), "observed": make([]byte, rawlayout.ObservedContext)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(node)
	if err != nil {
		t.Fatal(err)
	}
	account, err := budget.Open(node)
	if err != nil {
		t.Fatal(err)
	}
	d, err := spool.OpenDirectory(root, p.Directory())
	if err != nil {
		t.Fatal(err)
	}
	w, err := d.Compress(account)
	if err != nil {
		t.Fatal(err)
	}
	return &Long{t: t, process: p, writer: w, account: account, Directory: dir}
}

// Repeat makes the calls that the process has collected, n times, with different times.
func (l *Long) Repeat(n int) {
	l.t.Helper()
	p := l.process
	words := p.words
	var lengths []int
	for at := 0; at < len(words); at += lengths[len(lengths)-1] {
		lengths = append(lengths, int(low(words[at]))/8)
	}
	for turn := range n {
		at := 0
		for i, length := range lengths {
			record := words[at : at+length]
			if turn > 0 {
				jitter := uint64(turn*7919+i*31) % 64
				if l.Jitter > 0 {
					jitter = (uint64(turn)*0x9e3779b97f4a7c15 + uint64(i)) >> 20 % l.Jitter
				}
				record[2] = p.epoch + 2
				record[3] = p.clock + 10 + jitter
				record[4] = p.clock + 30 + jitter + jitter/3
				p.epoch, p.clock = record[2], record[4]
			}
			l.write(record)
			at += length
		}
	}
	p.words = p.words[:0]
}

const bufferBytes = 128 << 10

func (l *Long) write(record []uint64) {
	if l.at+len(record) > len(l.buffer) {
		if l.buffer != nil {
			l.compress()
		}
		l.buffer = l.newBuffer(max(bufferBytes, 8*(headerWords+len(record))))
		header := l.buffer[:headerWords]
		p := l.process
		header[1], header[2] = halves(rawlayout.BufferFormat, 0), l.sequence-1
		header[5], header[6], header[7] = p.clock, p.clock, uint64(p.Start)+p.clock
		header[rawlayout.BufferTakenAt/8] = l.sequence
		copy(bytesOf(header), rawlayout.BufferMagic)
		l.at = headerWords
	}
	copy(l.buffer[l.at:], record)
	l.at += len(record)
	l.buffer[3] = uint64(8 * (l.at - headerWords))
}

// newBuffer makes the file of the next buffer, and maps it.
func (l *Long) newBuffer(size int) []uint64 {
	l.sequence++
	f, err := os.Create(filepath.Join(l.Directory, fmt.Sprintf("once-%d.seg", l.sequence)))
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(size)); err != nil {
		l.t.Fatal(err)
	}
	if l.account != nil {
		l.account.Add(int64(size)) // the compressor subtracts it again
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		l.t.Fatal(err)
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(memory))), size/8)
}

// compress closes the full buffer.
func (l *Long) compress() {
	l.buffer[rawlayout.BufferClosedAt/8] = 1
	if err := unix.Munmap(bytesOf(l.buffer)); err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.writer.Step(spool.RingState{}); err != nil {
		l.t.Fatal(err)
	}
	// it depends on when others remove files, and traces are compared
	_ = os.Remove(filepath.Join(l.Directory, "took"))
}

// low returns the first four bytes of a word.
func low(w uint64) uint32 { return *(*uint32)(unsafe.Pointer(&w)) }
