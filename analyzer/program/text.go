package program

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/trace"
)

// Write writes the program as text.
func (f *Findings) Write(out io.Writer) error {
	p := printer{Writer: bufio.NewWriter(out), found: f, tables: &tables{}}
	for i, t := range f.Threads {
		if i > 0 {
			fmt.Fprintln(p)
		}
		if t.Thread == 0 {
			fmt.Fprintf(p, "program of ranks %s\n", t.Ranks)
		} else {
			fmt.Fprintf(p, "thread %d of ranks %s\n", t.Thread, t.Ranks)
		}
		p.programs(t.Programs)
		p.thread = t.Thread
		p.nodes(t.Body, 1)
	}
	for _, part := range f.Parts {
		fmt.Fprintf(p, "\npart %d%s\n", part.Part, p.ofThread(part.Thread))
		p.thread = part.Thread
		p.nodes(part.Body, 1)
	}
	p.tables.write(p)
	for _, note := range f.Notes {
		fmt.Fprintf(p, "\nNote: %s\n", note)
	}
	return p.Flush()
}

// Text returns the program as text.
func (f *Findings) Text() string {
	var b strings.Builder
	_ = f.Write(&b) // writing to a Builder never fails
	return b.String()
}

type printer struct {
	*bufio.Writer
	found  *Findings
	tables *tables
	thread int // number of the thread that is printed
}

// programs prints which ranks are which program, and how the others differ from the first; nothing
// for a single one.
func (p printer) programs(list []Program) {
	for i, one := range list {
		if len(list) == 1 {
			return
		}
		words := []string{fmt.Sprintf("  program %d: %s", i+1, p.ranks(one.Ranks))}
		for _, calls := range []struct {
			word string
			list []CallAt
		}{{"without", one.Without}, {"with", one.With}} {
			names := make([]string, len(calls.list))
			for k, c := range calls.list {
				names[k] = callsite.At(c.Function, c.CallSite)
			}
			if len(names) > 0 {
				words = append(words, calls.word+" "+p.listed(fmt.Sprintf("calls that program %d is %s", i+1, calls.word), names))
			}
		}
		fmt.Fprintln(p, strings.Join(words, ", "))
	}
}

