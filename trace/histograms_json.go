package trace

import (
	"bytes"
	"encoding/json"

	"github.com/cairn-mpi/cairn/trace/histogram"
)

// What `cairn dump --json` prints of a trace of histograms; the keys are part of the interface.
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
		After int            `json:"after"` // the number of a call in the cluster, −1: not known
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
		Number    int            `json:"number"` // in the cluster
		Function  string         `json:"function"`
		Site      uint32         `json:"call_site"` // 1 + its row, 0: not known
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

// AppendJSON appends JSON objects, one a line: each cluster, followed by its calls. A histogram that has no numbers is null;
// its bins are [low, high, count].
func (h *Histograms) AppendJSON(b []byte) []byte {
	for i := range h.Clusters {
		b = h.AppendClusterJSON(b, i)
	}
	return b
}

// AppendClusterJSON appends what AppendJSON does of the i-th cluster.
func (h *Histograms) AppendClusterJSON(b []byte, i int) []byte {
	buffer := bytes.NewBuffer(b)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	encode := func(line any) {
		if err := encoder.Encode(line); err != nil {
			panic(err) // of numbers and texts there is none
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
