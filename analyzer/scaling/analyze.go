package scaling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// ErrOneSize is the error if all runs have the same number of ranks.
var ErrOneSize = errors.New("how a program grows shows in runs of several numbers of ranks, five or more for models of times")

// atOnce is the number of traces that are read concurrently.
const atOnce = 2

// Analyze models a program from runs with several numbers of ranks, and predicts it for the
// targets. Without targets it predicts four times the ranks of the largest run.
func Analyze(ctx context.Context, recordings []Recording, targets []int) (Findings, error) {
	runs, err := readAll(ctx, recordings)
	if err != nil {
		return Findings{}, err
	}
	bySize := map[int][]*run{}
	for _, r := range runs {
		bySize[r.size] = append(bySize[r.size], r)
	}
	sizes := slices.Sorted(maps.Keys(bySize))
	if len(sizes) < 2 {
		return Findings{}, fmt.Errorf("all runs have %s: %w", wording.Count(sizes[0], "rank", "ranks"), ErrOneSize)
	}
	if len(targets) == 0 {
		targets = []int{4 * sizes[len(sizes)-1]}
	}
	s := &scaler{sizes: sizes, bySize: bySize, targets: slices.Compact(slices.Sorted(slices.Values(targets)))}
	f := Findings{SchemaVersion: SchemaVersion, Executable: executableOf(recordings[0]), Targets: s.targets, Regions: []Region{}, Notes: []string{}}
	for _, size := range sizes {
		f.Sizes = append(f.Sizes, sizeOf(size, bySize[size]))
	}
	f.Kind = s.kind()
	f.Regions = s.regions()
	f.Notes = append(f.Notes, notes(recordings, &f, runs)...)
	f.hurtsFirst()
	f.Text = f.sentences()
	return f, nil
}

func readAll(ctx context.Context, recordings []Recording) ([]*run, error) {
	runs, n := make([]*run, len(recordings)), newNames(recordings)
	apart := !slices.ContainsFunc(recordings, func(r Recording) bool { return r.aggregated() })
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, r := range recordings {
		group.Go(func() (err error) {
			if runs[i], err = read(inner, r, n, apart); err != nil {
				err = fmt.Errorf("%s: %w", r.Name, err)
			}
			return err
		})
	}
	return runs, group.Wait()
}

// sizeOf summarizes the runs of a size.
func sizeOf(ranks int, runs []*run) Size {
	var seconds, ends, waited []float64
	for _, r := range runs {
		seconds, ends, waited = append(seconds, r.seconds), append(ends, r.outside), append(waited, r.waitedForCPU)
	}
	s := Size{Ranks: ranks, Runs: len(runs)}
	s.Seconds, _ = center(seconds)
	s.StartAndEnd, _ = center(ends)
	s.WaitedForCPU, _ = center(waited)
	s.WaitedForCPU *= 100
	if s.Seconds > 0 {
		s.Spread = 100 * (slices.Max(seconds) - slices.Min(seconds)) / s.Seconds
	}
	return s
}

// A scaler models all regions.
type scaler struct {
	sizes   []int
	bySize  map[int][]*run
	targets []int
}

// limit is the number of ranks up to which models have to be possible.
func (s *scaler) limit() float64 {
	return float64(max(s.targets[len(s.targets)-1], s.sizes[len(s.sizes)-1]))
}

// alike is the maximum difference of the slope of computation against ranks, both as logarithms,
// from that of strong or weak scaling.
const alike = 0.25

// kind returns the kind of scaling of the runs.
func (s *scaler) kind() string {
	var x, y []float64
	for _, size := range s.sizes {
		var seconds []float64
		for _, r := range s.bySize[size] {
			sum := 0.0
			for p, one := range r.places {
				if p.computation {
					sum += stat.Mean(one.seconds, nil)
				}
			}
			seconds = append(seconds, sum)
		}
		if median, _ := center(seconds); median > 0 {
			x, y = append(x, math.Log(float64(size))), append(y, math.Log(median))
		}
	}
	if len(x) < 2 {
		return ""
	}
	switch _, slope := stat.LinearRegression(x, y, nil, false); {
	case math.Abs(slope) <= alike:
		return "weak"
	case math.Abs(slope+1) <= alike:
		return "strong"
	}
	return ""
}

