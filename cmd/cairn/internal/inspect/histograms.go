package inspect

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/histogram"
)

// histogramsInformation is what `cairn info --json` prints for a trace of histograms. Its keys are
// part of the interface.
type histogramsInformation struct {
	FormatVersion   int                  `json:"format_version"`
	Ranks           int                  `json:"ranks"`
	Calls           uint64               `json:"calls"`
	DurationSeconds float64              `json:"duration_seconds"`
	Bytes           int64                `json:"bytes"`
	MPI             mpiInformation       `json:"mpi"`
	World           string               `json:"world"`
	Timing          string               `json:"timing"`
	Clusters        []histogramCluster   `json:"clusters"`
	Functions       []histogramFunction  `json:"functions"`
	Lost            []string             `json:"lost"`
	From            trace.HistogramsFrom `json:"made_from"`
	EndedEarly      []earlyEnd           `json:"ended_early"`
	Notes           []string             `json:"notes"`
}

type histogramCluster struct {
	Ranks         string  `json:"ranks"`
	Size          int     `json:"size"`
	Calls         uint64  `json:"calls"`
	CallSites     int     `json:"call_sites"`     // distinct (call site, function)
	ThreadSeconds float64 `json:"thread_seconds"` // mean of the time from the first call to the last
	MPIShare      float64 `json:"mpi_share"`      // share of that time inside MPI calls
	SentBytes     uint64  `json:"sent_bytes"`     // by point-to-point calls
}

// A histogramFunction has exact sums.
type histogramFunction struct {
	Name    string  `json:"name"`
	Calls   uint64  `json:"calls"`
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"`
	Unsized uint64  `json:"unsized"` // calls with data of unknown size
}

func informOfHistograms(h *trace.Histograms, size int64) *histogramsInformation {
	i := &histogramsInformation{
		FormatVersion: trace.HistogramsVersion, Ranks: h.Ranks.Len(), Calls: h.Calls(), DurationSeconds: float64(h.DurationNS) / 1e9, Bytes: size,
		MPI: mpiInformation{h.Meta.Implementation, h.Meta.Version}, World: h.Meta.World, Timing: h.Meta.Timing.String(),
		Clusters: []histogramCluster{}, Functions: []histogramFunction{}, Lost: append([]string{}, h.Lost...), From: h.From,
		EndedEarly: []earlyEnd{}, Notes: append([]string{}, h.Meta.Notes...),
	}
	for k := range h.Clusters {
		c := &h.Clusters[k]
		one := histogramCluster{Ranks: c.Ranks.String(), Size: c.Ranks.Len(), CallSites: len(c.Calls), ThreadSeconds: c.ThreadSpans.Mean() / 1e9}
		if c.ThreadSpans.Sum > 0 {
			one.MPIShare = float64(c.ThreadInside.Sum) / float64(c.ThreadSpans.Sum)
		}
		for j := range c.Calls {
			one.Calls += c.Calls[j].Calls
		}
		for j := range c.Traffic {
			one.SentBytes += c.Traffic[j].Bytes
		}
		i.Clusters = append(i.Clusters, one)
	}
	for _, t := range h.Totals() {
		i.Functions = append(i.Functions, histogramFunction{t.Function.Name, t.Calls, float64(t.DurationNS) / 1e9, t.Bytes, t.Unsized})
	}
	for _, r := range h.Ranks.All() {
		if r.EndedEarly != "" {
			i.EndedEarly = append(i.EndedEarly, earlyEndOf(&r))
		}
	}
	return i
}

func printHistogramsInfo(w io.Writer, h *trace.Histograms, size int64, asJSON bool) error {
	i := informOfHistograms(h, size)
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(i)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { fmt.Fprintf(table, "%s\t%v\n", name, value) }
	row("MPI", i.MPI.Implementation+" "+i.MPI.Version)
	row("kind", "histograms, made by cairn reduce --histogram")
	row("ranks", i.Ranks)
	row("calls", i.Calls)
	row("duration", fmt.Sprintf("%.3f s", i.DurationSeconds))
	row("bytes", fmt.Sprintf("%d (of %d)", i.Bytes, i.From.Bytes))
	for k, c := range i.Clusters {
		row(fmt.Sprintf("cluster %d", k), fmt.Sprintf("%s: ranks %s: %d calls from %d call sites, %.3f s per thread, %.1f%% of it in MPI, %d bytes sent",
			wording.Count(c.Size, "rank", "ranks"), c.Ranks, c.Calls, c.CallSites, c.ThreadSeconds, 100*c.MPIShare, c.SentBytes))
	}
	for _, f := range i.Functions {
		row(f.Name, fmt.Sprintf("%d calls, %.6f s, %d bytes", f.Calls, f.Seconds, f.Bytes))
	}
	for _, early := range i.EndedEarly[:min(len(i.EndedEarly), maxRows)] {
		row(fmt.Sprintf("rank %d ended early", early.Rank), early)
	}
	for _, lost := range i.Lost {
		row("lost", lost)
	}
	for _, note := range i.Notes {
		row("note", note)
	}
	return table.Flush()
}

