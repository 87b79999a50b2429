package spool

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// A process that runs for days has hundreds of parts in the store, and a reader would open one
// small file for each. So every sixteen parts are joined to one with one index, every sixteen of
// these to another one, and so on. A joined part has the number of its last part, so that
// numbers are not reused. The file pieces-N has its original parts; it is only read if the store
// has lost one of them.
const (
	piecesFile    = "pieces-"
	maxPiecesFile = 64 << 20
)

// joinedParts is the number of parts that are joined to one; smaller in tests.
var joinedParts = 16

// An original is a part before it was joined.
type original struct {
	Number int        `json:"number"`
	Part   storedPart `json:"part"`
}

func (o *original) file(prefix string) string { return prefix + strconv.Itoa(o.Number) }

// joinStored joins the indexes of stored parts if there are many of about the same size. It returns
// the additional bytes.
func (d *Directory) joinStored() (more int64, err error) {
	numbers, err := d.numbered(storedFile)
	if err != nil || len(numbers) < joinedParts {
		return 0, err
	}
	alike := map[int][]original{} // by number of joins
	for _, number := range numbers {
		s, err := d.readStored(number)
		if err != nil {
			return 0, err
		}
		times := 0
		for n := len(s.Pieces); n >= joinedParts; n /= joinedParts {
			times++
		}
		alike[times] = append(alike[times], original{number, s})
	}
	for times := 0; len(alike[times]) > 0; times++ {
		if len(alike[times]) >= joinedParts {
			return d.join(alike[times][:joinedParts])
		}
	}
	return 0, nil
}

// join joins some stored parts. If it is killed, some originals remain beside the joined part; each
// block counts once.
func (d *Directory) join(stored []original) (more int64, err error) {
	var originals []original
	var parts []*trace.Part
	var all storedPart
	before := int64(0)
	for _, s := range stored {
		p, err := d.openRemote(s.Part)
		if err != nil {
			return 0, err
		}
		parts = append(parts, p)
		mine, err := d.originals(s)
		if err != nil {
			return 0, err
		}
		originals = append(originals, mine...)
		for _, piece := range s.Part.Pieces {
			piece.From += all.Bytes
			all.Pieces = append(all.Pieces, piece)
		}
		all.Bytes += s.Part.Bytes
		before += d.sizeOf(s.file(storedFile)) + d.sizeOf(s.file(piecesFile))
	}
	if all.Index, err = trace.JoinParts(parts); err != nil {
		return 0, err
	}
	all.Bytes += int64(len(all.Index))
	text, err := json.Marshal(originals)
	if err != nil {
		return 0, err
	}
	last := stored[len(stored)-1]
	if err := d.replace(last.file(piecesFile), bytes.NewReader(text)); err != nil {
		return 0, err
	}
	size, err := d.writeStored(original{last.Number, all})
	if err != nil {
		return 0, err
	}
	for _, s := range stored[:len(stored)-1] {
		if err := d.root.Remove(s.file(storedFile)); err != nil {
			return 0, err
		}
		_ = d.root.Remove(s.file(piecesFile)) // most have none
	}
	return size + int64(len(text)) - before, nil
}

// originals returns the parts that were joined to a stored part: itself, if there were none.
func (d *Directory) originals(o original) (list []original, err error) {
	if len(o.Part.Pieces) == 1 {
		return []original{o}, nil
	}
	b, err := d.read(o.file(piecesFile), maxPiecesFile)
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(b, &list) != nil || slices.ContainsFunc(list, func(o original) bool { return o.Number < 0 || !o.Part.valid() }) {
		return nil, recorder.ErrBlocks
	}
	return list, nil
}
