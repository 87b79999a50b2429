package spool

import (
	"errors"
	"fmt"
	"os"
	"slices"

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
func Recover(dir string) (*trace.Content, *Report, error) {
	d, err := openPath(dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	return d.Recover()
}

// Snapshot makes the trace of a living process so far (Directory.Snapshot).
func Snapshot(dir string) (*trace.Content, *Report, error) {
	d, err := openPath(dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	return d.Snapshot()
}

// recoverAt also returns the number of the checkpoint that it started from.
func (d *Directory) recoverAt(ended bool) (*trace.Content, *Report, uint64, error) {
	fail := func(err error) (*trace.Content, *Report, uint64, error) { return nil, nil, 0, err }
	p, err := d.Process()
	if err != nil {
		return fail(err)
	}
	last, err := d.readCheckpoint(p, timesFile, valuesFile, chaptersFile)
	if err != nil {
		return fail(err)
	}
	report := &Report{Process: p, Checkpoint: last != nil}
	if last == nil {
		last = &lastCheckpoint{recorder: recorder.New(p)}
	}
	r := last.recorder
	r.ChaptersApart = d.ChaptersApart
	entries := d.optional(r, record.DictionaryFile)
	if entries != nil {
		defer entries.Close()
		r.Dictionary().Read(entries)
	}
	seen := observed.Content(d.optionalContent(r, observed.FileName, observed.MaxBytes))
	if report.Buffers, err = d.consumeBuffers(r, ended, seen.Life()); err != nil {
		return fail(err)
	}
	if p.BootID != "" && p.BootID == bootID() {
		if now, ok := clock.Now(p.Clock.Kind); ok {
			r.Sample(now)
		}
	}
	found := seen.Evidence(r.SiteOf)
	took := decodeUsage(d.optionalContent(r, usageFile, 1<<20))
	content, err := r.Content()
	if err != nil {
		return fail(err)
	}
	found.AddTo(content)
	if took != nil {
		switches := seen.Switches()
		took.Stalls, took.StalledNS, took.LongestStallNS = switches.Count, switches.TotalNS, switches.LongestNS
		content.Ranks.Change(0, func(r *trace.Rank) { r.Tracer = took })
	}
	content.Ranks.Change(0, func(r *trace.Rank) { r.Context = seen.Context() })
	if ended {
		report.EndedEarly = r.EndedEarly()
		content.Ranks.Change(0, func(rank *trace.Rank) {
			if rank.EndedEarly = report.EndedEarly; rank.EndedEarly != "" && !rank.TracingStopped() {
				rank.End = r.End()
			}
		})
	}
	report.Rank, report.WorldSize = content.Ranks.At(0).Rank, content.Meta.WorldSize
	report.Calls = r.Calls()
	report.Lost = r.LostCalls()
	report.Notes = content.Meta.Notes
	report.Memory = r.ShardMemory(content)
	report.Parts = last.parts
	return content, report, last.number, nil
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
		before := consumedOf(files, r)
		last := !ended || !slices.ContainsFunc(sources, func(s *recorder.Source) bool { return s.More })
		if last {
			r.ConsumeLast(sources, life)
		} else {
			r.Consume(sources)
		}
		progress := 0
		for i, done := range consumedOf(files, r) {
			switch {
			case done && !before[i]:
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

// A lastCheckpoint is the content of a process's last checkpoint.
type lastCheckpoint struct {
	recorder *recorder.Recorder // with an index of the blocks that it counts
	number   uint64
	parts    []Part
}

// readCheckpoint reads the newest state and locates the blocks that it counts in some logs; nil if
// there is no checkpoint.
func (d *Directory) readCheckpoint(p *record.Process, logs ...string) (*lastCheckpoint, error) {
	const tries = 5
	var last lastCheckpoint
	for try := 1; ; try++ {
		state, ok, err := d.readState()
		if err != nil || !ok {
			return nil, err
		}
		if last.recorder, err = recorder.RestoreFrom(p, state.content, d.readTables); err == nil {
			last.recorder.Limits.Memory = state.memory
			last.number = state.number
			break
		}
		// a newer checkpoint may have removed the tables of this one
		if !errors.Is(err, os.ErrNotExist) || try == tries {
			return nil, fmt.Errorf("%s: %w", stateFiles[state.number%2], err)
		}
	}
	var err error
	last.recorder.Blocks, last.parts, err = d.readBlockIndex(logs...)
	if err != nil {
		return nil, err
	}
	return &last, nil
}

// bootID returns the id of the running kernel.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	for len(b) > 0 && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
	}
	return string(b)
}
