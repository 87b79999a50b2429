package phases

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/series"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// Limits for drifts and outliers.
const (
	driftAlpha   = 0.001
	driftChange  = 0.05
	outlierRatio = 1.5
	outlierScale = 8
	// of the samples: what is more frequent is normal for the loop (a sweep in which every
	// fourth step is long)
	outlierShare = 0.1
	maxOutliers  = 4 // of a rank
	maxListed    = 20
	maxSites     = 40
)

// Waits calls yield for each wait state of a location, or each piece of the critical path, in
// nanoseconds on the common clock.
type Waits func(location int, yield func(begin, end int64))

// Analyze finds the phases of a trace in its own passes. If waits is nil, the findings have no
// waiting.
func Analyze(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks, waits Waits) (Findings, error) {
	p, err := NewPlan(t, clocks)
	if err != nil {
		return Findings{}, err
	}
	if err := p.Follow(ctx, clocks); err != nil {
		return Findings{}, err
	}
	return p.Findings(waits, nil), nil
}

// Findings returns the findings of all locations. waits and path may be nil.
func (p *Plan) Findings(waits, path Waits) Findings {
	f := Findings{SchemaVersion: SchemaVersion, Phases: []Phase{}, Windows: []Window{}}
	ranks := 0
	for i, t := range p.trackers {
		if t == nil || !t.began {
			continue
		}
		ranks++
		if waits != nil {
			waits(i, t.wait)
		}
		if path != nil {
			path(i, t.onPath)
		}
	}
	for number := range p.phases() {
		if one := p.phase(number, ranks); one.Ranks > 0 {
			f.Phases = append(f.Phases, one)
		}
	}
	f.Windows = p.windows(ranks)
	f.Text = sentence(f.Phases)
	return f
}

func (p *Plan) phase(number, ranks int) Phase {
	f := Phase{CallSites: []string{}, Drifts: []Drift{}, Outliers: []Outlier{}, Loop: number%2 == 1, SlowestRank: -1}
	if f.Loop {
		p.describe(&f, p.sections[number/2])
	} else {
		f.Name = p.Name(number)
	}
	start, end, ideal := int64(math.MaxInt64), int64(math.MinInt64), int64(0)
	var medians []float64
	for i, t := range p.trackers {
		if t == nil || !t.parts[number].there {
			continue
		}
		part, rank := &t.parts[number], p.locations[i].Rank
		f.Ranks++
		f.Calls += part.calls
		start, end = min(start, part.start), max(end, part.end)
		ideal = max(ideal, t.passes(part.start, part.end))
		f.Path += float64(part.path) / 1e9
		compute := float64(part.compute) / 1e9
		f.Computation += compute
		f.MPI += float64(part.mpi) / 1e9
		f.Waiting += float64(part.waited) / 1e9
		if f.SlowestRank < 0 || compute > f.SlowestComputation {
			f.SlowestRank, f.SlowestComputation = rank, compute
		}
		f.Iterations = max(f.Iterations, part.computing.Count)
		if part.computing.Count > 0 {
			compute, mpi := part.computing.Means(), part.inMPI.Means()
			whole := make([]float64, len(compute))
			for k := range whole {
				whole[k] = compute[k] + mpi[k]
			}
			medians = append(medians, series.Median(whole))
			f.judge(rank, &part.computing, compute, ranks)
		}
	}
	if f.Ranks == 0 {
		return f
	}
	f.StartSeconds, f.EndSeconds = float64(start-p.start)/1e9, float64(end-p.start)/1e9
	f.Efficiency = efficiency(f.Computation/float64(f.Ranks), f.SlowestComputation, f.EndSeconds-f.StartSeconds)
	if ideal > 0 {
		f.Efficiency.divide(float64(ideal)/1e9, f.SlowestComputation, f.EndSeconds-f.StartSeconds)
	}
	f.MedianIteration = series.Median(medians)
	if f.Iterations > 0 {
		f.CallsPerIteration = float64(f.Calls) / float64(f.Iterations) / float64(f.Ranks)
	}
	slices.SortStableFunc(f.Drifts, func(a, b Drift) int {
		return -cmp.Compare(math.Abs(a.ChangePercent), math.Abs(b.ChangePercent))
	})
	slices.SortStableFunc(f.Outliers, func(a, b Outlier) int { return -cmp.Compare(a.Seconds, b.Seconds) })
	f.DriftsOmitted, f.OutliersOmitted = max(0, len(f.Drifts)-maxListed), max(0, len(f.Outliers)-maxListed)
	f.Drifts, f.Outliers = f.Drifts[:len(f.Drifts)-f.DriftsOmitted], f.Outliers[:len(f.Outliers)-f.OutliersOmitted]
	return f
}

