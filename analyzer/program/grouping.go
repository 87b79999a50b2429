package program

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/trace"
)

// An atom is a value in words, with its number or the numbers that it takes.
type atom struct {
	text     string
	isNumber bool
	number   int64
	varies   *spread // from call to call
	sums     bool    // the text is only a summary
}

// A row is the values of a parameter on one thread, call after call; rank −1: of no particular
// rank.
type row struct {
	rank  int
	by    caller
	atoms []atom
}

// A group is a value, or a function of the rank, with its ranks.
type group struct {
	atom
	ranks    []int
	function *Function // gives the numbers of these ranks; nil: unknown, or they are not numbers
}

// A grouping groups ranks by value.
type grouping struct {
	groups []group
	total  int // ranks
}

// maxGroups is the maximum number of values of a parameter, and of trip counts in the text, that
// are distinguished by rank.
const maxGroups = 8

// values returns the groups, that of most ranks first.
func (g *grouping) values() []Value {
	list := []Value{}
	slices.SortStableFunc(g.groups, func(a, b group) int { return cmp.Compare(len(b.ranks), len(a.ranks)) })
	for i, one := range g.groups {
		if i == maxGroups && len(g.groups) > maxGroups+1 {
			var rest []int
			for _, other := range g.groups[i:] {
				rest = append(rest, other.ranks...)
			}
			return append(list, Value{Text: fmt.Sprintf("%d other values", len(g.groups)-i), Ranks: ranksText(rest), Summary: true})
		}
		v := Value{Text: one.text, Summary: one.sums}
		if len(one.ranks) < g.total {
			v.Ranks = ranksText(one.ranks)
		}
		list = append(list, v)
	}
	return list
}

// groupRows describes a parameter on all ranks: one function of the rank, or a few with their
// ranks, or the range of values. With several calls it looks at each call separately. world is the
// number of ranks of the world.
func groupRows(rows []row, world int, coordinates ...Coordinate) *grouping {
	// as the trace has it: that is often a function of the rank already
	g := &grouping{groups: sameTexts(rows), total: len(rows)}
	if len(g.groups) <= 1 {
		return g
	}
	if length := len(rows[0].atoms); !slices.ContainsFunc(rows, func(r row) bool { return len(r.atoms) != length || r.rank < 0 }) {
		columns := make([][]group, length)
		for i := range columns {
			columns[i] = column(rows, i, world, coordinates)
		}
		if together := tuples(rows, columns); len(together) <= len(g.groups) {
			g.groups = together
		}
		if length == 1 {
			return g
		}
	} else if text, found := someOf(rows); found {
		g.groups = []group{{atom: atom{text: text, sums: true}, ranks: ranksOf(rows)}}
		return g
	}
	if of, numbers := numbersOf(rows); numbers && len(g.groups) > maxCases {
		g.groups = []group{{atom: atom{text: differsByRank + of.text(), sums: true}, ranks: ranksOf(rows)}}
	}
	return g
}

// sameTexts groups rows with equal texts.
func sameTexts(rows []row) []group {
	var groups []group
	at := map[string]int{}
	words := map[*atom]atom{} // threads of one class share their atoms if these are equal
	for _, r := range rows {
		if len(r.atoms) == 0 {
			continue
		}
		one, known := words[&r.atoms[0]]
		if !known {
			one = inTurn(r.atoms)
			words[&r.atoms[0]] = one
		}
		if one.text == "" {
			continue
		}
		i, known := at[one.text]
		if !known {
			i = len(groups)
			at[one.text] = i
			groups = append(groups, group{atom: one})
		}
		groups[i].ranks = append(groups[i].ranks, r.rank)
	}
	return groups
}

// column returns the values of the i-th call on all ranks. What varies from call to call is one
// group for all ranks.
func column(rows []row, i, world int, coordinates []Coordinate) []group {
	var numbers []sample
	var by []caller // of the numbers
	var groups []group
	varies := group{atom: atom{varies: &spread{}}}
	at := map[string]int{}
	for _, r := range rows {
		switch a := &r.atoms[i]; {
		case a.text == "":
		case a.varies != nil:
			varies.varies.include(a)
			varies.ranks = append(varies.ranks, r.rank)
		case a.isNumber:
			numbers = append(numbers, sample{r.rank, r.rank, a.number})
			by = append(by, r.by)
		default:
			k, known := at[a.text]
			if !known {
				k = len(groups)
				at[a.text] = k
				groups = append(groups, group{atom: *a})
			}
			groups[k].ranks = append(groups[k].ranks, r.rank)
		}
	}
	switch {
	case len(varies.ranks) > 0:
		for _, s := range numbers {
			varies.varies.add(s.number)
			varies.ranks = append(varies.ranks, s.world)
		}
		varies.text, varies.sums = varying+varies.varies.text(), true
		groups = append(groups, varies)
	case len(numbers) > 0:
		groups = append(groups, functionsOf(numbers, by, world, coordinates)...)
	}
	return groups
}

// worldRank is the name of the rank in MPI_COMM_WORLD where "rank" means another one.
const worldRank = "world rank"

