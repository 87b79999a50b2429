package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/histogram"
)

// Histograms is a trace with histograms of what differs from call to call and from rank to rank
// (ScalaTrace II: Wu and Mueller, ICS 2013, §2.3, §3.1): per cluster of similar ranks, and in it
// per function and call site. Its size depends on the program's text, not on the length of the run
// or the number of ranks. Lost lists what it lacks. It is a separate kind of file (WriteHistograms,
// OpenHistograms); Open refuses it.
type Histograms struct {
	Meta      Meta
	Functions []Function
	Sites     []Site
	Ranks     RankTable // without clocks, conditions and evidence
	From      HistogramsFrom
	Lost      []string // features of the original trace that are missing here
	// DurationNS is the time from the first enter of a call of any rank to the last exit.
	DurationNS int64
	Clusters   []RankCluster // by their lowest ranks
}

// HistogramsFrom describes the original trace.
type HistogramsFrom struct {
	Bytes             int64
	Calls             uint64
	Signatures, Rules int
}

// A RankCluster is a set of ranks that behave alike, with all their threads.
type RankCluster struct {
	Ranks RankList // in order
	// ThreadCalls is the number of calls per thread. ThreadSpans is the time in ns from the first
	// enter to the last exit, and ThreadInside the time inside of calls.
	ThreadCalls, ThreadSpans, ThreadInside histogram.Histogram
	Calls                                  []CallHistogram // by function, then site
	Traffic                                []TrafficBin
}

// A CallHistogram is all calls of a function from one call site.
type CallHistogram struct {
	Function  uint16 // Function.ID
	Site      uint32 // 1 + index into Sites; 0: unknown
	Calls     uint64
	Durations histogram.Histogram // in ns; empty if times were not recorded
	// Gaps are the times in ns from the exit of the thread's previous call to the enter of this
	// one, by the previous call. Gaps during which tracing was off are not included.
	Gaps []GapHistogram
	// Bytes are the sizes of the data of each call that moves data of a known size. Unsized is the
	// number of calls with data of unknown size.
	Bytes     histogram.Histogram
	Unsized   uint64
	Arguments []ArgumentHistogram
}

// A GapHistogram is the gaps after one previous call.
type GapHistogram struct {
	After int // the previous call, an index into RankCluster.Calls; −1: unknown, or one of many rare ones
	Gaps  histogram.Histogram
}

// An ArgumentHistogram is the values of an argument: numbers, names (constants of MPI, handles,
// texts), or both. For a list they are the elements.
type ArgumentHistogram struct {
	Name   string // the parameter's; with ".source", ".tag" or ".bytes" for fields of a status; "return" for the result
	Result bool   // an output of the call
	// Relative: numbers are ranks minus the caller's rank.
	Relative bool
	Numbers  histogram.Histogram
	Lengths  histogram.Histogram // of a list, one per call
	Names    []NameCount         // most frequent first
	Others   uint64              // number of values whose names are not listed
}

// A NameCount is the number of occurrences of a name.
type NameCount struct {
	Name  string
	Count uint64
}

// MaxNames is the maximum number of names listed for an argument; the others are only counted.
const MaxNames = 16

// A TrafficBin is the messages of point-to-point calls from the ranks of a cluster: to ranks at
// these distances, or, if Fixed, to these ranks.
type TrafficBin struct {
	Fixed           bool
	Low, High       int64 // distances, or ranks in the world; Fixed and −1: unknown
	Messages, Bytes uint64
	Unsized         uint64 // messages of derived datatypes of unknown size
}

// ErrHistograms is the error of opening a trace of histograms for a purpose that needs its calls.
var ErrHistograms = errors.New("this trace was made by cairn reduce --histogram: it has histograms in place of the order of calls and their single values " +
	"and times, which are needed here; use the trace that it was made from (cairn info and cairn dump read this one)")

// Calls returns the number of all calls.
func (h *Histograms) Calls() (n uint64) {
	for i := range h.Clusters {
		for k := range h.Clusters[i].Calls {
			n += h.Clusters[i].Calls[k].Calls
		}
	}
	return n
}

// A FunctionTotal is the total of all calls of a function. It is exact, except that times are
// rounded to ns per call.
type FunctionTotal struct {
	Function   *Function
	Calls      uint64
	DurationNS int64
	Bytes      int64  // data of known size
	Unsized    uint64 // calls with data of unknown size
}

