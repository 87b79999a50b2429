package collect

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// A Record lists the outputs of a part of a merge. It is written after them. A part is not made
// again if its record exists and its outputs have the digests in it.
type Record struct {
	Outputs  []Output `json:"outputs"` // several if the world's id was reused; none if no input was usable
	Problems []string `json:"problems,omitempty"`
}

// An Output is a shard that a part made.
type Output struct {
	File   string `json:"file"` // in the directory of the record
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Ranks  string `json:"ranks"`
}

// Step does one part of a level of a merge that Merge has planned. The last level returns the
// result.
func Step(ctx context.Context, s store.Store, level, index int, o Options) (*Result, error) {
	p, err := readPlan(ctx, s)
	if err != nil {
		return nil, err
	}
	levels := p.Levels()
	switch {
	case level < 1 || level > len(levels):
		return nil, fmt.Errorf("the merge has levels 1 to %d, not %d", len(levels), level)
	case level == len(levels):
		return p.finish(ctx, s, level, o)
	}
	at, err := p.part(level, index)
	if err != nil {
		return nil, err
	}
	return nil, p.make(ctx, s, at, o)
}

// make makes a part unless it exists.
func (p *Plan) make(ctx context.Context, s store.Store, at part, o Options) error {
	key := p.recordKey(at)
	if whole, err := p.made(ctx, s, at); whole || err != nil {
		if whole {
			o.logf("%s: made before", s.URL(key))
		}
		return err
	}
	from, to := p.sources(at)
	inputs, problems, err := p.open(ctx, s, at.world, at.level, from, to)
	if err != nil {
		return err
	}
	var m merger.Merger
	added, unusable, err := feed(ctx, &m, inputs)
	if err != nil {
		return err
	}
	record := Record{Problems: append(problems, unusable...)}
	if added > 0 {
		contents, err := m.Finish(merger.Options{CreatedBy: o.CreatedBy})
		if err != nil {
			return fmt.Errorf("world %s: %w", p.Worlds[at.world].World, err)
		}
		for _, c := range contents {
			output, err := p.put(ctx, s, at, c)
			if err != nil {
				return err
			}
			record.Outputs = append(record.Outputs, output)
		}
	}
	o.logf("%s: %d inputs", s.URL(key), added)
	return shard.Write(ctx, s, key, &record)
}

// made reports whether a part exists and is complete.
func (p *Plan) made(ctx context.Context, s store.Store, at part) (bool, error) {
	var record Record
	key := p.recordKey(at)
	switch err := shard.Read(ctx, s, key, &record); {
	case store.IsNotFound(err), errors.Is(err, shard.ErrDamaged):
		return false, nil
	case err != nil:
		return false, err
	}
	for _, output := range record.Outputs {
		raw, err := readObject(ctx, s, path.Join(path.Dir(key), output.File))
		switch {
		case store.IsNotFound(err):
			return false, nil
		case err != nil:
			return false, err
		case raw.sha256() != output.SHA256:
			return false, nil
		}
	}
	return true, nil
}

// open returns inputs of a world at a level, and the problems of the parts that made them.
func (p *Plan) open(ctx context.Context, s store.Store, world, level, from, to int) ([]input, []string, error) {
	var inputs []input
	below := p.producedAt(world, level)
	if below == 0 {
		for _, planned := range p.Worlds[world].Shards[from:to] {
			inputs = append(inputs, shardInput(ctx, s, p.Worlds[world].World, planned))
		}
		return inputs, nil, nil
	}
	var problems []string
	for number := from; number < to; number++ {
		key := p.recordKey(part{below, world, number})
		var record Record
		if err := shard.Read(ctx, s, key, &record); err != nil {
			return nil, nil, fmt.Errorf("part %d of level %d: %w", number, below, err)
		}
		problems = append(problems, record.Problems...)
		for _, output := range record.Outputs {
			file := path.Join(path.Dir(key), output.File)
			inputs = append(inputs, input{
				name: file, lost: "ranks " + output.Ranks,
				read: func(ctx context.Context) (*trace.Content, error) {
					raw, err := readObject(ctx, s, file)
					if err != nil {
						return nil, err
					}
					if raw.sha256() != output.SHA256 {
						return nil, errors.New("its content is not what the merge wrote")
					}
					return decode(raw, raw.size)
				},
			})
		}
	}
	return inputs, problems, nil
}

// put writes an output of a part.
func (p *Plan) put(ctx context.Context, s store.Store, at part, c *trace.Content) (Output, error) {
	var encoded pieces
	if err := trace.Write(&encoded, c); err != nil {
		return Output{}, err
	}
	var ranks []int
	for _, rank := range c.Ranks.Numbers().All() {
		ranks = append(ranks, int(rank))
	}
	digest := encoded.sha256()
	output := Output{
		File:   strconv.Itoa(at.world) + "-" + strconv.Itoa(at.number) + "-" + digest[:16] + shard.Extension,
		SHA256: digest, Bytes: encoded.size, Ranks: trace.NewRankList(ranks).String(),
	}
	key := path.Join(path.Dir(p.recordKey(at)), output.File)
	return output, s.Put(ctx, key, encoded.reader(), encoded.size)
}

// finished is written by the last level, so that repeating it gives the same result.
type finished struct {
	Plan   string `json:"plan"`
	Result Result `json:"result"`
}

// finish does the last level: it makes the runs and the result, and then deletes the parts.
func (p *Plan) finish(ctx context.Context, s store.Store, level int, o Options) (*Result, error) {
	var before finished
	if err := shard.Read(ctx, s, resultFile, &before); err == nil && before.Plan == p.Directory {
		return &before.Result, ensureIndex(ctx, s, before.Result.Runs)
	}
	result, err := p.merge(ctx, s, level, o)
	if err != nil {
		return result, err
	}
	if err := shard.Write(ctx, s, resultFile, &finished{p.Directory, *result}); err != nil {
		return nil, err
	}
	objects, err := s.List(ctx, stepRoot)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if object.Key == planFile || object.Key == resultFile {
			continue
		}
		if err := s.Delete(ctx, object.Key); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// merge makes the runs of all worlds from their inputs at a level.
func (p *Plan) merge(ctx context.Context, s store.Store, level int, o Options) (*Result, error) {
	result := &Result{Lost: p.Lost, Problems: slices.Clone(p.Problems)}
	var runs []run
	for w := range p.Worlds {
		inputs, problems, err := p.open(ctx, s, w, level, 0, p.inputs(w, level))
		if err != nil {
			return nil, err
		}
		merged, unusable, err := mergeWorld(ctx, p.Worlds[w].World, inputs, o)
		if err != nil {
			return nil, err
		}
		problems = append(problems, unusable...)
		for i := range merged {
			merged[i].note(problems)
		}
		result.Problems = append(result.Problems, problems...)
		runs = append(runs, merged...)
	}
	if len(runs) == 0 {
		if len(p.Worlds) > 0 || p.Damaged {
			return result, ErrAllDamaged
		}
		result.Problems = append([]string{nothing}, result.Problems...)
		return result, writeIndex(ctx, s, nil)
	}
	number(runs, p.Attempts)
	result.Problems = append(result.Problems, joinWorlds(runs)...)
	for i := range runs {
		summary, err := write(ctx, s, &runs[i])
		if err != nil {
			return nil, err
		}
		o.logf("%s: %d ranks, %d calls, %d bytes", summary.TraceURI, summary.Ranks, summary.Calls, summary.TraceBytes)
		result.Runs = append(result.Runs, *summary)
	}
	return result, writeIndex(ctx, s, result.Runs)
}
