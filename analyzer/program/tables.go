package program

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cairn-mpi/cairn/trace"
)

// Limits of a line: longer text goes to a table at the end.
const (
	maxWords   = 160 // of an argument, in bytes
	tableWidth = 100 // columns of a line of a table
	tableLines = 200 // of a table; the JSON has all of it
)

// A textTable is text that is too long for a line.
type textTable struct {
	title string
	lines []string
	uses  int
}

// tables are the tables of a text; equal ones are shared.
type tables struct {
	list []*textTable
	at   map[string]int
}

// refer returns the reference to a table: " [table 3]".
func (t *tables) refer(title string, lines []string) string {
	key := strings.Join(lines, "\n")
	i, known := t.at[key]
	if !known {
		if t.at == nil {
			t.at = map[string]int{}
		}
		i = len(t.list)
		t.at[key] = i
		t.list = append(t.list, &textTable{title: title, lines: lines})
	}
	t.list[i].uses++
	return fmt.Sprintf(" [table %d]", i+1)
}

// write writes all tables.
func (t *tables) write(p printer) {
	for i, one := range t.list {
		title := one.title
		if one.uses > 1 {
			title += fmt.Sprintf(", and %d more like it", one.uses-1)
		}
		fmt.Fprintf(p, "\ntable %d: %s\n", i+1, title)
		written := 0
		for _, line := range one.lines {
			for _, part := range wrapped(line, tableWidth) {
				if written++; written <= tableLines {
					fmt.Fprintf(p, "    %s\n", part)
				}
			}
		}
		if written > tableLines {
			fmt.Fprintf(p, "    … %d more lines; --json has all of it\n", written-tableLines)
		}
	}
}

// wrapped breaks a line after commas.
func wrapped(line string, width int) []string {
	var lines []string
	for utf8.RuneCountInString(line) > width {
		at := strings.LastIndex(line[:min(len(line), width)], ", ")
		if at < width/4 {
			if at = strings.Index(line, ", "); at < 0 {
				break
			}
		}
		lines, line = append(lines, line[:at+1]), "    "+line[at+2:]
	}
	return append(lines, line)
}

// exactLines returns the lines of a table for an argument.
func (f *Findings) exactLines(list []Exact, thread int) []string {
	var lines []string
	for _, e := range list {
		indent := ""
		if e.Ranks != "" {
			lines, indent = append(lines, allRanks(e.Ranks)+":"), "    "
		}
		if single(e.Cycle) {
			lines = append(lines, indent+turnWords(e.Cycle))
			for _, turn := range e.Cycle {
				lines = append(lines, f.streamLines(turn.Terms, thread, indent)...)
			}
			continue
		}
		time := 1
		for _, turn := range e.Cycle {
			under := indent
			if len(e.Cycle) > 1 {
				lines, under = append(lines, fmt.Sprintf("%stime %s:", indent, span(time, turn.Times))), indent+"    "
			}
			time += turn.Times
			for _, term := range turn.Terms {
				lines = append(lines, under+rankedWords(&term, turn.Times))
			}
			lines = append(lines, f.streamLines(turn.Terms, thread, under)...)
		}
	}
	return lines
}

func span(first, count int) string {
	if count == 1 {
		return strconv.Itoa(first)
	}
	return fmt.Sprintf("%d-%d", first, first+count-1)
}

// streamLines returns the content of streams, by rank.
func (f *Findings) streamLines(terms []Term, thread int, indent string) []string {
	var lines []string
	for _, t := range terms {
		if t.Stream == nil {
			continue
		}
		for i := range f.Streams {
			if s := &f.Streams[i]; s.Stream == *t.Stream && s.Thread == thread {
				lines = append(lines, fmt.Sprintf("%sstream %d on %s: %s", indent, s.Stream, allRanks(s.Ranks), turnWords(s.Turns)))
			}
		}
	}
	return lines
}

// single reports whether turns are the same for all ranks.
func single(turns []Turn) bool {
	return !slices.ContainsFunc(turns, func(t Turn) bool { return len(t.Terms) != 1 || t.Terms[0].ByRank != nil || t.Terms[0].Ranks != "" })
}

