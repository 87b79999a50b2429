package merger

import (
	"errors"
	"fmt"

	"github.com/cairn-mpi/cairn/trace"
)

// Options of Finish.
type Options struct {
	// Final asks for a finished trace instead of a shard.
	Final bool
	// Attempt and Run identify the run within its job.
	Attempt, Run int
	// CreatedBy is the version of Cairn that merges.
	CreatedBy string
}

// ErrFinal is the error of Add for a trace that was written by a final merge.
var ErrFinal = errors.New("this trace is finished already; only shards and traces of single ranks can be merged")

// ErrRepeatedRank is the error of Merge for inputs with two different processes of the same rank.
var ErrRepeatedRank = errors.New("the same rank occurs in several runs of this world")

// A Merger merges traces of one world. The zero value is ready to use. It keeps references to the
// timing of the traces that were added.
type Merger struct {
	// Unfinished traces are merged again later, as they grow. Values that vary on a thread stay in
	// its signatures until then, so that nothing coded is coded again.
	Unfinished bool
	table      internTable
	meta       metas
	processes  processes
}

// Add adds a trace. After an error the Merger is unchanged.
func (m *Merger) Add(c *trace.Content) error {
	if c.Meta.Final {
		return ErrFinal
	}
	if err := m.meta.compatible(&c.Meta); err != nil {
		return err
	}
	if err := m.table.add(c, &m.processes, !m.Unfinished); err != nil {
		return err
	}
	m.meta.add(&c.Meta)
	return nil
}

// Finish returns the merged trace. There are several, in order of their start, if the world's id
// was reused (a launcher was restarted with the same identity): each rank occurs at most once in
// each.
func (m *Merger) Finish(o Options) ([]*trace.Content, error) {
	if m.processes.ranks.Len() == 0 {
		return nil, errors.New("there is no rank to merge")
	}
	distinct, notes := m.table.distinct(&m.processes)
	var merged []*trace.Content
	for _, generation := range generations(distinct) {
		c, err := m.table.export(&m.processes, generation, o.Final, &m.meta.joined)
		if err != nil {
			return nil, err
		}
		m.meta.describe(c, o, notes)
		merged = append(merged, c)
	}
	return merged, nil
}

// Merge merges traces of one world in which no rank was started twice.
func Merge(inputs []*trace.Content, o Options) (*trace.Content, error) {
	var m Merger
	for i, c := range inputs {
		if err := m.Add(c); err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
	}
	merged, err := m.Finish(o)
	if err != nil {
		return nil, err
	}
	if len(merged) > 1 {
		return nil, ErrRepeatedRank
	}
	return merged[0], nil
}
