package otf2

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A file is an open file of a process.
type file struct {
	ref   uint32
	split uint64 // the operation between MPI_File_…_begin and …_end; 0: none
}

// Modes of MPI_File_open, as numbered by both Open MPI and MPICH (ROMIO's adio.h).
const (
	modeCreate        = 1
	modeReadOnly      = 2
	modeWriteOnly     = 4
	modeDeleteOnClose = 16
	modeUnique        = 32
	modeExclusive     = 64
	modeAppend        = 128
	modeSequential    = 256
)

// openFile writes the opening of a file.
func (p *process) openFile(l *line) {
	e, h := l.event, l.out(semantics.File)
	if e.Comm < 0 || h.Form != trace.Handle {
		return
	}
	at := creation{comm: e.Comm, file: true}
	n := p.created[at]
	p.created[at]++
	at.nth = n
	ref, known := p.handles[at]
	if !known {
		ref = uint32(len(p.defined.Handles))
		name := l.in(semantics.FileName).Text
		p.defined.Handles = append(p.defined.Handles, Handle{Name: p.strings.of(""), File: p.fileOf(name), Comm: p.comms[e.Comm]})
		p.handles[at] = ref
	}
	p.files[h.Int] = &file{ref: ref}
	created := handleCreated(ref, l.in(semantics.AccessMode).Int)
	if handle := &p.defined.Handles[ref]; !l.shown {
		handle.Before, handle.Mode, handle.Status = true, created.Op, created.Tag
	}
	l.endWith(created)
}

// handleCreated returns the event for opening a file in some mode.
func handleCreated(ref uint32, mode int64) Event {
	e := Event{Kind: IoCreateHandle, Object: ref, Op: AccessReadWrite}
	switch {
	case mode&modeReadOnly != 0:
		e.Op = AccessRead
	case mode&modeWriteOnly != 0:
		e.Op = AccessWrite
	}
	for _, flag := range []struct {
		mode           int64
		create, status uint32
	}{
		{modeCreate, CreateFile, 0}, {modeExclusive, CreateExclusive, 0}, {modeUnique, CreateUnique, 0},
		{modeSequential, CreateNoSeek, 0}, {modeAppend, 0, StatusAppend}, {modeDeleteOnClose, 0, StatusDeleteOnClose},
	} {
		if mode&flag.mode != 0 {
			e.Level |= flag.create
			e.Tag |= flag.status
		}
	}
	return e
}

// fileOf defines a file by its name.
func (e *export) fileOf(name string) uint32 {
	n, known := e.files[name]
	if !known {
		n = uint32(len(e.defined.Files))
		e.defined.Files = append(e.defined.Files, e.strings.of(name))
		e.files[name] = n
	}
	return n
}

func (p *process) file(l *line) *file { return p.files[l.in(semantics.File).Int] }

func (p *process) closeFile(l *line) {
	if f := p.file(l); f != nil {
		delete(p.files, l.in(semantics.File).Int)
		l.endWith(Event{Kind: IoDestroyHandle, Object: f.ref})
	}
}

// accessFile writes a call that reads or writes a file.
func (p *process) accessFile(l *line, plan *plan) error {
	f := p.file(l)
	if f == nil {
		return nil
	}
	done := Event{Kind: IoOperationComplete, Object: f.ref, Received: uint64(max(0, statusOf(l.out(semantics.Status), 0).bytes))}
	if plan.Completion == semantics.SplitEnd {
		if done.ID, f.split = f.split, 0; done.ID != 0 {
			l.endWith(done)
		}
		return nil
	}
	if !l.shown {
		return nil
	}
	p.summary.Files++
	bytes := p.size(l.in(semantics.Count), l.in(semantics.Datatype))
	begin := Event{Kind: IoOperationBegin, Object: f.ref, Op: OperationRead, Sent: bytes, ID: p.id()}
	done.ID = begin.ID
	if plan.Access == semantics.WriteFile {
		begin.Op = OperationWrite
	}
	if plan.Collective {
		begin.Level |= OperationCollective
	}
	if plan.Completion == semantics.Blocking {
		l.endWith(done)
		return p.begin(l, begin)
	}
	begin.Level |= OperationNonblocking
	l.endWith(Event{Kind: IoOperationIssued, Object: f.ref, ID: begin.ID})
	if plan.Completion == semantics.SplitBegin {
		f.split = begin.ID
	} else {
		r := p.request(l, plan)
		r.active, r.written, r.done = true, true, done
	}
	return p.begin(l, begin)
}

// changeFile writes a call that seeks.
func (p *process) changeFile(l *line, plan *plan) error {
	f := p.file(l)
	if f == nil || plan.In[semantics.Whence] < 0 {
		return nil
	}
	seek := Event{Kind: IoSeek, Object: f.ref, Offset: l.in(semantics.Offset).Int, Op: SeekStart}
	switch l.in(semantics.Whence).Text {
	case "MPI_SEEK_CUR":
		seek.Op = SeekCurrent
	case "MPI_SEEK_END":
		seek.Op = SeekEnd
	}
	return p.begin(l, seek)
}
