package main

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/internal/plant"
	"github.com/cairn-mpi/cairn/internal/plant/examine"
)

// maxUnexplained is the part of all ranks' time that a ledger may leave unexplained.
const maxUnexplained = 0.05

// A judge counts how often Cairn is right.
type judge struct {
	*bench
	kinds       []string // nil: all
	seed        uint64   // of the first plant of each kind
	table       plant.Table
	unexplained int            // plants with too much unexplained time in the ledger
	right, all  map[string]int // gains, by how they were promised
}

// verdicts runs plants of all kinds in turn: simulated, and C programs under both MPIs with twice
// as many ranks as cores. Each of these runs a second time without the problem, and the difference
// is compared with the predicted gain.
func verdicts(b *bench) {
	j := &judge{bench: b, seed: get(strconv.ParseUint(b.param("SEED"), 10, 64)),
		right: map[string]int{}, all: map[string]int{}}
	if b.given("KINDS") {
		j.kinds = strings.Split(b.param("KINDS"), ",")
		for _, name := range j.kinds {
			get(plant.KindOf(name))
		}
	}
	b.note("seed %d; what is wrong:", j.seed)
	j.simulate(plant.Problem, b.number("SIMULATED"))
	j.simulate(plant.Control, b.number("CONTROLS"))
	if n := b.number("REAL"); n > 0 {
		j.runReal(n)
	}
	b.note("\n%s", &j.table)
	b.check("the table above", !j.table.Missed(), "")
	b.row("plants", val("with an unexplained ledger", float64(j.unexplained)).atMost(0))
	for _, how := range []string{"by replay", "estimated"} {
		if j.all[how] > 0 {
			b.row("gains "+how, val("right", float64(j.right[how])).atLeast(float64(j.all[how])))
		}
	}
}

// draw draws n plants of a class, cycling through all wanted kinds.
func (j *judge) draw(class plant.Class, real bool, n int) (plants []*plant.Plant) {
	kinds := slices.DeleteFunc(plant.Of(class, real), func(k *plant.Kind) bool {
		return j.kinds != nil && !slices.Contains(j.kinds, k.Name)
	})
	for i := 0; i < n && len(kinds) > 0; i++ {
		plants = append(plants, get(plant.Random(kinds[i%len(kinds)].Name, j.seed+uint64(i/len(kinds)),
			real)))
	}
	return plants
}

// simulate judges simulated plants on all processors.
func (j *judge) simulate(class plant.Class, n int) {
	plants := j.draw(class, false, n)
	results := make([]*examine.Result, len(plants))
	group, ctx := errgroup.WithContext(j.ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range plants {
		group.Go(func() (err error) {
			results[i], err = examine.Simulated(ctx, p)
			return err
		})
	}
	must(group.Wait())
	for _, r := range results {
		j.count(r)
	}
}

// runReal judges real plants one by one, alternating between the MPIs.
func (j *judge) runReal(n int) {
	m := get(examine.NewMachine(j.ctx, j.folder))
	defer func() { _ = m.Close() }()
	some := (n + 9) / 10
	for _, of := range []struct {
		class plant.Class
		n     int
	}{{plant.Problem, n}, {plant.Control, some}, {plant.Failure, some}} {
		kinds := map[string]int{} // by which the MPIs alternate
		for _, p := range j.draw(of.class, true, of.n) {
			if _, seen := kinds[p.Kind]; !seen {
				kinds[p.Kind] = len(kinds)
			}
			r := get(m.Real(j.ctx, p, examine.MPIs[kinds[p.Kind]%len(examine.MPIs)], ""))
			kinds[p.Kind]++
			j.count(r)
			j.gain(r)
		}
	}
}

// gain compares the promised and the real gain: within 2 % of the run, 10 % of the gain, or the
// spread.
func (j *judge) gain(r *examine.Result) {
	g, ok := r.Gain()
	if !ok {
		return
	}
	how := map[bool]string{false: "by replay", true: "estimated"}[g.Estimate]
	j.all[how]++
	if g.Right() {
		j.right[how]++
	}
	j.note("gain of %-40s %s", fmt.Sprintf("%s, seed %d, %s", r.Plant.Kind, r.Plant.Seed, r.MPI), g)
}

// count adds a result to the table, and names it if it is wrong.
func (j *judge) count(r *examine.Result) {
	loss := r.Truth.Loss()
	j.table.Add(r.Plant, loss, r.Cause, r.Who)
	if !r.Cause || !r.Who {
		j.note("%s   # %.0f%%: %s", r.Command(), 100*loss, r.Why)
	}
	if u := r.Unexplained(); u > maxUnexplained {
		j.unexplained++
		j.note("%s   # the ledger leaves %.0f%% unexplained", r.Command(), 100*u)
	}
}