// functionsOf describes numbers as functions of the rank in the communicators of the calls, else of
// the rank in the world, which samples have.
func functionsOf(samples []sample, by []caller, world int, coordinates []Coordinate) []group {
	if slices.ContainsFunc(by, func(c caller) bool { return !c.known }) {
		return cover(samples, world, worldRank, coordinates...)
	}
	own, size, moved := slices.Clone(samples), by[0].size, false
	for i, c := range by {
		own[i].rank = c.rank
		moved = moved || c.rank != samples[i].rank || c.size != world
		if c.size != size {
			size = 0 // one function cannot depend on it
		}
	}
	if _, found := rankFunction(sorted(own), size, "rank"); !found && moved {
		if f, found := rankFunction(sorted(samples), world, worldRank); found {
			return []group{functionGroup(f, samples)}
		}
	}
	return cover(own, size, "rank", coordinates...)
}

// tuples groups rows that are in the same groups in all columns.
func tuples(rows []row, columns [][]group) []group {
	of := make([]map[int]int, len(columns)) // by rank: 1 + index of its group
	for i, groups := range columns {
		of[i] = map[int]int{}
		for k, g := range groups {
			for _, rank := range g.ranks {
				of[i][rank] = k + 1
			}
		}
	}
	var all []group
	at := map[string]int{}
	for _, r := range rows {
		key := ""
		turn := make([]atom, 0, len(columns))
		for i := range columns {
			k := of[i][r.rank]
			key += fmt.Sprint(k, " ")
			if k > 0 {
				turn = append(turn, columns[i][k-1].atom)
			}
		}
		if len(turn) < len(columns) {
			continue
		}
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all = append(all, group{atom: inTurn(turn)})
		}
		all[i].ranks = append(all[i].ranks, r.rank)
	}
	return all
}

// numbersOf returns the spread of the numbers of all rows; false: not all are numbers.
func numbersOf(rows []row) (*spread, bool) {
	of := &spread{}
	for _, r := range rows {
		for i := range r.atoms {
			if !of.include(&r.atoms[i]) {
				return nil, false
			}
		}
	}
	return of, true
}

func ranksOf(rows []row) []int {
	ranks := make([]int, len(rows))
	for i, r := range rows {
		ranks[i] = r.rank
	}
	return ranks
}

// inTurn describes an argument in successive calls.
func inTurn(atoms []atom) atom {
	texts := make([]string, len(atoms))
	all, numbers, varies, sums := spread{}, true, false, false
	for i := range atoms {
		texts[i] = atoms[i].text
		numbers = numbers && all.include(&atoms[i])
		varies = varies || atoms[i].varies != nil
		sums = sums || atoms[i].sums
	}
	texts = shortest(texts)
	if len(texts) == 1 {
		return atom{text: texts[0], sums: sums}
	}
	if varies && numbers {
		return atom{text: varying + all.text(), sums: true}
	}
	const few = 8 // maximum number of runs to list
	words, runs := runsOf(texts)
	switch {
	case runs <= few:
	case numbers && isProgression(atoms[:len(texts)]):
		words = []string{texts[0], texts[1], "…", texts[len(texts)-1]}
	case numbers:
		return atom{text: varying + all.text(), sums: true}
	default:
		words, sums = append(words[:few-1:few-1], "…", words[len(words)-1]), true
	}
	return atom{text: strings.Join(words, ", ") + " in turn", sums: sums}
}

// runsOf lists texts with the number of repetitions: "6 (3 times)".
func runsOf(texts []string) (words []string, runs int) {
	for i := 0; i < len(texts); {
		n := 1
		for i+n < len(texts) && texts[i+n] == texts[i] {
			n++
		}
		word := texts[i]
		if n > 1 {
			word = fmt.Sprintf("%s (%d times)", word, n)
		}
		words = append(words, word)
		i += n
	}
	words = handleRuns(words)
	return words, len(words)
}

// handleRuns joins handles with evenly spaced numbers: "request#0-23", "request#18-22 step 2".
func handleRuns(words []string) []string {
	var joined []string
	for i := 0; i < len(words); {
		kind, first, isHandle := handleOf(words[i])
		n, step := 1, int64(0)
		for isHandle && i+n < len(words) {
			other, number, same := handleOf(words[i+n])
			if n == 1 {
				step = number - first
			}
			if !same || other != kind || step < 1 || number != first+int64(n)*step {
				break
			}
			n++
		}
		switch {
		case n < 3:
			joined, n = append(joined, words[i]), 1
		case step == 1:
			joined = append(joined, fmt.Sprintf("%s#%d-%d", kind, first, first+int64(n)-1))
		default:
			joined = append(joined, fmt.Sprintf("%s#%d-%d step %d", kind, first, first+int64(n-1)*step, step))
		}
		i += n
	}
	return joined
}

// handleOf parses a handle: "request#3".
func handleOf(word string) (kind string, number int64, found bool) {
	kind, digits, found := strings.Cut(word, "#")
	if !found || !trace.IsHandle(kind) {
		return "", 0, false
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	return kind, number, err == nil
}

func isProgression(atoms []atom) bool {
	for i := 2; i < len(atoms); i++ {
		if atoms[i].number-atoms[i-1].number != atoms[1].number-atoms[0].number {
			return false
		}
	}
	return true
}
