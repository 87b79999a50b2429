package shipper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// Coded times go to the store once there are enough of them, in separate objects, and leave the
// spool. A shard is the rest: the calls of the ranks so far, and the times since.
//
// The order is: parts, then the shard that needs them, then its manifest. When the store is
// verified to have all three, the parts leave the spool. An object with parts never changes, and
// its name is not reused. A sidecar that is killed before it has recorded where parts are puts them
// again, into another object or the same one, and the manifest decides which ones count.

// leastParts is the minimum size in bytes of an object with parts: fewer parts go with the shard.
// Tests use a smaller one.
var leastParts int64 = 1 << 20

// A processPart is a part of a process in the spool.
type processPart struct {
	process process
	spool.Part
}

// putParts puts the parts of a pack that are only in the spool into an object, if there are enough
// of them.
func (s *ship) putParts(ctx context.Context, p *pack) error {
	var bytes int64
	for i := range p.parts {
		if p.parts[i].Local() {
			bytes += p.parts[i].Size()
		}
	}
	if bytes < leastParts {
		return nil
	}
	name := sha256.New()
	var files []io.Reader
	at := int64(0)
	places := map[int]int64{}
	for i := range p.parts {
		part := &p.parts[i]
		if !part.Local() {
			continue
		}
		d, err := part.process.open()
		if err != nil {
			return err
		}
		f, err := d.OpenPart(part.Part)
		d.Close()
		if err != nil {
			return err
		}
		defer f.Close()
		fmt.Fprintf(name, "%s %d %d\n", part.process.name, part.Number, part.Size())
		files = append(files, io.LimitReader(f, part.Size()))
		places[i] = at
		at += part.Size()
	}
	object := hex.EncodeToString(name.Sum(nil)[:16])
	ctx, cancel := context.WithTimeout(ctx, putTimeout+time.Duration(bytes/leastRate)*time.Second)
	defer cancel()
	key := shard.PartKey(s.Identity.PodUID, object)
	if err := s.Store.Put(ctx, key, io.MultiReader(files...), bytes); err != nil {
		return err
	}
	if err := s.checkSize(ctx, key, bytes); err != nil {
		return err
	}
	s.objects[object] = bytes
	for i, at := range places {
		p.parts[i].Pieces = []spool.Piece{{Object: object, At: at, Bytes: p.parts[i].Size()}}
		p.moved = append(p.moved, i)
	}
	return nil
}

// chain returns the chain of the parts of a pack that are in the store, in front of its shard.
func (s *ship) chain(ctx context.Context, p *pack) (*trace.Chain, []shard.Part, error) {
	var order []string
	type piece struct {
		part int
		spool.Piece
	}
	pieces := map[string][]piece{} // by object
	for i := range p.parts {
		for _, of := range p.parts[i].Pieces {
			if pieces[of.Object] == nil {
				order = append(order, of.Object)
			}
			pieces[of.Object] = append(pieces[of.Object], piece{i, of})
		}
	}
	var chain trace.Chain
	var list []shard.Part
	for _, object := range order {
		size, known := s.objects[object]
		if !known {
			stored, err := s.Store.Stat(ctx, shard.PartKey(s.Identity.PodUID, object))
			if store.IsNotFound(err) {
				var parts []int
				for _, of := range pieces[object] {
					parts = append(parts, of.part)
				}
				return nil, nil, s.lostParts(p, object, slices.Compact(parts), err)
			}
			if err != nil {
				return nil, nil, err
			}
			size = stored.Size
			s.objects[object] = size
		}
		for _, of := range pieces[object] {
			chain.PlaceBytes(p.parts[of.part].Part.Part, of.From, of.Bytes, of.At)
		}
		chain.Add(size)
		list = append(list, shard.Part{Name: object, Bytes: size})
	}
	return &chain, list, nil
}

// lostParts replaces parts that the store has lost by sums: someone deleted the object, or a rule
// of the bucket. This is reported once, and the next upload works without them.
func (s *ship) lostParts(p *pack, object string, parts []int, missing error) error {
	names := map[string]bool{}
	for _, i := range parts {
		part := &p.parts[i]
		d, err := part.process.open()
		if err != nil {
			return err
		}
		taken, err := d.Lost(part.Part, object)
		d.Close()
		if err != nil {
			return fmt.Errorf("%w: times of process %s are not in the storage any more: %w", errUnusable, part.process.name, cause(err))
		}
		s.auditor.removed(-taken)
		names[part.process.name] = true
	}
	s.note([]string{fmt.Sprintf("the storage has lost %s with times of %d processes: only sums of them are left", s.Store.URL(shard.PartKey(s.Identity.PodUID, object)), len(names))})
	return missing
}

// freeParts removes the parts that were uploaded with a pack from the spool.
func (s *ship) freeParts(p *pack) {
	for _, i := range p.moved {
		part := &p.parts[i]
		d, err := part.process.open()
		if err == nil {
			var freed int64
			freed, err = d.Stored(part.Part, part.Pieces[0].Object, part.Pieces[0].At)
			d.Close()
			if err == nil {
				s.auditor.removed(freed)
			}
		}
		if err != nil {
			s.Logf("times of process %s are in the storage and cannot be removed from the spool: %v", part.process.name, cause(err))
		}
	}
	p.moved = nil
}

// remote returns a reader of an object with parts.
func (s *ship) remote(object string) io.ReaderAt {
	return &remoteObject{s.Store, shard.PartKey(s.Identity.PodUID, object)}
}

// A remoteObject opens the object for each read: reads are rare, and may happen long after the
// shipper has ended.
type remoteObject struct {
	store store.Store
	key   string
}

func (r *remoteObject) ReadAt(b []byte, at int64) (n int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), putTimeout)
	defer cancel()
	open, err := r.store.ReaderAt(ctx, r.key)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, open.Close()) }()
	return open.ReadAt(b, at)
}
