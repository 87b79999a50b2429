package inspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/trace"
)

// Information is what `cairn info --json` prints. Its keys are part of the interface.
type Information struct {
	FormatVersion   int             `json:"format_version"`
	Ranks           int             `json:"ranks"`
	Calls           uint64          `json:"calls"`
	Signatures      int             `json:"signatures"`
	Rules           int             `json:"rules"`
	UniqueGrammars  int             `json:"unique_grammars"`
	DurationSeconds float64         `json:"duration_seconds,omitzero"` // 0: not known
	Bytes           trace.Sizes     `json:"bytes"`
	MPI             mpiInformation  `json:"mpi"`
	MissingRanks    string          `json:"missing_ranks"`
	EndedEarly      []earlyEnd      `json:"ended_early"`
	CallsLost       uint64          `json:"calls_lost"` // made but not recorded
	LostWhy         []lostCalls     `json:"lost_why"`
	Coarse          []coarseTimes   `json:"coarse_times"` // calls with only sums of times
	World           string          `json:"world"`
	Timing          string          `json:"timing"`
	Placement       []rankPlacement `json:"placement"`
	Excluded        []string        `json:"excluded"`
	Context         []rankContext   `json:"context"`
	Pressure        []rankPressure  `json:"pressure"`
	Steal           []machineSteal  `json:"steal"`
	Evidence        []rankEvidence  `json:"evidence"`
	Tracing         []rankTracing   `json:"tracing"`
	Notes           []string        `json:"notes"`

	Generalized []tracefile.GeneralizedCalls `json:"generalized"`

	Clustering *clusters.Online `json:"clustering,omitempty"`
}

type mpiInformation struct {
	Implementation string `json:"implementation"`
	Version        string `json:"version"`
}

// earlyEnd is how a rank ended that did not complete MPI_Finalize. Unknown values are null.
type earlyEnd struct {
	Rank     int    `json:"rank"`
	Where    string `json:"where"`
	Signal   *int   `json:"signal"`
	ExitCode *int   `json:"exit_code"`
	// Order is its number in the order of deaths on its host, from 1.
	Order       *int `json:"order"`
	OutOfMemory bool `json:"out_of_memory"`
}

// lostCalls are calls that were made but not recorded, for one reason.
type lostCalls struct {
	Ranks string `json:"ranks"`
	Calls uint64 `json:"calls"`
	Why   string `json:"why"`
}

func (i *Information) addLosses(losses []trace.Loss) {
	i.LostWhy = []lostCalls{}
	for _, loss := range losses {
		i.CallsLost += loss.Calls
		i.LostWhy = append(i.LostWhy, lostCalls{loss.Ranks.String(), loss.Calls, loss.Why})
	}
}

// lossRows prints how many calls were not recorded, and why.
func (i *Information) lossRows(row func(name string, value any)) {
	for _, l := range i.LostWhy {
		row("calls not recorded", fmt.Sprintf("%d of rank %s: %s", l.Calls, l.Ranks, l.Why))
	}
}

// coarseTimes are consecutive calls of a thread that have only sums of times.
type coarseTimes struct {
	Rank   int    `json:"rank"`
	Thread int    `json:"thread"`
	From   uint64 `json:"from"` // the first call
	To     uint64 `json:"to"`   // one past the last
	Per    uint64 `json:"calls_per_sum"`
}

func (i *Information) addCoarse(list []trace.Coarse) {
	i.Coarse = []coarseTimes{}
	for _, c := range list {
		i.Coarse = append(i.Coarse, coarseTimes(c))
	}
}

// generalizedRows prints which calls lack something.
func (i *Information) generalizedRows(row func(name string, value any)) {
	for _, g := range i.Generalized {
		row("generalized", fmt.Sprintf("%d calls of %s (%d signatures) lack arguments, texts or call sites: the recorder's memory limit",
			g.Calls, g.Function, g.Signatures))
	}
}

// coarseRows prints which calls have only sums of times.
func (i *Information) coarseRows(row func(name string, value any)) {
	for n, c := range i.Coarse {
		if n == maxRows {
			row("…", fmt.Sprintf("and %d more ranges of calls (--json has them)", len(i.Coarse)-n))
			break
		}
		row("coarse times", fmt.Sprintf("rank %d thread %d, calls %d to %d: sums over %d calls", c.Rank, c.Thread, c.From, c.To-1, c.Per))
	}
}

func earlyEndOf(r *trace.Rank) earlyEnd {
	e := earlyEnd{Rank: r.Rank, Where: r.EndedEarly}
	if r.End != nil && r.End.Signal != 0 {
		e.Signal = &r.End.Signal
	}
	if r.End != nil && r.End.ExitCode >= 0 {
		e.ExitCode = &r.End.ExitCode
	}
	if r.End != nil {
		e.OutOfMemory = r.End.OutOfMemory
		if r.End.Order > 0 {
			e.Order = &r.End.Order
		}
	}
	return e
}

