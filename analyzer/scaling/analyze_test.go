package scaling_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/scaling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

var (
	constant  = growth{base: 4}
	logarithm = scaling.Term{Num: 0, Den: 1, Log: 1}
	linear    = scaling.Term{Num: 1, Den: 1}
	inverse   = scaling.Term{Num: -1, Den: 1}
)

var fiveSizes = []int{2, 4, 8, 16, 32}

// Weak scaling, and a computation that grows with the number of ranks: 4 + 1.5·log2 p, 0.1·p
// and 4 ms in each of 10 iterations.
func TestWhatHurtsFirst(t *testing.T) {
	p := program{iterations: 10, growths: []growth{{base: 4, factor: 1.5, term: logarithm}, {base: 0, factor: 0.1, term: linear}, constant}}
	f := analyzed(t, p.runs(t, fiveSizes, 1, rand.New(rand.NewPCG(1, 1))), 64, 1024)
	found := computations(&f, 3)
	// after the first iteration
	assert.Equal(t, "36 ms + 13.5 ms·log2(p)", found[0].Seconds.Model.Formula)
	assert.Equal(t, "1 ms·p", found[1].Seconds.Model.Formula)
	assert.Equal(t, "40 ms", found[2].Seconds.Model.Formula)
	require.Equal(t, []int{64, 1024}, f.Targets)
	for i, g := range p.growths {
		for k, target := range f.Targets {
			p := found[i].Predicted[k]
			want := g.at(float64(target)) / 1e3 * []float64{9, 10, 10}[i]
			assert.InEpsilon(t, want, p.Seconds, 1e-3)
			assert.LessOrEqual(t, *p.Low, want*1.001)
			assert.GreaterOrEqual(t, *p.High, want*0.999)
		}
	}
	require.NotNil(t, f.HurtsFirst)
	assert.Equal(t, found[1], &f.Regions[*f.HurtsFirst])
	assert.Contains(t, f.Text, "Computation between MPI_Barrier at program.c:20 and MPI_Barrier at program.c:30 will hurt first: 17% of the time at 32 ranks, 82% at 1024 (1.0 s of a rank), as it grows with p.")
	assert.Contains(t, f.Text, " It is the largest part from about 140 ranks on, and half of the time from about 200 on.")
	assert.Contains(t, f.Text, " 1024 ranks are 32 times as many as were run: take it as a direction.")
	var text strings.Builder
	require.NoError(t, f.WriteText(&text))
	assert.Contains(t, text.String(), "36 ms + 13.5 ms·log2(p)")
}

// Strong scaling: what does not shrink hurts.
func TestStrongScaling(t *testing.T) {
	p := program{iterations: 2, growths: []growth{{factor: 640, term: inverse}, {base: 1}}}
	f := analyzed(t, p.runs(t, fiveSizes, 1, rand.New(rand.NewPCG(1, 1))))
	assert.Equal(t, "strong", f.Kind)
	assert.Equal(t, []int{128}, f.Targets, "without targets four times the largest size")
	require.NotNil(t, f.HurtsFirst)
	assert.Equal(t, line(1), f.Regions[*f.HurtsFirst].CallSite)
	assert.Contains(t, f.Text, "as it stays as long as it is while the rest shrinks.")
}

func TestNothingHurts(t *testing.T) {
	p := program{iterations: 3, growths: []growth{constant, {base: 2}}, noise: 0.02}
	f := analyzed(t, p.runs(t, fiveSizes, 3, rand.New(rand.NewPCG(1, 1))), 128)
	assert.Nil(t, f.HurtsFirst)
	assert.Equal(t, "weak", f.Kind)
	assert.Contains(t, f.Text, "Nothing is seen to hurt up to 128 ranks: no part's share of the time grows by 2% or more.")
	assert.Equal(t, 3, f.Sizes[0].Runs)
	assert.Positive(t, f.Sizes[0].Spread)
}

// Of fewer than five sizes there are models of what is exact.
func TestFewSizes(t *testing.T) {
	var list []scaling.Recording
	for _, ranks := range []int{2, 4, 8} {
		list = append(list, simulated(t, simulate.Config{Pattern: "pairwise", Ranks: ranks}))
	}
	f := analyzed(t, list, 64)
	assert.Equal(t, "3 sizes do not say how times grow: that takes 5. Calls and bytes are exact, and have models already.", f.Text)
	r := region(t, &f, "MPI_Sendrecv at pairwise.c:20")
	assert.Nil(t, r.Seconds.Model)
	assert.Equal(t, "3 sizes: a model of times takes 5", r.Seconds.NoModel)
	assert.Equal(t, "-10 + 10·p", r.Calls.Model.Formula)
	assert.InDelta(t, 630, *r.Predicted[0].Calls, 1e-6)
	assert.InDelta(t, 645120, *r.Predicted[0].Bytes, 1e-3)
	assert.Nil(t, f.HurtsFirst)
}

