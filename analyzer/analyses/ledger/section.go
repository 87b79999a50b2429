package ledger

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

//go:embed ledger.html.tmpl
var files embed.FS

// Sections are the time of all ranks as one bar.
var Sections = []section.Section{{Name: "ledger", Title: "Where the time went", Files: files, View: viewLedger}}

// ledgerView is the ledger as one bar for all ranks, and one for each listed rank.
type ledgerView struct {
	Total  float64 // rank-seconds
	Ranks  int     // of the run
	Rows   []ledgerRow
	Label  string // text alternative of the bar
	ByRank []ledgerBar
	More   int // ranks without a bar of their own
	Table  []ledgerRow
}

// A ledgerRow is a part of the bar.
type ledgerRow struct {
	What, Label string
	Seconds     float64
	Percent     string // of the total; the rows add up to 100.0
	Width       string // of the bar, in percent
	Large       bool   // wide enough for a number
}

// A ledgerBar is the bar of one rank.
type ledgerBar struct {
	Rank    int
	Named   bool
	Seconds []float64 // by row of the table
	Parts   []ledgerRow
	Label   string
}

// largePart is the minimum part of the bar into which its number is written, in tenths of a
// percent.
const largePart = 60

func viewLedger(r *section.Run) any {
	l := section.Of[Findings](r).Ledger
	if l == nil || l.TotalNS <= 0 {
		return nil
	}
	v := ledgerView{Total: float64(l.TotalNS) / 1e9, Ranks: len(section.Of[ranks.Findings](r).Ranks)}
	all := make([]int64, len(l.Rows))
	for i, row := range l.Rows {
		all[i] = row.NS
	}
	used := func(i int) bool {
		return all[i] != 0 || slices.ContainsFunc(l.ByRank, func(one verdict.LedgerRank) bool { return i < len(one.NS) && one.NS[i] != 0 })
	}
	rows := ledgerParts(l, all)
	var words []string
	for i, row := range rows {
		if !used(i) {
			continue
		}
		v.Table = append(v.Table, row)
		if row.Seconds != 0 {
			v.Rows = append(v.Rows, row)
			words = append(words, row.Label+" "+row.Percent)
		}
	}
	v.Label = fmt.Sprintf("Where %s rank-seconds went: %s.", section.Fixed(v.Total), strings.Join(words, ", "))
	named := r.Named
	for _, one := range section.NamedFirst(r, l.ByRank, func(one verdict.LedgerRank) int { return one.Rank }) {
		bar := ledgerBar{Rank: one.Rank, Named: slices.Contains(named, one.Rank)}
		words = words[:0]
		for i, part := range ledgerParts(l, one.NS) {
			if !used(i) {
				continue
			}
			bar.Seconds = append(bar.Seconds, part.Seconds)
			if part.Seconds > 0 {
				bar.Parts = append(bar.Parts, part)
				words = append(words, part.Label+" "+part.Percent)
			}
		}
		bar.Label = fmt.Sprintf("Rank %d: %s", one.Rank, strings.Join(words, ", "))
		v.ByRank = append(v.ByRank, bar)
	}
	v.More = max(0, len(section.Of[ranks.Findings](r).Ranks)-len(v.ByRank))
	return v
}

// ledgerParts returns the rows of a ledger for these nanoseconds.
func ledgerParts(l *verdict.Ledger, ns []int64) []ledgerRow {
	sum := int64(0)
	for _, x := range ns {
		sum += max(0, x)
	}
	rows := make([]ledgerRow, len(l.Rows))
	tenths := apportion(ns, 1000)
	for i, row := range l.Rows {
		rows[i] = ledgerRow{What: row.What, Label: row.Label, Percent: "0.0%", Width: "0"}
		if i < len(ns) && sum > 0 {
			rows[i].Seconds = float64(ns[i]) / 1e9
			rows[i].Percent = fmt.Sprintf("%d.%d%%", tenths[i]/10, tenths[i]%10)
			rows[i].Width = fmt.Sprintf("%.3f", 100*float64(max(0, ns[i]))/float64(sum))
			rows[i].Large = tenths[i] >= largePart
		}
	}
	return rows
}

// apportion divides whole in proportion to parts, so that the sum is exactly whole: the units lost
// by rounding down go to the largest remainders. Negative parts get nothing.
func apportion(parts []int64, whole int64) []int64 {
	sum := 0.0
	for _, p := range parts {
		sum += float64(max(0, p))
	}
	shares := make([]int64, len(parts))
	if sum == 0 {
		return shares
	}
	remainders, left := make([]float64, len(parts)), whole
	order := make([]int, len(parts))
	for i, p := range parts {
		exact := float64(max(0, p)) / sum * float64(whole)
		shares[i] = int64(exact)
		remainders[i] = exact - float64(shares[i])
		left -= shares[i]
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainders[b], remainders[a]) })
	for _, i := range order[:max(0, min(int(left), len(order)))] {
		shares[i]++
	}
	return shares
}
