package reduce

import (
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/analyzer/volume"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A HistogramAccuracy compares histograms with the trace that they were made from. All errors are
// relative to the trace's values; those that are zero by construction are included in order to
// measure them.
type HistogramAccuracy struct {
	Calls, Bytes, Time float64 // maximum over all functions
	Run                float64 // time from the first call to the end of the last
	// Medians is the maximum error of the median duration of a function, call site and cluster.
	// It is unknown if the trace has only sums of times.
	Medians      float64
	MediansKnown bool
	// Matrix is the sum of the errors of the bytes from each rank to each, as a share of all bytes:
	// 0 to 2. It is unknown if there are more than maxPairs pairs of ranks.
	Matrix      float64
	MatrixKnown bool
}

// maxPairs limits the memory of a matrix.
const maxPairs = 1 << 22

// CompareHistograms counts the whole trace again, call by call and function by function, and
// compares.
func CompareHistograms(r *trace.Reader, h *trace.Histograms) (HistogramAccuracy, error) {
	var a HistogramAccuracy
	counted, err := countCalls(r, h)
	if err != nil {
		return a, err
	}
	totals := map[string]trace.FunctionTotal{}
	for _, t := range h.Totals() {
		totals[t.Function.Name] = t
	}
	for name, c := range counted.functions {
		t := totals[name]
		a.Calls = max(a.Calls, apartFrom(float64(t.Calls), float64(c.calls)))
		a.Bytes = max(a.Bytes, apartFrom(float64(t.Bytes), float64(c.bytes)))
		a.Time = max(a.Time, apartFrom(float64(t.DurationNS), float64(c.ns)))
	}
	a.Run = apartFrom(float64(h.DurationNS), float64(counted.end-counted.begin))
	a.Medians, a.MediansKnown = counted.medians(h), r.Meta().Timing.Mode != timing.Aggregated
	matrix, known := traffic.Estimate(h, maxPairs)
	if a.MatrixKnown = known; known {
		whole, err := traffic.Matrix(r)
		if err != nil {
			return a, err
		}
		a.Matrix = matrixError(whole, matrix)
	}
	return a, nil
}

func apartFrom(a, b float64) float64 {
	if a == b {
		return 0
	}
	return math.Abs(a-b) / math.Abs(b)
}

// counted is the result of simply counting the calls.
type counted struct {
	functions  map[string]*functionCount
	durations  []map[call][]int64 // by cluster
	begin, end int64
}

type functionCount struct {
	calls, bytes uint64
	ns           int64
}

// maxMedians is the maximum number of durations that are kept to find the median.
const maxMedians = 1 << 24

func countCalls(r *trace.Reader, h *trace.Histograms) (*counted, error) {
	c := &counted{functions: map[string]*functionCount{}, durations: make([]map[call][]int64, len(h.Clusters)), begin: math.MaxInt64, end: math.MinInt64}
	for i := range c.durations {
		c.durations[i] = map[call][]int64{}
	}
	kept := 0
	for i, th := range r.Threads().All() {
		begin, end := r.Span(i)
		c.begin, c.end = min(c.begin, begin), max(c.end, end)
		cluster := slices.IndexFunc(h.Clusters, func(x trace.RankCluster) bool { return x.Ranks.Index(th.Rank) >= 0 })
		cursor, err := r.Cursor(th.Rank, th.Thread)
		if err != nil {
			return nil, err
		}
		for cursor.Next() {
			e := cursor.Event()
			sum := c.functions[e.Function.Name]
			if sum == nil {
				sum = new(functionCount)
				c.functions[e.Function.Name] = sum
			}
			sum.calls++
			sum.bytes += volume.PayloadOf(e.Semantics).Of(e, r.Communicators()).Bytes
			sum.ns += e.Exit - e.Enter
			if kept++; e.Timed && kept < maxMedians {
				k := call{e.Function.ID, e.Signature.Site}
				c.durations[cluster][k] = append(c.durations[cluster][k], e.Exit-e.Enter)
			}
		}
		if err := cursor.Err(); err != nil {
			return nil, err
		}
		if err := c.sums(r, i, &th); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// sums adds the times of a thread of which the trace has only sums.
func (c *counted) sums(r *trace.Reader, row int, th *trace.Thread) error {
	list, err := r.Aggregates(row)
	if err != nil {
		return err
	}
	begin, end := r.Span(row)
	for i := range list {
		f := r.Function(r.Signatures()[list[i].Terminal].Function)
		if ticks := th.EndTick - th.FirstTick; ticks > 0 && c.functions[f.Name] != nil {
			c.functions[f.Name].ns += int64(math.Round(float64(list[i].Durations.Sum) * float64(end-begin) / float64(ticks)))
		}
	}
	return nil
}

func (c *counted) medians(h *trace.Histograms) float64 {
	worst := 0.0
	for i := range h.Clusters {
		for k := range h.Clusters[i].Calls {
			x := &h.Clusters[i].Calls[k]
			all := c.durations[i][call{x.Function, x.Site}]
			if uint64(len(all)) != x.Calls { // not all were kept, or they have no times
				continue
			}
			slices.Sort(all)
			if exact := all[(len(all)-1)/2]; exact > 0 {
				worst = max(worst, apartFrom(float64(x.Durations.Quantile(0.5)), float64(exact)))
			}
		}
	}
	return worst
}

// matrixError returns the sum of the differences of two matrices, as a share of the sum of the
// first.
func matrixError(whole, estimate []traffic.Pair) float64 {
	apart := map[[2]int]float64{}
	sum := 0.0
	for _, t := range whole {
		apart[[2]int{t.Source, t.Dest}] += float64(t.Bytes)
		sum += float64(t.Bytes)
	}
	for _, t := range estimate {
		apart[[2]int{t.Source, t.Dest}] -= float64(t.Bytes)
	}
	off := 0.0
	for _, x := range apart {
		off += math.Abs(x)
	}
	if sum == 0 {
		return 0
	}
	return off / sum
}
