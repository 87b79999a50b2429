package spool

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/clock"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A Report is the result of a recovery.
type Report struct {
	Process    *record.Process
	Rank       int
	WorldSize  int
	Calls      uint64
	EndedEarly string // how the process ended; "" if MPI_Finalize returned
	Lost       uint64 // number of missing calls
	Checkpoint bool   // there was a checkpoint
	Buffers    int    // number of buffers that were read
	Notes      []string
	Parts      []Part // parts with times of the trace
	Memory     int64  // estimated memory in bytes of the trace while it is merged
}

// Limits of the files that a recovery reads.
const (
	maxBufferFile = maxBufferBytes + record.BufferHeaderBytes
	maxStateFile  = 4 * maxStateBytes // tracing stops after the first checkpoint beyond maxStateBytes
)

// Recover makes the trace of a process that has ended from its directory (Directory.Recover).
func Recover(path string) (*trace.Content, *Report, error) {
	d, err := OpenPath(path)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	return d.Recover()
}

// recoverAt also returns the number of the checkpoint that it started from.
func (d *Directory) recoverAt(ended bool) (*trace.Content, *Report, uint64, error) {
	fail := func(err error) (*trace.Content, *Report, uint64, error) { return nil, nil, 0, err }
	last, err := d.readCheckpoint()
	if err != nil {
		return fail(err)
	}
	r := last.recorder
	p := last.process
	r.ChaptersApart = d.ChaptersApart
	entries := d.optional(r, record.DictionaryFile)
	if entries != nil {
		defer entries.Close()
		r.Dictionary().Follow(entries)
	}
	seen := observed.Content(d.optionalContent(r, observed.FileName, observed.MaxBytes))
	life := seen.Life()
	outside := d.seenAlive()
	life.Alive = max(life.Alive, outside.last())
	buffers, err := d.consumeBuffers(r, ended, life)
	if err != nil {
		return fail(err)
	}
	if p.BootID != "" && p.BootID == bootID() {
		if now, ok := clock.Now(p.Clock.Kind); ok {
			r.Sample(now)
		}
	}
	found := seen.Evidence(r.SiteOf)
	usage := decodeUsage(d.optionalContent(r, usageFile, 1<<20))
	content, err := r.Content()
	if err != nil {
		return fail(err)
	}
	found.AddTo(content)
	content.Ranks.Change(0, func(rank *trace.Rank) {
		rank.Context = seen.Context()
		rank.Pressure, rank.TCP = seen.Pressure()
		rank.Suspensions = outside.suspensions()
		if usage != nil {
			rank.Tracer = usage.ofTracer(seen.Switches())
		}
		if !ended {
			return
		}
		if rank.EndedEarly = r.EndedEarly(); (rank.EndedEarly != "" || r.EndedIn()) && !rank.TracingStopped() {
			if rank.End = r.End(); rank.End != nil {
				outside.addTo(rank.End)
			}
			if program := outside.program(); program != "" && rank.EndedEarly != "" {
				rank.EndedEarly += trace.ThenExecuted + program
			}
		}
	})
	rank := content.Ranks.At(0)
	return content, &Report{
		Process: p, Rank: rank.Rank, WorldSize: content.Meta.WorldSize, Calls: r.Calls(),
		EndedEarly: rank.EndedEarly, Lost: r.LostCalls(), Checkpoint: last.found, Buffers: buffers,
		Notes: content.Meta.Notes, Parts: last.parts, Memory: r.ShardMemory(content),
	}, last.head.Number, nil
}

// consumeBuffers has the recorder consume the record buffers of a process, the last of them with
// its life. It returns their number. What a process has left is read piece by piece: it may be much
// if there was no compressor.
func (d *Directory) consumeBuffers(r *recorder.Recorder, ended bool, life observed.Life) (read int, err error) {
	how := reading{living: !ended, memory: &bufferMemory{}, odd: func(err error) { r.AddNote("%v", err) }}
	if ended {
		how.most = stepBytes
	}
	for {
		how.memory.reset()
		sources, files, err := d.readBuffers(r, how)
		if err != nil {
			return read, err
		}
		last := !ended || !slices.ContainsFunc(sources, func(s *recorder.Source) bool { return s.More })
		if last {
			r.ConsumeLast(sources, life)
		} else {
			r.Consume(sources)
		}
		progress := 0
		for _, f := range files {
			switch done := f.consumedBy(r); {
			case done && !f.done:
				progress++
			case last && !done:
				read++
			}
		}
		if read += progress; progress == 0 {
			how.most = 0 // damaged epochs: whatever the order of the threads is, read all
		}
		if !last {
			continue
		}
		for _, f := range files {
			if f.header.Stopped != "" {
				r.NoteStopped(record.Printable([]byte(f.header.Stopped)))
			}
		}
		return read, nil
	}
}

// optional opens a file that a recovery can do without; nil if there is none. It adds a note if it
// is not a regular file.
func (d *Directory) optional(r *recorder.Recorder, name string) *os.File {
	f, err := d.open(name)
	if err != nil {
		r.AddNote("%v", err)
		return nil
	}
	return f
}

// optionalContent reads an optional file.
func (d *Directory) optionalContent(r *recorder.Recorder, name string, limit int64) []byte {
	f := d.optional(r, name)
	if f == nil {
		return nil
	}
	defer f.Close()
	b, err := plainfile.ReadOpen(f, limit)
	if err != nil {
		r.AddNote("%v", err)
		return nil
	}
	return b
}

// A lastCheckpoint is the last checkpoint of a process; if there is none, what precedes the first.
type lastCheckpoint struct {
	process  *record.Process
	recorder *recorder.Recorder
	found    bool
	head     stateHead
	tables   recorder.TablesAt
	parts    []Part
}

// restore reads process.json and the newest state.
func (d *Directory) restore() (*lastCheckpoint, error) {
	p, err := d.Process()
	if err != nil {
		return nil, err
	}
	const tries = 5
	for try := 1; ; try++ {
		state, ok, err := d.readState()
		if err != nil {
			return nil, err
		}
		if !ok {
			return &lastCheckpoint{process: p, recorder: recorder.New(p)}, nil
		}
		last := &lastCheckpoint{process: p, found: true, head: state.stateHead}
		last.recorder, err = recorder.RestoreFrom(p, state.content, func(at recorder.TablesAt, take func(piece []byte) error) error {
			last.tables = at
			return d.readTables(at, take)
		})
		if err == nil {
			last.recorder.Limits.Memory = int(state.Memory)
			return last, nil
		}
		// a newer checkpoint may have removed the tables of this one
		if !errors.Is(err, os.ErrNotExist) || try == tries {
			return nil, fmt.Errorf("%s: %w", stateFiles[state.Number%2], err)
		}
	}
}

// readCheckpoint also locates the blocks that the checkpoint counts.
func (d *Directory) readCheckpoint() (*lastCheckpoint, error) {
	last, err := d.restore()
	if err == nil && last.found {
		last.recorder.Blocks, last.parts, err = d.readBlockIndex()
	}
	return last, err
}

// bootID returns the id of the running kernel.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // "" without it
	return strings.TrimRight(string(b), "\n")
}