// Totals returns the totals of all functions, by decreasing time, then by id.
func (h *Histograms) Totals() []FunctionTotal {
	totals := make([]FunctionTotal, len(h.Functions))
	for i := range h.Functions {
		totals[i].Function = &h.Functions[i]
	}
	for i := range h.Clusters {
		for k := range h.Clusters[i].Calls {
			c := &h.Clusters[i].Calls[k]
			at, _ := slices.BinarySearchFunc(h.Functions, c.Function, func(f Function, id uint16) int { return cmp.Compare(f.ID, id) })
			t := &totals[at]
			t.Calls += c.Calls
			t.DurationNS = histogram.SaturatedSum(t.DurationNS, c.Durations.Sum)
			t.Bytes = histogram.SaturatedSum(t.Bytes, c.Bytes.Sum)
			t.Unsized += c.Unsized
		}
	}
	totals = slices.DeleteFunc(totals, func(t FunctionTotal) bool { return t.Calls == 0 })
	slices.SortStableFunc(totals, func(a, b FunctionTotal) int { return cmp.Compare(b.DurationNS, a.DurationNS) })
	return totals
}

// Function returns the function with this id, nil if there is none.
func (h *Histograms) Function(id uint16) *Function {
	c := Content{Functions: h.Functions}
	return c.function(id)
}

// Site returns the call site, nil if it is unknown.
func (h *Histograms) Site(c *CallHistogram) *Site {
	if c.Site == 0 {
		return nil
	}
	return &h.Sites[c.Site-1]
}

// Validate checks that all references of h are valid and in order, and that histograms add up.
func (h *Histograms) Validate() error {
	shared := Content{Meta: h.Meta, Functions: h.Functions, Sites: h.Sites, Ranks: h.Ranks}
	if err := shared.validateShared(); err != nil {
		return err
	}
	next := -1
	for i := range h.Clusters {
		c := &h.Clusters[i]
		if c.Ranks.Len() == 0 || c.Ranks.At(0) <= next {
			return fmt.Errorf("trace: cluster %d is empty or not in order", i)
		}
		next = c.Ranks.At(0)
		if err := h.validateCluster(c); err != nil {
			return fmt.Errorf("trace: cluster %d: %w", i, err)
		}
	}
	return nil
}

func (h *Histograms) validateCluster(c *RankCluster) error {
	threads := c.ThreadCalls.Count
	for _, x := range []*histogram.Histogram{&c.ThreadCalls, &c.ThreadSpans, &c.ThreadInside} {
		if !x.Valid() || x.Count != threads && x.Count > 0 {
			return errors.New("a histogram of its threads is damaged")
		}
	}
	for i := range c.Calls {
		if err := h.validateCall(c, i); err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
	}
	for i := range c.Traffic {
		if t := &c.Traffic[i]; t.Low > t.High || t.Messages == 0 || t.Fixed && t.Low < -1 {
			return fmt.Errorf("traffic %d is damaged", i)
		}
	}
	return nil
}

func (h *Histograms) validateCall(cluster *RankCluster, i int) error {
	c := &cluster.Calls[i]
	if h.Function(c.Function) == nil {
		return fmt.Errorf("no function %d", c.Function)
	}
	if int(c.Site) > len(h.Sites) {
		return fmt.Errorf("no call site %d", c.Site)
	}
	if i > 0 && compareCalls(&cluster.Calls[i-1], c) >= 0 {
		return errors.New("not in order")
	}
	if c.Calls == 0 || !c.Durations.Valid() || !c.Bytes.Valid() || max(c.Durations.Count, c.Bytes.Count, c.Unsized) > c.Calls {
		return errors.New("its histograms are damaged")
	}
	for k := range c.Gaps {
		if g := &c.Gaps[k]; g.After < -1 || g.After >= len(cluster.Calls) || k > 0 && g.After <= c.Gaps[k-1].After || !g.Gaps.Valid() {
			return fmt.Errorf("gaps %d are damaged", k)
		}
	}
	for k := range c.Arguments {
		if a := &c.Arguments[k]; !a.Numbers.Valid() || !a.Lengths.Valid() || len(a.Names) > MaxNames {
			return fmt.Errorf("argument %s is damaged", a.Name)
		}
	}
	return nil
}

func compareCalls(a, b *CallHistogram) int {
	return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.Site, b.Site))
}

// HistogramsVersion is the version of the file format of traces of histograms. No other trace has
// it.
const HistogramsVersion = 4

// WriteHistograms writes a trace of histograms: equal ones give equal bytes. It returns the error
// of Validate or of w.
func WriteHistograms(w io.Writer, h *Histograms) error { return writeHistograms(w, h, codec.Smallest) }