func (e earlyEnd) String() string {
	s := e.Where
	if e.Signal != nil {
		s += fmt.Sprintf(", by signal %d", *e.Signal)
	}
	if e.ExitCode != nil {
		s += fmt.Sprintf(", exit code %d", *e.ExitCode)
	}
	if e.OutOfMemory {
		s += ", out of memory"
	}
	return s
}

// rankContext is what the operating system counted for a rank between its first
// sample and its last.
type rankContext struct {
	Rank                int     `json:"rank"`
	CPUSeconds          float64 `json:"cpu_seconds"`
	WallSeconds         float64 `json:"wall_seconds"`
	InvoluntarySwitches int64   `json:"involuntary_switches"`
	// runnable, without a CPU; 0: none, or not counted
	RunDelaySeconds  float64               `json:"run_delay_seconds"`
	ThrottledSeconds float64               `json:"throttled_seconds"` // −1: not counted
	Samples          []trace.ContextSample `json:"samples"`
}

func contextOf(r *trace.Rank) rankContext {
	first, last := r.Context[0], r.Context[len(r.Context)-1]
	c := rankContext{
		Rank: r.Rank, CPUSeconds: float64(last.CPUNS-first.CPUNS) / 1e9,
		WallSeconds:         float64(last.MonotonicNS-first.MonotonicNS) / 1e9,
		InvoluntarySwitches: last.InvoluntarySwitches - first.InvoluntarySwitches, ThrottledSeconds: -1, Samples: r.Context,
		RunDelaySeconds: float64(last.RunDelayNS-first.RunDelayNS) / 1e9,
	}
	if last.ThrottledNS >= 0 {
		c.ThrottledSeconds = float64(last.ThrottledNS-first.ThrottledNS) / 1e9
	}
	return c
}

func (c rankContext) String() string {
	s := fmt.Sprintf("%.3g s of CPU in %.3g s, preempted %d times", c.CPUSeconds, c.WallSeconds, c.InvoluntarySwitches)
	if c.RunDelaySeconds > 0 {
		s += fmt.Sprintf(", waited %.3g s for a CPU", c.RunDelaySeconds)
	}
	if c.ThrottledSeconds >= 0 {
		s += fmt.Sprintf(", throttled for %.3g s", c.ThrottledSeconds)
	}
	return s
}

// machineSteal is the time for which the hypervisor ran other machines while CPUs of this one had
// something to run, summed over all its CPUs. Machines with an unknown or zero value are not
// listed.
type machineSteal struct {
	Machine string  `json:"machine"` // its node; the host outside Kubernetes
	Seconds float64 `json:"seconds"`
}

// addSteal adds the steal time that a rank recorded for its machine. All ranks of a machine
// recorded about the same; the one that ran longest has the most complete value.
func (i *Information) addSteal(r *trace.Rank, of map[string]int) {
	ns, known := r.StealNS()
	if !known || ns == 0 {
		return
	}
	machine := cmp.Or(r.Node, r.BootID, r.Host)
	at, listed := of[machine]
	if !listed {
		at = len(i.Steal)
		of[machine] = at
		i.Steal = append(i.Steal, machineSteal{Machine: cmp.Or(r.Node, r.Host)})
	}
	i.Steal[at].Seconds = max(i.Steal[at].Seconds, float64(ns)/1e9)
}