// Ranks on a grid: squares meet a form of their own, and it is not asked for other numbers.
func TestGridsOfOneShape(t *testing.T) {
	var list []scaling.Recording
	for _, ranks := range []int{2, 4, 8, 16, 32, 64} {
		list = append(list, simulated(t, simulate.Config{Pattern: "stencil2d", Ranks: ranks}))
	}
	f := analyzed(t, list, 128, 1024)
	r := region(t, &f, "MPI_Isend at stencil2d.c:34")
	require.NotNil(t, r.Calls.Model)
	assert.Equal(t, "40 - 40·p^(-1/2), p a square", r.Calls.Model.Formula)
	assert.Equal(t, 3, r.Calls.Model.Sizes)
	assert.Nil(t, r.Predicted[0].Calls)
	assert.InDelta(t, 40-40.0/32, *r.Predicted[1].Calls, 1e-9)
	assert.InDelta(t, 1024*(40-40.0/32), *r.Predicted[1].Bytes, 1e-6)
}

// What MPI_Alltoall moves is for all processes together.
func TestBytesForEachProcess(t *testing.T) {
	var list []scaling.Recording
	for _, ranks := range []int{2, 4, 8} {
		list = append(list, simulated(t, simulate.Config{Pattern: "all-to-all", Ranks: ranks, Bytes: 100}))
	}
	f := analyzed(t, list)
	assert.Equal(t, "1000·p", region(t, &f, "MPI_Alltoall at all-to-all.c:20").Bytes.Model.Formula)
}

// Times without any order have no model, and nothing is said of what comes.
func TestNoModel(t *testing.T) {
	p := program{iterations: 2, growths: []growth{{base: 5}}, noise: 0.6}
	f := analyzed(t, p.runs(t, fiveSizes, 1, rand.New(rand.NewPCG(4, 1))))
	r := computations(&f, 1)[0]
	require.Nil(t, r.Seconds.Model)
	assert.Regexp(t, `^no form fits: each size is \d+% off what the others say$`, r.Seconds.NoModel)
	assert.Regexp(t, `^No prediction: only \d+% of the time at 32 ranks has a model`, f.Text)
	assert.Nil(t, r.Predicted[0].Low)
	f = analyzed(t, p.runs(t, fiveSizes, 2, rand.New(rand.NewPCG(4, 1))))
	assert.Regexp(t, `^varies by \d+% between equal runs$`, computations(&f, 1)[0].Seconds.NoModel)
}

func TestOneSize(t *testing.T) {
	p := program{iterations: 1, growths: []growth{constant}}
	_, err := scaling.Analyze(context.Background(), p.runs(t, []int{4}, 2, rand.New(rand.NewPCG(1, 1))), nil)
	require.ErrorIs(t, err, scaling.ErrOneSize)
	assert.EqualError(t, err, "all runs have 4 ranks: how a program grows shows in runs of several numbers of ranks, five or more for models of times")
}

// A call that one size lacks, and one that begins at another.
func TestNotEverywhere(t *testing.T) {
	var list []scaling.Recording
	for _, ranks := range fiveSizes {
		b := tracetest.New(ranks).Ranks(func(_ int, r *tracetest.Rank) {
			r.At("a.c:1").Init(0, 1)
			if ranks != 8 {
				r.At("a.c:2").Collective("MPI_Barrier", 2, 3)
			}
			if ranks > 2 {
				r.At("a.c:3").Collective("MPI_Allreduce", 3, 4)
			}
			r.At("a.c:4").Finalize(5, 6)
		})
		list = append(list, scaling.Recording{Trace: timeline.Of(b.Open(t)), Name: "run"})
	}
	f := analyzed(t, list)
	require.Len(t, f.Notes, 1)
	assert.Equal(t, "Not called at all sizes: MPI_Barrier at a.c:2. What runs do differently has no model beyond the sizes that have it.", f.Notes[0])
	assert.Equal(t, "1", region(t, &f, "MPI_Allreduce at a.c:3").Calls.Model.Formula)
}

// Builds for each number of ranks have other offsets: their call sites are matched by lines, or by
// function without lines.
func TestOtherBuilds(t *testing.T) {
	build := func(ranks int, file bool) scaling.Recording {
		b := tracetest.New(ranks).Ranks(func(_ int, r *tracetest.Rank) {
			r.At("a.c:1").Init(0, 1).At("a.c:2").Collective("MPI_Barrier", 2, 3).At("a.c:4").Finalize(5, 6)
			r.Info().Executable = "/bin/solver." + string(rune('0'+ranks))
		})
		c := b.Content()
		for i := range c.Sites {
			s := &c.Sites[i]
			s.BuildID, s.Module, s.Offset = string(rune('a'+ranks)), "solver."+string(rune('0'+ranks)), s.Offset+uint64(64*ranks)
			if s.Function = "iterate"; !file {
				s.File, s.Line = "", 0
			}
		}
		return scaling.Recording{Trace: timeline.Of(tracetest.Open(t, c)), Name: "run"}
	}
	for file, name := range map[bool]string{true: "MPI_Barrier at a.c:2", false: "MPI_Barrier at iterate"} {
		f := analyzed(t, []scaling.Recording{build(2, file), build(4, file)})
		assert.Len(t, region(t, &f, name).Measured, 2)
		assert.Contains(t, f.Notes, "Different executables: solver.2, solver.4.")
	}
}