func writeHistograms(w io.Writer, h *Histograms, purpose codec.Effort) error {
	if err := h.Validate(); err != nil {
		return err
	}
	f := &fileWriter{w: w, purpose: purpose, chain: &Chain{}}
	f.write(append([]byte(magic), HistogramsVersion))
	f.section(blockMeta, appendMeta(&h.Meta))
	f.section(blockFunctions, appendFunctions(h.Functions))
	if len(h.Sites) > 0 {
		f.section(blockSites, appendSites(h.Sites))
	}
	f.section(blockRanks, appendRanks(&h.Ranks))
	if h.Ranks.ends.N > 0 {
		f.section(blockEnds, appendEnds(&h.Ranks))
	}
	f.section(blockHistograms, appendHistograms(h))
	f.block(blockSections, 0, 0, codec.AppendSections(nil, f.small))
	f.finish()
	if f.err != nil {
		return fmt.Errorf("trace: write: %w", f.err)
	}
	return nil
}

// IsHistograms reports whether r begins with the header of a trace of histograms.
func IsHistograms(r io.ReaderAt) bool {
	head := make([]byte, headerSize)
	n, _ := r.ReadAt(head, 0)
	return n == headerSize && string(head) == magic+string(rune(HistogramsVersion))
}

// OpenHistograms reads a trace of histograms into memory.
func OpenHistograms(r io.ReaderAt, size int64, options ...Option) (*Histograms, error) {
	t := &Reader{r: r, size: size, budget: codec.NewBudget(defaultMemoryLimit(size))}
	for _, option := range options {
		option(t)
	}
	h, err := t.openHistograms()
	if err != nil {
		return nil, fmt.Errorf("trace: open: %w", err)
	}
	return h, nil
}

func (t *Reader) openHistograms() (*Histograms, error) {
	if err := t.openHead(); err != nil {
		return nil, err
	}
	if t.version != HistogramsVersion {
		return nil, fmt.Errorf("format version %d is no trace of histograms", t.version)
	}
	if err := t.openIndex(); err != nil {
		return nil, err
	}
	found, err := t.openBlocks()
	if err != nil {
		return nil, err
	}
	var h Histograms
	c := &t.shared
	err = found.decode([]sectionDecoding{
		{blockMeta, "metadata", false, false, func(d *decoder) { h.Meta = d.meta() }},
		{blockFunctions, "functions", false, false, func(d *decoder) { h.Functions = d.functions() }},
		{blockSites, "call sites", false, true, func(d *decoder) { h.Sites = d.sites() }},
		{blockRanks, "ranks", false, false, func(d *decoder) { c.Ranks = d.ranks() }},
		{blockEnds, "ends", true, true, func(d *decoder) { d.ends(c) }},
		{blockHistograms, "histograms", false, false, func(d *decoder) { d.histograms(&h) }},
	})
	if err != nil {
		return nil, err
	}
	h.Ranks = c.Ranks
	return &h, h.Validate()
}

// The output of `cairn dump --json` for a trace of histograms. The keys are part of the interface.
type (
	jsonHistogram struct {
		Count uint64    `json:"count"`
		Sum   int64     `json:"sum"`
		Min   int64     `json:"min"`
		Max   int64     `json:"max"`
		Bins  []jsonBin `json:"bins"`
	}
	jsonBin  [3]int64 // low, high, count
	jsonGaps struct {
		After int            `json:"after"` // the number of a call in the cluster; −1: unknown
		Gaps  *jsonHistogram `json:"ns"`
	}
	jsonArgument struct {
		Name     string         `json:"name"`
		Result   bool           `json:"result"`
		Relative bool           `json:"relative"`
		Numbers  *jsonHistogram `json:"numbers"`
		Lengths  *jsonHistogram `json:"lengths"`
		Names    []jsonName     `json:"names"`
		Others   uint64         `json:"others"`
	}
	jsonName struct {
		Name  string `json:"name"`
		Count uint64 `json:"count"`
	}
	jsonCalls struct {
		Cluster   int            `json:"cluster"`
		Number    int            `json:"number"` // index in the cluster
		Function  string         `json:"function"`
		Site      uint32         `json:"call_site"` // 1 + its row; 0: unknown
		Calls     uint64         `json:"calls"`
		Durations *jsonHistogram `json:"duration_ns"`
		Gaps      []jsonGaps     `json:"gaps"`
		Bytes     *jsonHistogram `json:"bytes"`
		Unsized   uint64         `json:"unsized"`
		Arguments []jsonArgument `json:"args"`
	}
	jsonTraffic struct {
		Fixed    bool   `json:"fixed"`
		Low      int64  `json:"low"`
		High     int64  `json:"high"`
		Messages uint64 `json:"messages"`
		Bytes    uint64 `json:"bytes"`
		Unsized  uint64 `json:"unsized"`
	}
	jsonCluster struct {
		Cluster      int            `json:"cluster"`
		Ranks        string         `json:"ranks"`
		ThreadCalls  *jsonHistogram `json:"thread_calls"`
		ThreadSpans  *jsonHistogram `json:"thread_span_ns"`
		ThreadInside *jsonHistogram `json:"thread_inside_ns"`
		Traffic      []jsonTraffic  `json:"traffic"`
	}
)