type rankPlacement struct {
	Rank int    `json:"rank"`
	Host string `json:"host"`
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// NewInfoCommand returns the command `cairn info`.
func NewInfoCommand() *cobra.Command {
	var (
		s3     storage.Flags
		asJSON bool
	)
	c := &cobra.Command{
		Use:     "info FILE",
		Short:   "Print what a trace contains and where its bytes are",
		Example: "  cairn info out/trace.cairn --json",
		Args:    cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if h, size, err := tracefile.OpenHistograms(c.Context(), args[0], s3); h != nil || err != nil {
				if err != nil {
					return err
				}
				return printHistogramsInfo(c.OutOrStdout(), h, size, asJSON)
			}
			f, err := tracefile.Open(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			i := inform(f, asJSON)
			if asJSON {
				encoder := json.NewEncoder(c.OutOrStdout())
				encoder.SetIndent("", "  ")
				return encoder.Encode(i)
			}
			return i.print(c.OutOrStdout())
		},
	}
	s3.Register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// inform collects what a trace contains. The placement of each rank is included only if placement
// is true.
func inform(f *tracefile.File, placement bool) *Information {
	meta := f.Meta()
	i := &Information{
		FormatVersion: f.Version(), Ranks: f.Ranks().Len(), Signatures: len(f.Signatures()),
		Rules: len(f.Grammar().Rules), Bytes: f.Sizes(), MPI: mpiInformation{meta.Implementation, meta.Version},
		MissingRanks: meta.MissingRanks.String(), World: meta.World, Timing: meta.Timing.String(), Notes: meta.Notes,
		EndedEarly: []earlyEnd{}, Context: []rankContext{}, Pressure: []rankPressure{}, Steal: []machineSteal{}, Evidence: []rankEvidence{}, Excluded: append([]string{}, meta.Excluded...), Placement: []rankPlacement{},
	}
	if i.Notes == nil {
		i.Notes = []string{}
	}
	roots := map[int]bool{}
	var first, last int64
	i.Calls = f.Threads().Calls()
	span := f.Spans()
	for n, root := range f.Threads().Roots().All() {
		roots[int(root)] = true
		begin, end := span(n)
		if n == 0 || begin < first {
			first = begin
		}
		if n == 0 || end > last {
			last = end
		}
	}
	i.addLosses(f.Ranks().Losses())
	i.addCoarse(f.Coarse())
	i.addTracing(f)
	i.Generalized = f.GeneralizedCalls()
	i.Clustering = clusters.WhileRunning(timeline.Of(f.Reader))
	i.UniqueGrammars = len(roots)
	i.DurationSeconds = max(0, float64(last-first)/1e9) // threads may lack the time of their end
	machines := map[string]int{}
	for _, rank := range f.Ranks().All() {
		i.addSteal(&rank, machines)
		if placement {
			i.Placement = append(i.Placement, rankPlacement{rank.Rank, rank.Host, rank.Pod, rank.Node})
		}
		if len(rank.Context) > 1 {
			i.Context = append(i.Context, contextOf(&rank))
		}
		if p := pressureOf(&rank); p != nil {
			i.Pressure = append(i.Pressure, *p)
		}
		if len(rank.Evidence)+len(rank.Threads) > 0 {
			i.Evidence = append(i.Evidence, evidenceOf(f, &rank))
		}
		if rank.EndedEarly != "" {
			i.EndedEarly = append(i.EndedEarly, earlyEndOf(&rank))
		}
	}
	return i
}

// maxRows limits the rows that are printed for single ranks.
const maxRows = 32

func (i *Information) print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { fmt.Fprintf(table, "%s\t%v\n", name, value) }
	row("MPI", i.MPI.Implementation+" "+i.MPI.Version)
	row("ranks", i.Ranks)
	if i.MissingRanks != "" {
		row("missing ranks", i.MissingRanks)
	}
	row("calls", i.Calls)
	i.lossRows(row)
	row("timing", i.Timing)
	i.coarseRows(row)
	if i.Calls > 0 {
		row("timing bytes per call", fmt.Sprintf("%.3f", float64(i.Bytes.Timing)/float64(i.Calls)))
	}
	if i.Clustering != nil {
		clusteringRows(i.Clustering, row, i.Calls)
	}
	if i.DurationSeconds > 0 {
		row("duration", fmt.Sprintf("%.3f s", i.DurationSeconds))
	}
	row("signatures", i.Signatures)
	row("rules", i.Rules)
	row("unique grammars", i.UniqueGrammars)
	row("bytes", i.Bytes.Total)
	for _, part := range []struct {
		name  string
		bytes int64
	}{
		{"container", i.Bytes.Container}, {"signatures", i.Bytes.Signatures}, {"grammar", i.Bytes.Grammar},
		{"rank map", i.Bytes.RankMap}, {"values", i.Bytes.Values}, {"timing", i.Bytes.Timing},
		{"call sites", i.Bytes.CallSites}, {"pointers", i.Bytes.Pointers}, {"metadata", i.Bytes.Metadata},
	} {
		row("  "+part.name, part.bytes)
		if part.name == "timing" && i.Bytes.ClockReadings > 0 {
			row("    of MPI_Wtime", i.Bytes.ClockReadings)
		}
	}
	for n, early := range i.EndedEarly {
		if n == maxRows {
			row("…", fmt.Sprintf("%d ranks in total ended early (--json names them)", len(i.EndedEarly)))
			break
		}
		if strings.HasPrefix(early.Where, trace.TracingStopped) {
			row(fmt.Sprintf("rank %d", early.Rank), early.Where)
			continue
		}
		row(fmt.Sprintf("rank %d ended early", early.Rank), early)
	}
	if len(i.Excluded) > 0 {
		row("not recorded", strings.Join(i.Excluded, ", "))
	}
	for n, c := range i.Context {
		if n == maxRows {
			row("…", fmt.Sprintf("and %d more ranks (--json has them)", len(i.Context)-n))
			break
		}
		row(fmt.Sprintf("rank %d", c.Rank), c)
	}
	pressed := slices.DeleteFunc(slices.Clone(i.Pressure), func(p rankPressure) bool { return p.String() == "" })
	for n, p := range pressed {
		if n == maxRows {
			row("…", fmt.Sprintf("and %d more ranks (--json has them)", len(pressed)-n))
			break
		}
		row(fmt.Sprintf("pressure of rank %d", p.Rank), p.String())
	}
	for n, m := range i.Steal {
		if n == maxRows {
			row("…", fmt.Sprintf("and %d more machines (--json has them)", len(i.Steal)-n))
			break
		}
		row("steal on "+m.Machine, fmt.Sprintf("%.3g s, summed over its CPUs", m.Seconds))
	}
	i.tracingRow(row)
	i.generalizedRows(row)
	for _, note := range i.Notes {
		row("note", note)
	}
	return table.Flush()
}
