package spool

import (
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
	piecesNew     = "pieces.new" // being written
	maxPiecesFile = 64 << 20
)

// joinedParts is the number of parts that are joined to one; smaller in tests.
var joinedParts = 16

// An original is a part before it was joined.
type original struct {
	Number int        `json:"number"`
	Part   storedPart `json:"part"`
}

// joinStored joins the indexes of stored parts if there are many of about the same size. It returns
// the additional bytes.
func (d *Directory) joinStored() (more int64, err error) {
	numbers, err := d.numbered(storedFile)
	if err != nil || len(numbers) < joinedParts {
		return 0, err
	}
	alike := map[int][]int{} // by number of joins
	for _, number := range numbers {
		s, err := d.readStored(number)
		if err != nil {
			return 0, err
		}
		times := 0
		for n := len(s.Pieces); n >= joinedParts; n /= joinedParts {
			times++
		}
		alike[times] = append(alike[times], number)
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
func (d *Directory) join(numbers []int) (more int64, err error) {
	last := numbers[len(numbers)-1]
	var originals []original
	var parts []*trace.Part
	var all storedPart
	before := int64(0)
	for _, number := range numbers {
		s, err := d.readStored(number)
		if err != nil {
			return 0, err
		}
		p, err := d.openStored(number)
		if err != nil {
			return 0, err
		}
		parts = append(parts, p.Part)
		mine := []original{{number, s}}
		if len(s.Pieces) > 1 {
			if mine, err = d.readPieces(number); err != nil {
				return 0, err
			}
		}
		originals = append(originals, mine...)
		for _, piece := range s.Pieces {
			piece.From += all.Bytes
			all.Pieces = append(all.Pieces, piece)
		}
		all.Bytes += s.Bytes
		before += d.sizeOf(storedFile+strconv.Itoa(number)) + d.sizeOf(piecesFile+strconv.Itoa(number))
	}
	if all.Index, err = trace.JoinParts(parts); err != nil {
		return 0, err
	}
	all.Bytes += int64(len(all.Index))
	text, err := json.Marshal(originals)
	if err != nil {
		return 0, err
	}
	if err := d.replace(piecesNew, piecesFile+strconv.Itoa(last), text); err != nil {
		return 0, err
	}
	size, err := d.writeStored(last, all)
	if err != nil {
		return 0, err
	}
	for _, number := range numbers[:len(numbers)-1] {
		if err := d.root.Remove(storedFile + strconv.Itoa(number)); err != nil {
			return 0, err
		}
		_ = d.root.Remove(piecesFile + strconv.Itoa(number)) // most have none
	}
	return size + int64(len(text)) - before, nil
}

func (d *Directory) sizeOf(name string) int64 {
	info, err := d.root.Lstat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

func (d *Directory) readPieces(number int) (list []original, err error) {
	b, err := d.read(piecesFile+strconv.Itoa(number), maxPiecesFile)
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(b, &list) != nil || slices.ContainsFunc(list, func(o original) bool { return o.Number < 0 || !o.Part.valid() }) {
		return nil, recorder.ErrBlocks
	}
	return list, nil
}

// replaceLost splits a joined part if the store has lost an object of it: the parts of the object
// are replaced by their sums, and the others are restored.
func (d *Directory) replaceLost(number int, object string) (taken int64, err error) {
	originals, err := d.readPieces(number)
	if err != nil {
		return 0, err
	}
	// the joined part, which has the number of the last one, is replaced last: until then it
	// is the valid one
	slices.SortFunc(originals, func(a, b original) int { return a.Number - b.Number })
	for _, o := range originals {
		name := strconv.Itoa(o.Number)
		if o.Part.Pieces[0].Object != object {
			size, err := d.writeStored(o.Number, o.Part)
			if err != nil {
				return taken, err
			}
			taken += size
			continue
		}
		if len(o.Part.Sums) == 0 {
			return taken, recorder.ErrBlocks
		}
		if err := d.replace(partNew, partFile+name, o.Part.Sums); err != nil {
			return taken, err
		}
		taken += int64(len(o.Part.Sums))
		if o.Number == number {
			if err := d.root.Remove(storedFile + name); err != nil {
				return taken, err
			}
		}
	}
	return taken, d.root.Remove(piecesFile + strconv.Itoa(number))
}