func jsonHistogramOf(h *histogram.Histogram) *jsonHistogram {
	if h.Count == 0 {
		return nil
	}
	j := &jsonHistogram{h.Count, h.Sum, h.Min, h.Max, []jsonBin{}}
	for _, b := range h.Bins {
		j.Bins = append(j.Bins, jsonBin{b.Low, b.High, int64(b.Count)})
	}
	return j
}

// AppendJSON appends JSON objects, one per line: each cluster, followed by its calls. An empty
// histogram is null. Bins are [low, high, count].
func (h *Histograms) AppendJSON(b []byte) []byte {
	for i := range h.Clusters {
		b = h.AppendClusterJSON(b, i)
	}
	return b
}

// AppendClusterJSON appends the part of AppendJSON for the i-th cluster.
func (h *Histograms) AppendClusterJSON(b []byte, i int) []byte {
	buffer := bytes.NewBuffer(b)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	encode := func(line any) {
		if err := encoder.Encode(line); err != nil {
			panic(err) // numbers and texts cannot fail
		}
	}
	c := &h.Clusters[i]
	cluster := jsonCluster{i, c.Ranks.String(), jsonHistogramOf(&c.ThreadCalls), jsonHistogramOf(&c.ThreadSpans), jsonHistogramOf(&c.ThreadInside), []jsonTraffic{}}
	for _, t := range c.Traffic {
		cluster.Traffic = append(cluster.Traffic, jsonTraffic(t))
	}
	encode(cluster)
	for k := range c.Calls {
		encode(h.jsonCalls(i, k))
	}
	return buffer.Bytes()
}

func (h *Histograms) jsonCalls(cluster, k int) jsonCalls {
	c := &h.Clusters[cluster].Calls[k]
	j := jsonCalls{
		Cluster: cluster, Number: k, Function: h.Function(c.Function).Name, Site: c.Site, Calls: c.Calls, Durations: jsonHistogramOf(&c.Durations),
		Gaps: []jsonGaps{}, Bytes: jsonHistogramOf(&c.Bytes), Unsized: c.Unsized, Arguments: []jsonArgument{},
	}
	for i := range c.Gaps {
		j.Gaps = append(j.Gaps, jsonGaps{c.Gaps[i].After, jsonHistogramOf(&c.Gaps[i].Gaps)})
	}
	for i := range c.Arguments {
		a := &c.Arguments[i]
		argument := jsonArgument{a.Name, a.Result, a.Relative, jsonHistogramOf(&a.Numbers), jsonHistogramOf(&a.Lengths), []jsonName{}, a.Others}
		for _, n := range a.Names {
			argument.Names = append(argument.Names, jsonName(n))
		}
		j.Arguments = append(j.Arguments, argument)
	}
	return j
}

// JoinTraffic joins equal bins of traffic, and sorts them. If there are more than ExactValues
// distances (or fixed ranks), those in the same bin of BinOf are joined.
func JoinTraffic(list []TrafficBin) []TrafficBin {
	var all []TrafficBin
	for _, fixed := range []bool{false, true} {
		bins := slices.DeleteFunc(slices.Clone(list), func(b TrafficBin) bool { return b.Fixed != fixed })
		if bins = joinEqual(bins); len(bins) > histogram.ExactValues {
			for i := range bins {
				if !fixed || bins[i].Low >= 0 { // −1 is not a rank
					bins[i].Low, _ = histogram.BinRange(histogram.BinOf(bins[i].Low))
					_, bins[i].High = histogram.BinRange(histogram.BinOf(bins[i].High))
				}
			}
			bins = joinEqual(bins)
		}
		all = append(all, bins...)
	}
	return all
}

func joinEqual(bins []TrafficBin) []TrafficBin {
	slices.SortStableFunc(bins, func(a, b TrafficBin) int { return cmp.Compare(a.Low, b.Low) })
	joined := bins[:0]
	for _, b := range bins {
		if n := len(joined); n > 0 && joined[n-1].Low == b.Low && joined[n-1].High == b.High {
			joined[n-1].Messages += b.Messages
			joined[n-1].Bytes += b.Bytes
			joined[n-1].Unsized += b.Unsized
			continue
		}
		joined = append(joined, b)
	}
	return joined
}