// regions returns all places with their models.
func (s *scaler) regions() []Region {
	all := map[place]bool{}
	for _, runs := range s.bySize {
		for _, r := range runs {
			for p := range r.places {
				all[p] = true
			}
		}
	}
	list := make([]Region, 0, len(all))
	for p := range all {
		if r := s.region(p); r.What == "mpi" || r.Seconds.NoModel != nothing {
			list = append(list, r)
		}
	}
	for i := range s.targets {
		total := 0.0
		for k := range list {
			total += list[k].Predicted[i].Seconds
		}
		for k := range list {
			if total > 0 {
				list[k].Predicted[i].Share = 100 * list[k].Predicted[i].Seconds / total
			}
		}
	}
	last := len(s.targets) - 1
	slices.SortFunc(list, func(a, b Region) int {
		return cmp.Or(-cmp.Compare(a.Predicted[last].Seconds, b.Predicted[last].Seconds), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// region returns a place with its models.
func (s *scaler) region(p place) Region {
	r := Region{
		Name: p.words(), What: "mpi", Function: p.call.Function, CallSite: p.call.CallSite,
		AfterFunction: p.after.Function, AfterCallSite: p.after.CallSite,
	}
	if p.computation {
		r.What = "computation"
	}
	seconds, longest, waiting, calls, bytes := new(measure), new(measure), new(measure), new(measure), new(measure)
	for _, size := range s.sizes {
		v := valuesOf(p, s.bySize[size])
		if v == nil {
			continue
		}
		m := Measured{Ranks: size}
		m.Seconds = seconds.add(size, v.seconds)
		m.MaxSeconds = longest.add(size, v.longest)
		m.Calls = calls.add(size, v.calls)
		if v.waiting != nil {
			w := waiting.add(size, v.waiting)
			m.Waiting = &w
		}
		if v.bytes != nil {
			b := bytes.add(size, v.bytes)
			m.Bytes = &b
		}
		if total, _ := center(v.totals); total > 0 {
			m.Share = 100 * m.Seconds / total
		}
		r.Measured = append(r.Measured, m)
	}
	limit := s.limit()
	r.Seconds, r.MaxSeconds = seconds.times(limit), longest.times(limit)
	if p.computation {
		none := Series{NoModel: "it is no call"}
		r.Waiting, r.Calls, r.Bytes = none, none, none
	} else {
		r.Waiting, r.Calls, r.Bytes = waiting.times(limit), calls.counts(limit), bytes.counts(limit)
		// bytes are calls times their sizes: if calls match no form, bytes do so only by chance
		if r.Bytes.isExact() && (!r.Calls.isExact() || r.Calls.Model.Shape != 0 && r.Bytes.Model.Shape == 0) {
			r.Bytes = bytes.approximate(limit)
		}
	}
	r.predict(s)
	return r
}

// predict predicts the time of a region at the targets. A region that the largest runs lack has
// ended.
func (r *Region) predict(s *scaler) {
	last := &r.Measured[len(r.Measured)-1]
	for _, target := range s.targets {
		p := Prediction{Ranks: target}
		ended := last.Ranks != s.sizes[len(s.sizes)-1]
		if !ended {
			p.Calls, p.Bytes = r.Calls.at(target), r.Bytes.at(target)
		}
		switch {
		case ended:
		case r.Seconds.Model != nil:
			p.Seconds = r.Seconds.Model.choice.at(float64(target))
			low, high := r.Seconds.Model.choice.interval(float64(target))
			p.Low, p.High = &low, &high
		default:
			p.Seconds = last.Seconds
		}
		r.Predicted = append(r.Predicted, p)
	}
}

// isExact reports whether there is a model that matches the counts exactly.
func (s *Series) isExact() bool { return s.Model != nil && s.Model.Exact }

// at returns the prediction for a number of ranks, nil without a model.
func (s *Series) at(ranks int) *float64 {
	if s.Model == nil || !s.Model.holds(ranks) {
		return nil
	}
	v := s.Model.choice.at(float64(ranks))
	return &v
}

// notes lists what the reader must know.
func notes(recordings []Recording, f *Findings, runs []*run) []string {
	var list []string
	executables := map[string]bool{}
	for i, r := range recordings {
		executables[executableOf(r)] = true
		meta := r.Meta()
		if len(meta.MissingRanks) > 0 {
			list = append(list, fmt.Sprintf("%s: missing from the trace: rank %s.", r.Name, meta.MissingRanks))
		}
		if early := runs[i].early; len(early) > 0 {
			list = append(list, fmt.Sprintf("%s: ended before MPI_Finalize, or tracing stopped before the end: rank %s. It is a part of a run.", r.Name, early))
		}
		for _, note := range meta.Notes {
			list = append(list, r.Name+": "+note)
		}
	}
	if len(executables) > 1 {
		list = append(list, "Different executables: "+strings.Join(slices.Sorted(maps.Keys(executables)), ", ")+".")
	}
	if slices.ContainsFunc(recordings, func(r Recording) bool { return r.aggregated() }) {
		list = append(list, "The times of single calls were not kept in all runs (timing aggregated): a computation is known by the call after it only, and waiting is not known.")
	}
	for _, s := range f.Sizes {
		if s.WaitedForCPU >= 100*scarce {
			list = append(list, fmt.Sprintf("At %s, ranks were ready to run and had no CPU for %.0f%% of their time: its times say little of a machine with a CPU for each rank.", wording.Count(s.Ranks, "rank", "ranks"), s.WaitedForCPU))
		}
	}
	if some := f.notEverywhere(); some != "" {
		list = append(list, some)
	}
	return list
}

// scarce is the share of its time that a rank has to wait for a CPU to be worth a note.
const scarce = 0.1

// notEverywhere names calls that some of the larger sizes lack. Calls that appear with more ranks
// are expected.
func (f *Findings) notEverywhere() string {
	var names []string
	for i := range f.Regions {
		r := &f.Regions[i]
		first := slices.IndexFunc(f.Sizes, func(s Size) bool { return s.Ranks == r.Measured[0].Ranks })
		if r.What == "mpi" && len(r.Measured) < len(f.Sizes)-first {
			names = append(names, r.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	const few = 3
	slices.Sort(names)
	text := strings.Join(names[:min(few, len(names))], ", ")
	if n := len(names) - few; n > 0 {
		text += fmt.Sprintf(" and %s", wording.Count(n, "other", "others"))
	}
	return "Not called at all sizes: " + text + ". What runs do differently has no model beyond the sizes that have it."
}