// The report on a run says the same of its times: another pass, with other sums.
func TestTimesAreThoseOfTheReport(t *testing.T) {
	r := simulated(t, simulate.Config{Pattern: "stencil2d", Ranks: 9, Imbalance: simulate.Imbalance{Noise: 30}})
	f := analyzed(t, []scaling.Recording{r, simulated(t, simulate.Config{Pattern: "stencil2d", Ranks: 4})})
	report, err := pass.Find(t.Context(), r.Trace, ranks.Analysis.Pass)
	require.NoError(t, err)
	checked := 0
	for _, want := range report.Computation {
		for i := range f.Regions {
			got := &f.Regions[i]
			if got.What == "computation" && got.Function == want.Before.Function && got.CallSite == want.Before.CallSite &&
				got.AfterFunction == want.After.Function && got.AfterCallSite == want.After.CallSite {
				m := got.Measured[len(got.Measured)-1]
				assert.InDelta(t, want.MeanSeconds, m.Seconds, 1e-8, got.Name)
				assert.InDelta(t, want.MaxSeconds, m.MaxSeconds, 1e-8, got.Name)
				checked++
			}
		}
	}
	for _, want := range report.CallSites {
		for i := range f.Regions {
			if got := &f.Regions[i]; got.What == "mpi" && got.Function == want.Function && got.CallSite == want.CallSite {
				m := got.Measured[len(got.Measured)-1]
				assert.InDelta(t, want.Seconds, 9*m.Seconds, 1e-8, got.Name)
				assert.InDelta(t, *want.Waiting, 9**m.Waiting, 1e-8, got.Name)
				assert.InDelta(t, want.Calls, 9*m.Calls, 1e-9, got.Name)
				checked++
			}
		}
	}
	assert.Equal(t, 5, checked) // the others take no time
}

// Sums of times say the same of calls as their times do.
func TestAggregatedTimes(t *testing.T) {
	var list, sums []scaling.Recording
	for _, ranks := range fiveSizes {
		c := simulate.Config{Pattern: "all-to-all", Ranks: ranks, Imbalance: simulate.Imbalance{Noise: 5}}
		list = append(list, simulated(t, c))
		c.Timing = "aggregated"
		sums = append(sums, simulated(t, c))
	}
	f, g := analyzed(t, list), analyzed(t, sums)
	const call = "MPI_Alltoall at all-to-all.c:20"
	a, b := region(t, &f, call), region(t, &g, call)
	for i := range a.Measured {
		assert.InEpsilon(t, a.Measured[i].Seconds, b.Measured[i].Seconds, 1e-6)
		assert.Equal(t, a.Measured[i].Bytes, b.Measured[i].Bytes)
		assert.Nil(t, b.Measured[i].Waiting)
	}
	computation := func(f *scaling.Findings) (sum float64) {
		for i := range f.Regions {
			if r := &f.Regions[i]; r.What == "computation" {
				sum += r.Measured[len(r.Measured)-1].Seconds
			}
		}
		return sum
	}
	assert.InEpsilon(t, computation(&f), computation(&g), 1e-6)
	assert.Equal(t, "computation before "+call, region(t, &g, "computation before "+call).Name)
	require.NotEmpty(t, g.Notes)
	assert.Contains(t, g.Notes[0], "timing aggregated")
}

func simulated(t *testing.T, c simulate.Config) scaling.Recording {
	t.Helper()
	return scaling.Recording{Trace: timeline.Of(tracetest.Open(t, tracetest.Simulated(t, c))), Name: "simulated"}
}

func region(t *testing.T, f *scaling.Findings, name string) *scaling.Region {
	t.Helper()
	for i := range f.Regions {
		if f.Regions[i].Name == name {
			return &f.Regions[i]
		}
	}
	require.Fail(t, "no region "+name)
	return nil
}

// Shares add up, at what was measured and at what is predicted.
func TestShares(t *testing.T) {
	p := program{iterations: 2, growths: []growth{constant, {base: 1, factor: 0.5, term: linear}}}
	f := analyzed(t, p.runs(t, fiveSizes, 1, rand.New(rand.NewPCG(1, 1))), 64)
	now, then := 0.0, 0.0
	for _, r := range f.Regions {
		now, then = now+r.Measured[len(r.Measured)-1].Share, then+r.Predicted[0].Share
		assert.False(t, math.IsNaN(r.Predicted[0].Seconds))
	}
	assert.InDelta(t, 100, now, 1e-6)
	assert.InDelta(t, 100, then, 1e-6)
}
