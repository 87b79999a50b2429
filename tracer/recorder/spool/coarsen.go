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

// When the spool nears its limit, times are dropped before calls: parts that the store does not
// have yet become parts with sums (timing.ShortSums, then timing.LongSums). The trace never gets
// the dropped times back.

// A LocalPart is a part that is in the spool only.
type LocalPart struct {
	Number int
	Bytes  int64
	Per    uint64 // least number of calls per sum; 0: it has times
}

// LocalParts returns the parts that are in the spool only, oldest first.
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

// finest returns the least number of calls per sum in a part.
func finest(p *trace.Part) uint64 {
	per := uint64(timing.LongSums)
	p.Blocks(func(b trace.PartBlock) { per = min(per, b.SumsOf()) })
	return per
}

// Coarsen replaces times, and sums over fewer calls, by sums over per calls, in those of the given
// parts that are in the spool only. It leaves a part that would not become smaller. The caller must
// ensure that nobody else packs or reads the directory at the same time.
func (d *Directory) Coarsen(per uint64, numbers []int) (done Packed, err error) {
	last, err := d.readCheckpoint()
	if err != nil || !last.found {
		return done, err
	}
	parts := slices.DeleteFunc(last.parts, func(p Part) bool { return !p.Local() || !slices.Contains(numbers, p.Number) })
	c, threads, err := last.recorder.Outline(callsIn(parts...).of)
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

// callsIn returns the range of calls of each thread that have blocks in parts.
func callsIn(parts ...Part) callRanges {
	calls := callRanges{}
	for _, p := range parts {
		p.Blocks(func(b trace.PartBlock) {
			from := b.Number() * timing.BlockCalls
			calls.add(uint32(b.Thread()), from, from+timing.BlockCalls)
		})
	}
	return calls
}

// sums returns a copy of a part with sums over as many calls as possible instead of times. It
// returns none for a part with chunks of values or chapters, which nothing can replace.
func (d *Directory) sums(p Part) ([]byte, error) {
	if p.HasChunks() || len(p.Chapters()) > 0 {
		return nil, recorder.ErrBlocks
	}
	last, err := d.readCheckpoint()
	if err != nil || !last.found {
		return nil, errors.Join(recorder.ErrBlocks, err)
	}
	c, threads, err := last.recorder.Outline(callsIn(p).of)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = writeSums(&b, p, timing.LongSums, c, threads)
	return b.Bytes(), err
}

// coarsen replaces one part atomically.
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
	size := d.sizeOf(partNew)
	if size >= p.Size() {
		return d.root.Remove(partNew)
	}
	if err := d.root.Rename(partNew, partFile+strconv.Itoa(p.Number)); err != nil {
		return err
	}
	done.Calls, done.Before, done.After = done.Calls+calls, done.Before+p.Size(), done.After+size
	return nil
}

// writeSums writes a part with sums over per calls instead of finer times and returns the number of
// calls. Its chunks of values stay.
func writeSums(to io.Writer, p Part, per uint64, c *trace.Content, threads []trace.Thread) (calls uint64, err error) {
	w, err := trace.NewPartWriter(to, c)
	if err != nil {
		return 0, err
	}
	p.Blocks(func(b trace.PartBlock) {
		if err != nil {
			return
		}
		t := threadOf(threads, b.Thread())
		switch {
		case b.SumsOf() >= per:
			err = w.Copy(b)
		case t == nil:
			err = recorder.ErrBlocks
		default:
			err = w.Coarsen(t, b, per)
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