// dumpHistograms prints histograms instead of calls. It prints those of a cluster and, if ofRank
// asks for them, those of single ranks.
func dumpHistograms(c *cobra.Command, h *trace.Histograms, asJSON bool, ofRank func(trace.RankList) bool) error {
	out := bufio.NewWriter(c.OutOrStdout())
	for i := range h.Clusters {
		cluster := &h.Clusters[i]
		switch {
		case !ofRank(cluster.Ranks):
		case asJSON:
			if _, err := out.Write(h.AppendClusterJSON(nil, i)); err != nil {
				return err
			}
		default:
			dumpCluster(out, h, cluster)
		}
	}
	return out.Flush()
}

func dumpCluster(w io.Writer, h *trace.Histograms, c *trace.RankCluster) {
	fmt.Fprintf(w, "ranks %s (%s on %s)\n", c.Ranks, wording.Count(c.Ranks.Len(), "rank", "ranks"), wording.Count(c.ThreadCalls.Count, "thread", "threads"))
	line := func(name, text string) { fmt.Fprintf(w, "    %-28s %s\n", name, text) }
	line("calls of a thread", numbersText(&c.ThreadCalls, plainNumber))
	line("ms of a thread", numbersText(&c.ThreadSpans, nsAsMS))
	line("ms of a thread, in MPI", numbersText(&c.ThreadInside, nsAsMS))
	for i := range c.Traffic {
		t := &c.Traffic[i]
		line("sends to "+trafficText(t), fmt.Sprintf("%d messages, %d bytes", t.Messages, t.Bytes))
	}
	for i := range c.Calls {
		call := &c.Calls[i]
		fmt.Fprintf(w, "  %d × %s\n", call.Calls, callText(h, call))
		for k := range call.Arguments {
			a := &call.Arguments[k]
			name := a.Name
			if a.Result {
				name = "→ " + name
			}
			line(name, argumentText(a))
		}
		if call.Bytes.Count > 0 {
			line("bytes", numbersText(&call.Bytes, plainNumber))
		}
		if call.Durations.Count > 0 {
			line("ms", numbersText(&call.Durations, nsAsMS))
		}
		for k := range call.Gaps {
			g := &call.Gaps[k]
			after := "ms before it"
			if g.After >= 0 {
				after = "ms after " + callText(h, &c.Calls[g.After])
			}
			line(after, numbersText(&g.Gaps, nsAsMS))
		}
	}
}

func callText(h *trace.Histograms, c *trace.CallHistogram) string {
	place := ""
	if site := h.Site(c); site != nil {
		place = callsite.Name(site)
	}
	return callsite.At(h.Function(c.Function).Name, place)
}

func trafficText(t *trace.TrafficBin) string {
	switch {
	case t.Fixed && t.Low < 0:
		return "unknown ranks"
	case t.Fixed && t.Low == t.High:
		return fmt.Sprintf("rank %d", t.Low)
	case t.Fixed:
		return fmt.Sprintf("ranks %d to %d", t.Low, t.High)
	case t.Low == t.High:
		return fmt.Sprintf("rank%+d", t.Low)
	}
	return fmt.Sprintf("rank%+d to rank%+d", t.Low, t.High)
}

func plainNumber(x int64) string { return fmt.Sprint(x) }
func nsAsMS(x int64) string      { return fmt.Sprintf("%.6f", milliseconds(x)) }

// fewValues is the number of values up to which they are printed one by one.
const fewValues = 8

// numbersText prints a histogram as one value if all are equal, as a few values with their counts,
// or as quartiles.
func numbersText(h *histogram.Histogram, number func(int64) string) string {
	if x, constant := h.Constant(); constant {
		return fmt.Sprintf("%s, always", number(x))
	}
	if !h.Binned && len(h.Bins) <= fewValues {
		bins := slices.SortedStableFunc(slices.Values(h.Bins), func(a, b histogram.Range) int { return cmp.Compare(b.Count, a.Count) })
		parts := make([]string, len(bins))
		for i, b := range bins {
			parts[i] = fmt.Sprintf("%s (%d times)", number(b.Low), b.Count)
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprintf("sum %s, mean %s, min %s, 25%% ≤ %s, 50%% ≤ %s, 75%% ≤ %s, max %s", number(h.Sum), number(int64(h.Mean())),
		number(h.Min), number(h.Quantile(0.25)), number(h.Quantile(0.5)), number(h.Quantile(0.75)), number(h.Max))
}

func argumentText(a *trace.ArgumentHistogram) string {
	var parts []string
	if a.Lengths.Count > 0 {
		parts = append(parts, "elements: "+numbersText(&a.Lengths, plainNumber))
	}
	if a.Numbers.Count > 0 {
		number := plainNumber
		if a.Relative {
			number = func(x int64) string { return fmt.Sprintf("rank%+d", x) }
		}
		parts = append(parts, numbersText(&a.Numbers, number))
	}
	for _, n := range a.Names {
		parts = append(parts, fmt.Sprintf("%s (%d times)", n.Name, n.Count))
	}
	if a.Others > 0 {
		parts = append(parts, fmt.Sprintf("others (%d times)", a.Others))
	}
	return strings.Join(parts, "; ")
}