func efficiency(mean, most, length float64) Efficiency {
	var e Efficiency
	if most > 0 && length > 0 {
		e.LoadBalance, e.Communication = mean/most, most/length
		e.Parallel = e.LoadBalance * e.Communication
	}
	return e
}

// judge finds a trend and outliers.
func (f *Phase) judge(rank int, s *series.Series, compute []float64, ranks int) {
	middle := series.Median(compute)
	if p := series.MannKendall(compute); p < driftAlpha/float64(ranks) && middle > 0 {
		slope := series.TheilSen(compute) / float64(s.Per)
		change := slope * float64(s.Count) / middle
		if math.Abs(change) >= driftChange {
			how := "slower"
			if change < 0 {
				how = "faster"
			}
			f.Drifts = append(f.Drifts, Drift{Rank: rank, SlopeSeconds: slope, ChangePercent: 100 * change, PValue: p,
				Text: fmt.Sprintf("Rank %d gets %s: its computation per iteration changes by %+.0f%% from the first to the last of %d iterations.", rank, how, 100*change, s.Count)})
		}
	}
	limit := max(outlierRatio*middle, middle+outlierScale*series.Scale(compute, middle)*math.Sqrt(float64(s.Per)))
	if len(compute) < 8 || s.ShareAbove(limit) > outlierShare {
		return
	}
	for _, one := range s.Top[:min(len(s.Top), maxOutliers)] {
		if one.Seconds > limit {
			f.Outliers = append(f.Outliers, Outlier{Rank: rank, Iteration: one.Number, Seconds: one.Seconds, Median: middle})
		}
	}
}

// describe sets the name of a loop from its call sites.
func (p *Plan) describe(f *Phase, s *section) {
	sites := p.trace.Sites()
	where := func(c class) string {
		if c.site == 0 || int(c.site) > len(sites) {
			return ""
		}
		return callsite.InFunction(&sites[c.site-1])
	}
	var in []class
	for i, c := range p.classes {
		if s.classes.has(i) {
			in = append(in, c)
			if len(f.CallSites) < maxSites {
				f.CallSites = append(f.CallSites, callsite.At(p.name(c), where(c)))
			}
		}
	}
	slices.Sort(f.CallSites)
	if s.anchor >= 0 {
		c := p.classes[s.anchor]
		f.Anchor = callsite.At(p.name(c), where(c))
		f.Name = "loop with " + f.Anchor
	} else {
		f.Name = "loop"
	}
	// the lines of a loop that is in a single file
	file, first, last := "", 0, 0
	for i, c := range in {
		if c.site == 0 || int(c.site) > len(sites) || sites[c.site-1].Line == 0 || i > 0 && sites[c.site-1].File != file {
			return
		}
		line := sites[c.site-1].Line
		if i == 0 {
			file, first, last = sites[c.site-1].File, line, line
		}
		first, last = min(first, line), max(last, line)
	}
	if file != "" {
		f.Name = fmt.Sprintf("loop %s:%d–%d", file[strings.LastIndex(file, "/")+1:], first, last)
	}
}

func (p *Plan) windows(ranks int) []Window {
	list := []Window{}
	if ranks == 0 || p.end <= p.start {
		return list
	}
	for i := range windows {
		from := int64(i) * p.window()
		to := min(from+p.window(), p.end-p.start)
		if to <= from {
			break
		}
		sum, most, ideal := int64(0), int64(0), int64(0)
		for _, t := range p.trackers {
			if t != nil {
				sum, most = sum+t.useful[i], max(most, t.useful[i])
				ideal = max(ideal, t.passes(p.start+from, p.start+from+p.window()))
			}
		}
		w := Window{
			StartSeconds: float64(from) / 1e9, EndSeconds: float64(to) / 1e9,
			Efficiency: efficiency(float64(sum)/float64(ranks), float64(most), float64(to-from)),
		}
		if ideal > 0 {
			w.Efficiency.divide(float64(ideal)/1e9, float64(most)/1e9, float64(to-from)/1e9)
		}
		list = append(list, w)
	}
	return list
}

// sentence returns "initialization, 250 iterations of 7 calls (loop stencil.c:70–82), end".
func sentence(list []Phase) string {
	var words []string
	for _, f := range list {
		if f.Loop && f.Iterations > 0 {
			words = append(words, fmt.Sprintf("%d iterations of %.3g calls (%s)", f.Iterations, f.CallsPerIteration, f.Name))
		} else {
			words = append(words, f.Name)
		}
	}
	return strings.Join(words, ", ")
}