// listed joins names; if that is too long it goes to a table.
func (p printer) listed(title string, names []string) string {
	const few = 4
	if len(names) <= few || !p.found.Exact {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, … (%d more)%s", strings.Join(names[:few-1], ", "), len(names)-few+1, p.tables.refer(title, names))
}

// ofThread names the threads of a part, if there are several.
func (p printer) ofThread(number int) string {
	if len(p.found.Threads) < 2 {
		return ""
	}
	return fmt.Sprintf(" of thread %d", number)
}

// ranks is rankWord; if that is too long it goes to a table.
func (p printer) ranks(list string) string {
	text := rankWord(list)
	if p.found.Exact && text != allRanks(list) {
		text += p.tables.refer("ranks", []string{list})
	}
	return text
}

func (p printer) nodes(list []Node, depth int) {
	indent := strings.Repeat("    ", depth)
	for i := range list {
		n := &list[i]
		who := ""
		if n.Ranks != "" {
			who = "  [" + p.ranks(n.Ranks) + "]"
		}
		times := p.trips(n)
		switch {
		case n.Omitted > 0:
			fmt.Fprintf(p, "%s… %d more%s\n", indent, n.Omitted, who)
		case n.Part > 0:
			fmt.Fprintf(p, "%spart %d%s%s\n", indent, n.Part, prefixed(" ", times), who)
		case n.Function != "":
			p.call(n, indent, times, who)
		default:
			fmt.Fprintf(p, "%sloop %s%s\n", indent, times, who)
			p.nodes(n.Body, depth+1)
		}
	}
}

func prefixed(by, text string) string {
	if text == "" {
		return ""
	}
	return by + text
}

// call writes a call on one line; parameters that differ by rank follow on separate lines.
func (p printer) call(n *Node, indent, times, who string) {
	var given, results, apart []string
	for i := range n.Parameters {
		x := &n.Parameters[i]
		word := x.Name + "="
		if len(x.Values) == 1 && x.Values[0].Ranks == "" {
			word += p.values(n, x)
		} else {
			word += "*"
			apart = append(apart, x.Name+" = "+p.values(n, x))
		}
		if x.Result {
			results = append(results, word)
		} else {
			given = append(given, word)
		}
	}
	line := fmt.Sprintf("%s%s(%s)%s", indent, n.Function, strings.Join(given, ", "), prefixed(" → ", strings.Join(results, ", ")))
	if times != "" {
		line += "  × " + times
	}
	fmt.Fprintf(p, "%s%s%s\n", line, prefixed("  @ ", callsite.Short(n.CallSite)), who)
	for _, text := range apart {
		fmt.Fprintf(p, "%s        %s\n", indent, text)
	}
}

// values describes a parameter. Summarized or long values go to a table.
func (p printer) values(n *Node, x *Parameter) string {
	var words []string
	sums, long := false, 0
	for _, v := range x.Values {
		word := v.Text + prefixed(" on ", rankWord(v.Ranks))
		words = append(words, word)
		sums, long = sums || v.Summary || allRanks(v.Ranks) != rankWord(v.Ranks), long+len(word)
	}
	text := strings.Join(words, "; ")
	if len(x.Exact) == 0 || !sums && long <= maxWords {
		return text
	}
	title := fmt.Sprintf("%s of %s", x.Name, callsite.At(n.Function, n.CallSite))
	return cut(text, "; ") + p.tables.refer(title, p.found.exactLines(x.Exact, p.thread))
}

// cut returns the beginning of a text that is too long for a line.
func cut(text, separator string) string {
	if len(text) <= maxWords {
		return text
	}
	for _, by := range []string{separator, ", "} {
		if at := strings.LastIndex(text[:maxWords], by); at > 0 {
			return text[:at] + by + "…"
		}
	}
	return "…"
}

// trips describes how often a node is executed, by the first of its counts with their ranks.
func (p printer) trips(n *Node) string {
	var words []string
	elided := false
	for i, t := range n.Trips {
		if i == maxGroups && len(n.Trips) > maxGroups+1 {
			words = append(words, fmt.Sprintf("%d other counts", len(n.Trips)-i))
			elided = true
			break
		}
		words = append(words, t.Text+prefixed(" on ", rankWord(t.Ranks)))
		elided = elided || t.Summary || allRanks(t.Ranks) != rankWord(t.Ranks)
	}
	text := strings.Join(words, "; ")
	if !elided || !p.found.Exact {
		return text
	}
	return text + p.tables.refer("how often "+firstCall(n)+" comes", tripLines(n.Trips))
}

// firstCall names a node by its call, or by the first call in it.
func firstCall(n *Node) string {
	for of := n; ; of = &of.Body[0] {
		switch {
		case of.Function != "" && of == n:
			return callsite.At(of.Function, of.CallSite)
		case of.Function != "":
			return "the loop from " + callsite.At(of.Function, of.CallSite)
		case len(of.Body) == 0:
			return fmt.Sprintf("part %d", of.Part)
		}
	}
}

// tripsText describes a cycle of trip counts: "100 times", "once in iterations 0-98 step 2"; sums
// reports that this is only a summary.
func tripsText(trips []uint64) (text string, sums bool) {
	times := func(n uint64) string {
		if n == 1 {
			return "once"
		}
		return fmt.Sprintf("%d times", n)
	}
	if len(trips) == 1 {
		return times(trips[0]), false
	}
	if list := nonzero(trips); len(list) < len(trips) || len(slices.Compact(slices.Sorted(slices.Values(trips)))) == 2 {
		return casesText(trips, times)
	}
	const few = 6
	if step := int64(trips[1]) - int64(trips[0]); len(trips) > few && progression(trips, step) {
		return fmt.Sprintf("%d, %d, …, %d times", trips[0], trips[1], trips[len(trips)-1]), false
	}
	words := make([]string, 0, few+1)
	for i, n := range trips {
		if i == few && len(trips) > few+1 {
			words, sums = append(words, "…"), true
			break
		}
		words = append(words, fmt.Sprint(n))
	}
	return fmt.Sprintf("%s times (%d to %d)", strings.Join(words, ", "), slices.Min(trips), slices.Max(trips)), sums
}

func nonzero(trips []uint64) []uint64 {
	var list []uint64
	for _, n := range trips {
		if n > 0 {
			list = append(list, n)
		}
	}
	return list
}

func progression(trips []uint64, step int64) bool {
	for i := 1; i < len(trips); i++ {
		if int64(trips[i])-int64(trips[i-1]) != step {
			return false
		}
	}
	return true
}

// casesText lists, for each trip count, the iterations of a cycle with it.
func casesText(trips []uint64, times func(uint64) string) (text string, sums bool) {
	const few = 4
	var words []string
	values := slices.Compact(slices.Sorted(slices.Values(nonzero(trips))))
	for i, n := range values {
		if i == few && len(values) > few+1 {
			words, sums = append(words, "…"), true
			break
		}
		var at []int
		for k, x := range trips {
			if x == n {
				at = append(at, k)
			}
		}
		list := trace.NewRankList(at)
		words, sums = append(words, times(n)+" in "+iterationWord(list)), sums || shortened(listText(list)) != listText(list)
	}
	return fmt.Sprintf("%s of each %d", strings.Join(words, ", "), len(trips)), sums
}

func iterationWord(list trace.RankList) string {
	text := shortened(listText(list))
	if list.Len() == 1 {
		return "iteration " + text
	}
	return "iterations " + text
}

// rankWord returns "rank 3" or "ranks 0-62 step 2"; "" for none.
func rankWord(ranks string) string { return allRanks(shortened(ranks)) }

// shortened abbreviates long lists of runs.
func shortened(list string) string {
	const most = 12
	runs := strings.Split(list, ", ")
	if len(runs) <= most {
		return list
	}
	return fmt.Sprintf("%s, … (%d more)", strings.Join(runs[:most-1], ", "), len(runs)-most+1)
}

// listText formats runs as "0-62 step 2, 63".
func listText(list trace.RankList) string {
	return strings.NewReplacer(",", ", ", ":", " step ").Replace(list.String())
}