// turnWords describes turns that are the same for all ranks.
func turnWords(turns []Turn) string {
	words := make([]string, len(turns))
	for i, t := range turns {
		words[i] = termWords(&t.Terms[0], t.Times)
		if t.Times > 1 && t.Terms[0].Step == 0 && len(turns) > 1 {
			words[i] += fmt.Sprintf(" (%d times)", t.Times)
		}
	}
	if len(words) == 1 && turns[0].Terms[0].Step == 0 {
		return words[0]
	}
	return strings.Join(handleRuns(words), ", ")
}

// rankedWords describes a term with its ranks.
func rankedWords(t *Term, times int) string {
	if t.ByRank != nil {
		return tableWords(t.ByRank)
	}
	return termWords(t, times) + prefixed(" on ", allRanks(t.Ranks))
}

// termWords describes a term that occurs the given number of times in a row.
func termWords(t *Term, times int) string {
	switch {
	case t.Number != nil && t.Step != 0:
		return progressionWords(Progression{*t.Number, t.Step, times})
	case t.Number != nil:
		return strconv.FormatInt(*t.Number, 10)
	case t.Text != nil:
		return *t.Text
	case t.Float != nil:
		return strconv.FormatFloat(*t.Float, 'g', -1, 64)
	case t.Null:
		return "NULL"
	case t.List != nil:
		words := make([]string, len(t.List))
		for i := range t.List {
			words[i] = termWords(&t.List[i], 1)
		}
		return "[" + strings.Join(handleRuns(words), ", ") + "]"
	case t.Function != nil:
		return t.Function.String()
	case t.ByRank != nil:
		return tableWords(t.ByRank)
	case t.Stream != nil:
		return fmt.Sprintf("the next of stream %d", *t.Stream)
	}
	return "-"
}

func progressionWords(p Progression) string {
	switch {
	case p.Count == 1:
		return strconv.FormatInt(p.First, 10)
	case p.Step == 0:
		return fmt.Sprintf("%d (%d times)", p.First, p.Count)
	case p.Count == 2:
		return fmt.Sprintf("%d, %d", p.First, p.First+p.Step)
	}
	last := p.First + p.Step*int64(p.Count-1)
	if p.Step == 1 {
		return fmt.Sprintf("%d to %d", p.First, last)
	}
	return fmt.Sprintf("%d to %d step %d", p.First, last, p.Step)
}

// tableWords lists the ranks of each value, or, where most ranks have different ones, the values in
// order.
func tableWords(t *Table) string {
	list, err := trace.ParseRankList(strings.NewReplacer(", ", ",", " step ", ":").Replace(t.Ranks))
	if err != nil {
		return "?" // Ranks is written by this package
	}
	ranks, i := list.Ranks(), 0
	var values []int64
	of := map[int64][]int{}
	for _, p := range t.Values {
		for k := range p.Count {
			x := p.First + int64(k)*p.Step
			if of[x] == nil {
				values = append(values, x)
			}
			of[x] = append(of[x], ranks[i])
			i++
		}
	}
	if 2*len(values) > len(ranks) {
		words := make([]string, len(t.Values))
		for i, p := range t.Values {
			words[i] = progressionWords(p)
		}
		return allRanks(t.Ranks) + ": " + strings.Join(words, ", ")
	}
	words := make([]string, len(values))
	for i, x := range values {
		words[i] = fmt.Sprintf("%d (%s)", x, allRanks(ranksText(of[x])))
	}
	return strings.Join(words, ", ")
}

// tripLines returns the lines of a table of trip counts.
func tripLines(list []Trips) []string {
	lines := make([]string, len(list))
	for i, t := range list {
		switch {
		case t.Count != nil:
			lines[i] = termWords(t.Count, 1)
		case len(t.Cycle) == 1:
			lines[i] = t.Text
		default:
			cycle := make([]int64, len(t.Cycle))
			for k, n := range t.Cycle {
				cycle[k] = int64(n)
			}
			words := []string{}
			for _, p := range progressions(cycle) {
				words = append(words, progressionWords(p))
			}
			lines[i] = strings.Join(words, ", ")
		}
		lines[i] += prefixed(" on ", allRanks(t.Ranks))
	}
	return lines
}

// allRanks is rankWord without abbreviation: "rank 3" or "ranks 0-62 step 2".
func allRanks(list string) string {
	switch {
	case list == "":
		return ""
	case strings.ContainsAny(list, "-,"):
		return "ranks " + list
	}
	return "rank " + list
}
