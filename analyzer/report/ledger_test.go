package report_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/analyses/ledger"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/report/section"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// withLedger gives a report a ledger by hand, made of what its ranks did: every part is there.
func withLedger(rep *report.Report) *report.Report {
	l := &verdict.Ledger{Rows: []verdict.LedgerRow{
		{What: "useful", Label: "useful computation"}, {What: "excess", Label: "waiting for ranks that compute longer", Kind: verdict.Excess},
		{What: "imbalance", Label: "waiting because work is unequal", Kind: verdict.Imbalance}, {What: "serialization", Label: "waiting in turn", Kind: verdict.Serialization},
		{What: "late-receiver", Label: "senders wait for receivers", Kind: verdict.LateReceiver}, {What: "preempted", Label: "preempted", Kind: verdict.CPUs},
		{What: "throttled", Label: "stopped by CPU limits", Kind: verdict.CPUs}, {What: "blocked", Label: "blocked in the kernel", Kind: verdict.Excess},
		{What: "messages", Label: "messages", Kind: verdict.Messages}, {What: "collectives", Label: "collective operations", Kind: verdict.Collectives},
		{What: "io", Label: "files", Kind: verdict.IO}, {What: "local", Label: "local MPI calls", Kind: verdict.Local}, {What: "start-end", Label: "start and end of MPI", Kind: verdict.StartEnd},
		{What: "tracer", Label: "the tracer", Kind: verdict.Tracer}, {What: "unexplained", Label: "not explained"},
	}}
	all := report.Of[ranks.Findings](rep).Ranks
	run := int64(rep.RunSeconds() * 1e9)
	l.TotalNS = run * int64(len(all))
	for _, r := range all {
		one := verdict.LedgerRank{Rank: r.Rank, NS: make([]int64, len(l.Rows))}
		left, parts := run, int64(0)
		for i := range l.Rows {
			parts += int64(i + 1)
		}
		one.NS[0] = min(left, int64(r.Computation*1e9))
		left -= one.NS[0]
		rest := left
		for i := 1; i < len(l.Rows); i++ {
			one.NS[i] = rest * int64(len(l.Rows)-i) / parts
			left -= one.NS[i]
		}
		one.NS[1] += left
		for i, ns := range one.NS {
			l.Rows[i].NS += ns
		}
		if len(l.ByRank) < 64 {
			l.ByRank = append(l.ByRank, one)
		}
	}
	section.Find[ledger.Findings](&rep.Run).Ledger = l
	return rep
}

// TestLedgerAddsUp: the percentages that are shown are 100.0 together, and so is the bar; a report
// without a ledger has no such section.
func TestLedgerAddsUp(t *testing.T) {
	rep := assemble(t, stencil(8, 50, 5, 2.1))
	without, err := rep.HTML()
	require.NoError(t, err)
	if report.Of[ledger.Findings](rep).Ledger == nil {
		assert.NotContains(t, string(without), `<section id="ledger"`)
	}
	files, err := withLedger(rep).Files()
	require.NoError(t, err)
	keep(t, "ledger", files)
	page := files["index.html"]
	_, part, _ := strings.Cut(string(page), `<section id="ledger"`)
	part, bars, _ := strings.Cut(part, `class="ledger-ranks"`)
	sum := func(pattern string) float64 {
		sum := 0.0
		for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(part, -1) {
			x, err := strconv.ParseFloat(found[1], 64)
			require.NoError(t, err)
			sum += x
		}
		return sum
	}
	assert.InDelta(t, 100, sum(`<span class="amount"><b>([0-9.]+)%</b>`), 1e-9)
	assert.InDelta(t, 100, sum(`class="part [a-z-]+" style="width:([0-9.]+)%"`), 0.01)
	assert.Contains(t, part, fmt.Sprintf("%.4f rank-seconds", 8*rep.RunSeconds()))
	assert.Less(t, strings.Index(bars, ">rank 5<"), strings.Index(bars, ">rank 0<"), "who is named comes first")
}

// TestLedgerOfNothing: what takes no time is not shown, and negative rests do no harm.
func TestLedgerOfNothing(t *testing.T) {
	rep := assemble(t, stencil(2, 20, -1, 1))
	section.Find[ledger.Findings](&rep.Run).Ledger = &verdict.Ledger{TotalNS: 10e9, Rows: []verdict.LedgerRow{
		{What: "useful", Label: "useful computation", NS: 11e9}, {What: "io", Label: "files"}, {What: "unexplained", Label: "not explained", NS: -1e9},
	}, ByRank: []verdict.LedgerRank{{Rank: 0, NS: []int64{0, 0, 0}}, {Rank: 1, NS: []int64{1}}}}
	page, err := rep.HTML()
	require.NoError(t, err)
	_, part, _ := strings.Cut(string(page), `<section id="ledger"`)
	part, _, _ = strings.Cut(part, "</part>")
	assert.NotContains(t, part, "files")
	assert.Contains(t, part, `class="part useful" style="width:100.000%"`)
}
