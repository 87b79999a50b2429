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

// A Plan is what a merge in several levels was decided from: the shards that
// had arrived, once and for all levels. Level 0 writes it. Level k then merges
// at most FanIn outputs of level k − 1 (shards, for k = 1) in each of its parts;
// worlds that need no more levels wait. The last level has one part: it makes
// the runs, of all worlds.
type Plan struct {
	FanIn    int            `json:"fan_in"`
	Worlds   []PlannedWorld `json:"worlds"` // sorted by name
	Attempts []Attempt      `json:"attempts"`
	Lost     []string       `json:"lost,omitempty"`
	Problems []string       `json:"problems,omitempty"`
	Damaged  bool           `json:"damaged,omitempty"` // there are shards whose manifest cannot be read
	// Directory is where the parts lie that belong to this plan: another plan has another one.
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
	// Parts stand before the shard.
	Parts []shard.Part `json:"parts,omitempty"`
	Pod   string       `json:"pod"`
	Ranks string       `json:"ranks"`
}

func (p *PlannedShard) key() string { return p.Directory + path.Base(p.Shard) }

// Where a merge in several levels keeps its state, below the job's prefix.
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

// inputs is how many inputs a world has at a level; level 1 takes the shards.
func (p *Plan) inputs(world, level int) int {
	n := len(p.Worlds[world].Shards)
	for range level - 1 {
		if n > p.FanIn {
			n = (n + p.FanIn - 1) / p.FanIn
		}
	}
	return n
}

// parts is how many parts of a level a world has: none if it fits into the last one.
func (p *Plan) parts(world, level int) int {
	n := p.inputs(world, level)
	if p.FanIn < 2 || n <= p.FanIn {
		return 0
	}
	return (n + p.FanIn - 1) / p.FanIn
}

// Levels is how many parts each level has that follows; none: level 0 does it all.
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

// A part is one step of the tree: some consecutive inputs of a world.
type part struct {
	level, world, number int
}

// part finds a part of a level by its index.
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

// sources are what a part merges: the first of its inputs, and the one after its last.
func (p *Plan) sources(at part) (from, to int) {
	from = at.number * p.FanIn
	return from, min(from+p.FanIn, p.inputs(at.world, at.level))
}

// producedAt is the level whose parts are a world's inputs at a level, 0 for shards.
func (p *Plan) producedAt(world, level int) int {
	for level > 1 && p.parts(world, level-1) == 0 {
		level--
	}
	return level - 1
}

// place sets the directory, by what the plan says.
func (p *Plan) place() {
	p.Directory = ""
	raw, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and numbers
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
