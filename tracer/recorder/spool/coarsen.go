package spool

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// Where the spool nears its limit, times are given up before calls: parts that the store does not have yet become parts
// with sums (timing.ShortSums, then timing.LongSums). What was given up is in the trace for good.

// A LocalPart is a part that is in the spool only.
type LocalPart struct {
	Number int
	Bytes  int64
	Per    uint64 // calls that its sums go over, at least; 0: it has times
}

// LocalParts lists the parts that are in the spool only, from the oldest on.
func (d *Directory) LocalParts() ([]LocalPart, error) {
	parts, err := d.parts()
	if err != nil {
		return nil, err
	}
	var local []LocalPart
	for _, p := range parts {
		if p.Local() {
			local = append(local, LocalPart{p.Number, p.Size(), finest(p.Part)})
		}
	}
	return local, nil
}

// finest is over how many calls the sums in a part go, at least.
func finest(p *trace.Part) uint64 {
	per := uint64(timing.LongSums)
	p.Blocks(func(b trace.PartBlock) { per = min(per, b.SumsOf()) })
	return per
}

// Coarsen puts sums over so many calls in the place of times, and of sums over fewer, in parts that are in the spool only.
// A part that would not become smaller stays as it is. The caller sees to it that nobody else packs or reads the directory
// meanwhile.
func (d *Directory) Coarsen(per uint64, numbers []int) (done Packed, err error) {
	p, err := d.Process()
	if err != nil {
		return done, err
	}
	last, err := d.readCheckpoint(p, timesFile, chaptersFile)
	if err != nil || last == nil {
		return done, err
	}
	parts := slices.DeleteFunc(last.parts, func(p Part) bool { return !p.Local() || !slices.Contains(numbers, p.Number) })
	c, threads, err := last.recorder.Outline(callsIn(parts))
	if err != nil {
		return done, err
	}
	for _, p := range parts {
		if err := d.coarsen(p, per, c, threads, &done); err != nil {
			return done, err
		}
	}
	return done, nil
}

// callsIn says of which calls of each thread there are blocks in parts.
func callsIn(parts []Part) func(thread uint32) recorder.CallRange {
	in := map[uint32]recorder.CallRange{}
	for _, p := range parts {
		p.Blocks(func(b trace.PartBlock) {
			from := b.Number() * timing.BlockCalls
			have, known := in[uint32(b.Thread())]
			if !known {
				have = recorder.CallRange{From: from, To: from}
			}
			in[uint32(b.Thread())] = recorder.CallRange{From: min(have.From, from), To: max(have.To, from+timing.BlockCalls)}
		})
	}
	return func(thread uint32) recorder.CallRange { return in[thread] }
}

// sums is a part with sums over as many calls as can be, of the times of another one. One with chunks of values or
// with chapters has none: nothing can take their place.
func (d *Directory) sums(p Part) ([]byte, error) {
	if p.HasChunks() || len(p.Chapters()) > 0 {
		return nil, recorder.ErrBlocks
	}
	process, err := d.Process()
	if err != nil {
		return nil, err
	}
	last, err := d.readCheckpoint(process, timesFile, chaptersFile)
	if err != nil || last == nil {
		return nil, errors.Join(recorder.ErrBlocks, err)
	}
	c, threads, err := last.recorder.Outline(callsIn([]Part{p}))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = writeSums(&b, p, timing.LongSums, c, threads)
	return b.Bytes(), err
}

// coarsen writes one part anew. Whoever sees it sees all of it, or the old one.
func (d *Directory) coarsen(p Part, per uint64, c *trace.Content, threads []trace.Thread, done *Packed) error {
	f, err := plainfile.Create(d.root, partNew)
	if err != nil {
		return err
	}
	defer f.Close()
	calls, err := writeSums(f, p, per, c, threads)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() >= p.Size() {
		return d.root.Remove(partNew)
	}
	if err := d.root.Rename(partNew, partFile+strconv.Itoa(p.Number)); err != nil {
		return err
	}
	done.Calls, done.Before, done.After = done.Calls+calls, done.Before+p.Size(), done.After+info.Size()
	return nil
}

// writeSums writes a part with sums over so many calls in the place of finer times, and says of how many calls. Its chunks
// of values stay.
func writeSums(to io.Writer, p Part, per uint64, c *trace.Content, threads []trace.Thread) (calls uint64, err error) {
	w, err := trace.NewPartWriter(to, c)
	if err != nil {
		return 0, err
	}
	p.Blocks(func(b trace.PartBlock) {
		if err != nil {
			return
		}
		t := slices.IndexFunc(threads, func(t trace.Thread) bool { return t.Thread == b.Thread() })
		switch {
		case b.SumsOf() >= per:
			err = w.Copy(b)
		case t < 0:
			err = recorder.ErrBlocks
		default:
			err = w.Sums(&threads[t], b, per)
			calls += timing.BlockCalls
		}
	})
	p.Chunks(func(of trace.ChunkOf, c *codec.Chunk) {
		if err == nil {
			err = w.Chunk(of, c)
		}
	})
	for _, c := range p.Chapters() {
		if err == nil {
			err = w.CopyChapter(c)
		}
	}
	return calls, errors.Join(err, w.Close())
}
