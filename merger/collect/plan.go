package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
)

// A Plan is the basis of a merge in several levels: the shards that had arrived, fixed for all
// levels. Level 0 writes it. Each part of level k merges at most FanIn outputs of level k − 1
// (shards, for k = 1). Worlds that need fewer levels wait. The last level has one part, which makes
// the runs of all worlds.
type Plan struct {
	FanIn    int            `json:"fan_in"`
	Worlds   []PlannedWorld `json:"worlds"` // sorted by name
	Attempts []Attempt      `json:"attempts"`
	Lost     []string       `json:"lost,omitempty"`
	Problems []string       `json:"problems,omitempty"`
	Damaged  bool           `json:"damaged,omitempty"` // there are shards with unreadable manifests
	// Directory has the parts of this plan. It is different for another plan.
	Directory string `json:"directory"`
}

// A PlannedWorld is an MPI world with its shards, sorted by directory.
type PlannedWorld struct {
	World  string         `json:"world"`
	Shards []PlannedShard `json:"shards"`
}

// A PlannedShard is a shard and what is lost without it.
type PlannedShard struct {
	Directory string `json:"directory"` // with a slash at its end
	Shard     string `json:"shard"`
	// Parts precede the shard.
	Parts []shard.Part `json:"parts,omitempty"`
	Pod   string       `json:"pod"`
	Ranks string       `json:"ranks"`
}

func (p *PlannedShard) key() string { return p.Directory + path.Base(p.Shard) }

// Location of the state of a merge in several levels, below the job's prefix.
const (
	stepRoot   = "merge/"
	planFile   = stepRoot + "plan.json"
	resultFile = stepRoot + "result.json"
)

func newPlan(inv *inventory, late string, o Options) *Plan {
	p := &Plan{FanIn: o.FanIn, Attempts: o.Attempts, Lost: inv.lost(), Problems: inv.problems(), Damaged: len(inv.damaged) > 0}
	if late != "" {
		p.Problems = append([]string{late}, p.Problems...)
	}
	p.Problems = append(p.Problems, inv.duplicates()...)
	worlds := inv.worlds()
	for _, name := range sortedKeys(worlds) {
		w := PlannedWorld{World: name}
		for i := range worlds[name] {
			m := &worlds[name][i]
			w.Shards = append(w.Shards, PlannedShard{Directory: m.directory, Shard: m.Shard, Parts: m.Parts, Pod: m.Pod, Ranks: m.ranks.list()})
		}
		p.Worlds = append(p.Worlds, w)
	}
	return p
}

// inputs returns the number of inputs of a world at a level; level 1 merges the shards.
func (p *Plan) inputs(world, level int) int {
	n := len(p.Worlds[world].Shards)
	for range level - 1 {
		if n > p.FanIn {
			n = (n + p.FanIn - 1) / p.FanIn
		}
	}
	return n
}

// parts returns the number of parts of a world at a level: 0 if its inputs fit into the last level.
func (p *Plan) parts(world, level int) int {
	n := p.inputs(world, level)
	if p.FanIn < 2 || n <= p.FanIn {
		return 0
	}
	return (n + p.FanIn - 1) / p.FanIn
}

// Levels returns the number of parts of each level that follows; none: level 0 does everything.
func (p *Plan) Levels() []int {
	var levels []int
	for level := 1; ; level++ {
		n := 0
		for w := range p.Worlds {
			n += p.parts(w, level)
		}
		if n == 0 {
			break
		}
		levels = append(levels, n)
	}
	if len(levels) > 0 {
		levels = append(levels, 1)
	}
	return levels
}

// A part is one step of the tree: consecutive inputs of a world.
type part struct {
	level, world, number int
}

// part returns a part of a level by its index.
func (p *Plan) part(level, index int) (part, error) {
	number := index
	for w := range p.Worlds {
		n := p.parts(w, level)
		if number >= 0 && number < n {
			return part{level, w, number}, nil
		}
		number -= n
	}
	return part{}, fmt.Errorf("level %d of the merge has no part %d", level, index)
}

// sources returns the range [from, to) of the inputs of a part.
func (p *Plan) sources(at part) (from, to int) {
	from = at.number * p.FanIn
	return from, min(from+p.FanIn, p.inputs(at.world, at.level))
}

// producedAt returns the level that produced a world's inputs at a level, 0 for shards.
func (p *Plan) producedAt(world, level int) int {
	for level > 1 && p.parts(world, level-1) == 0 {
		level--
	}
	return level - 1
}

// setDirectory sets the directory, which depends on the content of the plan.
func (p *Plan) setDirectory() {
	p.Directory = ""
	raw, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and numbers cannot fail
	}
	p.Directory = stepRoot + digestOf(raw)[:16] + "/"
}

func (p *Plan) recordKey(at part) string {
	return fmt.Sprintf("%sl%d/%d-%d.json", p.Directory, at.level, at.world, at.number)
}

func readPlan(ctx context.Context, s store.Store) (*Plan, error) {
	var p Plan
	if err := shard.Read(ctx, s, planFile, &p); err != nil {
		return nil, fmt.Errorf("the plan of the merge: %w", err)
	}
	return &p, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
