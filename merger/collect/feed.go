package collect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/cairn-mpi/cairn/internal/readlimit"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// An input is a trace to be merged.
type input struct {
	name string // its key
	lost string // what is lost if it cannot be used
	read func(ctx context.Context) (*trace.Content, error)
}

// feed adds inputs to a merger. It leaves out those that cannot be used and names them in problems.
// err is an error of the store or of the context.
func feed(ctx context.Context, m *merger.Merger, inputs []input) (added int, problems []string, err error) {
	// a few inputs are read and decoded ahead of the one that is being merged
	type result struct {
		content *trace.Content
		err     error
	}
	results := make([]chan result, len(inputs))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	slots := make(chan struct{}, readAhead)
	go func() {
		for i := range inputs {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			go func() {
				content, err := inputs[i].read(ctx)
				results[i] <- result{content, err}
			}()
		}
	}()
	for i := range inputs {
		var r result
		select {
		case r = <-results[i]:
		case <-ctx.Done():
			return added, problems, ctx.Err()
		}
		err := r.err
		if err == nil {
			err = m.Add(r.content)
		}
		<-slots
		switch {
		case err == nil:
			added++
		case isStorage(err):
			return added, problems, err
		case ctx.Err() != nil:
			return added, problems, ctx.Err()
		default:
			problems = append(problems, fmt.Sprintf("%s cannot be used, %s are missing: %v", inputs[i].name, inputs[i].lost, err))
		}
	}
	return added, problems, nil
}

// readAhead bounds the number of inputs in memory that are not merged yet.
const readAhead = 4

// isStorage reports whether err is an error of the store, not of its content: then the whole step
// is to be repeated.
func isStorage(err error) bool {
	var e *store.Error
	return errors.As(err, &e) && e.Reason != store.NotFound
}

// errParts is the error of parts that a shard needs and that are missing in the store: someone, or
// a rule of the bucket, has deleted them.
var errParts = errors.New("times that belong to it are not in the storage any more")

// shardInput returns a shard of the plan. A sidecar may replace manifest and shard between two
// reads, so a missing one is looked up once more under its new name. Parts are read in the context
// of the whole step.
func shardInput(step context.Context, s store.Store, world string, p PlannedShard) input {
	return input{
		name: p.key(), lost: fmt.Sprintf("ranks %s of pod %s", p.Ranks, p.Pod),
		read: func(ctx context.Context) (*trace.Content, error) {
			content, err := readChain(ctx, step, s, &p)
			if store.IsNotFound(err) || errors.Is(err, errParts) {
				var m shard.Manifest
				if err := shard.Read(ctx, s, p.Directory+shard.ManifestFile, &m); err != nil {
					return nil, err
				}
				p.Shard, p.Parts = m.Shard, m.Parts
				content, err = readChain(ctx, step, s, &p)
			}
			if err == nil && content.Meta.World != world {
				return nil, fmt.Errorf("it is a shard of another MPI world, %q", content.Meta.World)
			}
			return content, err
		},
	}
}

// readChain reads a shard and the parts before it. Parts are read piece by piece, when the merged
// trace is written. That they exist is checked before, or a merge of all ranks would fail because
// of one of them.
func readChain(ctx, step context.Context, s store.Store, p *PlannedShard) (*trace.Content, error) {
	raw, err := readObject(ctx, s, p.key())
	if err != nil {
		return nil, err
	}
	if len(p.Parts) == 0 {
		return decode(raw, raw.size)
	}
	pod := shard.PodOf(p.Directory)
	objects, err := s.List(ctx, shard.Parts(pod))
	if err != nil && !store.IsNotFound(err) {
		return nil, err
	}
	stored := map[string]int64{}
	for _, object := range objects {
		stored[object.Key] = object.Size
	}
	c := &chain{}
	for _, part := range p.Parts {
		key := shard.PartKey(pod, part.Name)
		switch bytes, there := stored[key]; {
		case !there:
			return nil, fmt.Errorf("%w: %s", errParts, s.URL(key))
		case bytes != part.Bytes:
			return nil, fmt.Errorf("%w: %s has %d bytes, not %d", errParts, s.URL(key), bytes, part.Bytes)
		}
		c.add(&partReader{ctx: step, store: s, key: key}, part.Bytes)
	}
	c.add(raw, raw.size)
	return decode(c, c.size())
}

func decode(raw io.ReaderAt, size int64) (*trace.Content, error) {
	r, err := trace.Open(raw, size, readlimit.Option(size))
	if err != nil {
		return nil, err
	}
	return r.StreamedContent()
}

func readObject(ctx context.Context, s store.Store, key string) (*pieces, error) {
	object, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer object.Close()
	raw := &pieces{}
	_, err = io.CopyBuffer(struct{ io.Writer }{raw}, struct{ io.Reader }{object}, make([]byte, 64<<10))
	return raw, err
}

func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
