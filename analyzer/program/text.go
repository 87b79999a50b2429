package program

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/trace"
)

// Write writes the program as text.
func (f *Findings) Write(out io.Writer) error {
	p := printer{Writer: bufio.NewWriter(out)}
	for i, t := range f.Threads {
		if i > 0 {
			fmt.Fprintln(p)
		}
		if t.Thread == 0 {
			fmt.Fprintf(p, "program of ranks %s\n", t.Ranks)
		} else {
			fmt.Fprintf(p, "thread %d of ranks %s\n", t.Thread, t.Ranks)
		}
		p.nodes(t.Body, 1)
	}
	for _, part := range f.Parts {
		fmt.Fprintf(p, "\npart %d\n", part.Part)
		p.nodes(part.Body, 1)
	}
	for _, note := range f.Notes {
		fmt.Fprintf(p, "\nNote: %s\n", note)
	}
	return p.Flush()
}

// Text is the program as text.
func (f *Findings) Text() string {
	var b strings.Builder
	_ = f.Write(&b) // a Builder takes everything
	return b.String()
}

type printer struct{ *bufio.Writer }

func (p printer) nodes(list []Node, depth int) {
	indent := strings.Repeat("    ", depth)
	for i := range list {
		n := &list[i]
		who := ""
		if n.Ranks != "" {
			who = "  [" + rankWord(n.Ranks) + "]"
		}
		times := tripsWords(n.Trips)
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

// call writes a call on one line; parameters that differ by rank follow on lines of their own.
func (p printer) call(n *Node, indent, times, who string) {
	var given, results, apart []string
	for _, x := range n.Parameters {
		word := x.Name + "="
		if len(x.Values) == 1 && x.Values[0].Ranks == "" {
			word += x.Values[0].Text
		} else {
			word += "*"
			var words []string
			for _, v := range x.Values {
				words = append(words, v.Text+prefixed(" on ", rankWord(v.Ranks)))
			}
			apart = append(apart, x.Name+" = "+strings.Join(words, "; "))
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
	fmt.Fprintf(p, "%s%s%s\n", line, prefixed("  @ ", n.CallSite), who)
	for _, text := range apart {
		fmt.Fprintf(p, "%s        %s\n", indent, text)
	}
}

// tripsWords are trip counts with the ranks whose they are, the first of them.
func tripsWords(list []Trips) string {
	var words []string
	for i, t := range list {
		if i == maxGroups && len(list) > maxGroups+1 {
			words = append(words, fmt.Sprintf("%d other counts", len(list)-i))
			break
		}
		words = append(words, t.Text+prefixed(" on ", rankWord(t.Ranks)))
	}
	return strings.Join(words, "; ")
}

// tripsText words a cycle of trip counts: "100 times", "once in iterations 0-98 step 2".
func tripsText(trips []uint64) string {
	times := func(n uint64) string {
		if n == 1 {
			return "once"
		}
		return fmt.Sprintf("%d times", n)
	}
	if len(trips) == 1 {
		return times(trips[0])
	}
	if list := nonzero(trips); len(list) < len(trips) || len(slices.Compact(slices.Sorted(slices.Values(trips)))) == 2 {
		return casesText(trips, times)
	}
	const few = 6
	if step := int64(trips[1]) - int64(trips[0]); len(trips) > few && progression(trips, step) {
		return fmt.Sprintf("%d, %d, …, %d times", trips[0], trips[1], trips[len(trips)-1])
	}
	words := make([]string, 0, few+1)
	for i, n := range trips {
		if i == few && len(trips) > few+1 {
			words = append(words, "…")
			break
		}
		words = append(words, fmt.Sprint(n))
	}
	return fmt.Sprintf("%s times (%d to %d)", strings.Join(words, ", "), slices.Min(trips), slices.Max(trips))
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

// casesText says for each trip count in which iterations of a cycle it holds.
func casesText(trips []uint64, times func(uint64) string) string {
	const few = 4
	var words []string
	values := slices.Compact(slices.Sorted(slices.Values(nonzero(trips))))
	for i, n := range values {
		if i == few && len(values) > few+1 {
			words = append(words, "…")
			break
		}
		var at []int
		for k, x := range trips {
			if x == n {
				at = append(at, k)
			}
		}
		words = append(words, times(n)+" in "+iterationWord(trace.NewRankList(at)))
	}
	return fmt.Sprintf("%s of each %d", strings.Join(words, ", "), len(trips))
}

func iterationWord(list trace.RankList) string {
	text := shortened(listText(list))
	if list.Len() == 1 {
		return "iteration " + text
	}
	return "iterations " + text
}

// rankWord is "rank 3" or "ranks 0-62 step 2"; "" for none.
func rankWord(ranks string) string {
	switch {
	case ranks == "":
		return ""
	case strings.ContainsAny(ranks, "-,"):
		return "ranks " + shortened(ranks)
	}
	return "rank " + ranks
}

// shortened keeps lists of runs readable.
func shortened(list string) string {
	const most = 12
	runs := strings.Split(list, ", ")
	if len(runs) <= most {
		return list
	}
	return fmt.Sprintf("%s, … (%d more)", strings.Join(runs[:most-1], ", "), len(runs)-most+1)
}

// listText writes runs as "0-62 step 2, 63".
func listText(list trace.RankList) string {
	return strings.NewReplacer(",", ", ", ":", " step ").Replace(list.String())
}
